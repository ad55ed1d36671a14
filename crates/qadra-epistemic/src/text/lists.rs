//! Word lists of the folding rules and of what carries no meaning in a question.

#[rustfmt::skip]
pub(super) const ARTICLES: &[&str] = &[
    "the", "a", "an",
];

#[rustfmt::skip]
pub(super) const LEGAL_FORMS: &[&str] = &[
    "inc", "incorporat", "corp", "corporation", "ltd", "limit", "llc", "plc", "gmbh", "ag", "nv", "company",
    "co",
];

#[rustfmt::skip]
pub(super) const IRREGULAR: &[(&str, &str)] = &[
    ("does", "do"), ("made", "mak"), ("make", "mak"), ("makes", "mak"), ("making", "mak"), ("sold", "sell"),
    ("bought", "buy"), ("buys", "buy"), ("buying", "buy"), ("leads", "lead"), ("led", "lead"), ("ran", "run"),
    ("runs", "run"), ("running", "run"), ("owns", "own"), ("owned", "own"), ("built", "build"),
    ("held", "hold"), ("people", "person"), ("used", "us"), ("uses", "us"), ("using", "us"), ("paid", "pay"),
    ("paying", "pay"), ("news", "news"), ("series", "series"), ("sales", "sale"), ("sale", "sale"),
    ("based", "base"), ("base", "base"), ("bases", "base"), ("name", "name"), ("named", "name"),
    ("names", "name"), ("launched", "launch"), ("type", "type"), ("types", "type"), ("rate", "rate"),
    ("rates", "rate"), ("rated", "rate"), ("date", "date"), ("dates", "date"), ("dated", "date"),
];

#[rustfmt::skip]
pub(super) const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "among", "an", "and", "any", "are", "as", "at", "be", "because",
    "been", "before", "being", "between", "both", "but", "by", "can", "could", "did", "do", "does", "doing",
    "done", "during", "each", "for", "from", "had", "has", "have", "having", "he", "her", "hers", "him", "his",
    "how", "i", "if", "in", "into", "is", "it", "its", "just", "let", "many", "may", "me", "might", "more",
    "most", "much", "must", "my", "no", "not", "of", "off", "on", "only", "or", "other", "our", "out", "over",
    "own", "please", "s", "same", "shall", "she", "should", "so", "some", "such", "than", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "those", "to", "too", "under", "up", "us",
    "versus", "very", "vs", "was", "we", "were", "what", "whats", "when", "where", "which", "while", "who",
    "whom", "whos", "whose", "why", "will", "with", "would", "you", "your", "again", "now", "ever", "isnt",
    "dont", "doesnt", "didnt", "wasnt", "arent", "im", "ive", "id", "hows", "wheres", "whens", "okay", "ok",
];

#[rustfmt::skip]
pub(super) const GENERIC_WORDS: &[&str] = &[
    "tell", "know", "known", "knows", "give", "show", "list", "explain", "describe", "summarize", "summarise",
    "summary", "information", "info", "fact", "facts", "detail", "details", "overview", "say", "says", "said",
    "find", "look", "see", "want", "need", "like", "help", "chart", "plot", "graph", "draw", "visualize",
    "visualise", "diagram", "compare", "comparison", "difference", "differ", "first", "last", "latest",
    "recent", "recently", "current", "currently", "today", "present", "earlier", "earliest", "later", "oldest",
    "older", "old", "newest", "newer", "young", "younger", "youngest", "highest", "higher", "lowest", "lower",
    "largest", "larger", "biggest", "bigger", "smallest", "smaller", "greatest", "least", "fewest", "fewer",
    "less", "top", "company", "companies", "firm", "firms", "business", "organization", "organisation",
    "corporation", "thing", "things", "anything", "something", "everything", "question", "answer", "name",
    "names", "called", "number", "year", "years", "fiscal", "previous", "previously", "former", "formerly",
    "predecessor", "preceding", "happen", "happened", "happens", "common", "share", "shared", "similar",
    "similarity", "alike", "main", "hello", "become", "became", "becomes", "since", "until", "hi", "hey", "thanks", "thank", "bye", "good", "morning", "relate",
    "related", "relation", "relationship", "connection", "connected", "connect", "link", "linked", "exactly",
    "actually", "really", "total", "amount", "figure", "figures", "value", "got", "get", "quick", "quickly",
    "briefly", "short", "shortly", "also", "person", "people", "someone", "bar", "line", "true", "right",
    "correct", "think", "wonder", "wondering", "curious", "remind", "kind", "sort", "type", "big", "large",
    "much", "long", "compared", "together", "brief",
];
