//! The second chance of misspelt names: which phrases are worth a similarity search, and which hits are believed.

use std::collections::{BTreeSet, HashSet};

use uuid::Uuid;

use crate::lexicon::concepts_asked;
use crate::question::{
    MAX_SENSES, Match, Mention, NameHit, NameTarget, Question, covered, key_of, possessive_tail,
};
use crate::text::{Word, identity_key, is_generic, normalize_label, slice, stem};

impl Question {
    /// Keys to look up by trigram similarity among the names' keys, because nothing has them as they are written: at
    /// most 12, the longest phrases first. Empty when there is nothing left to look for. `hits` is what the exact
    /// lookup found.
    ///
    /// The answers go to [`Question::mentions`] together with `hits`, as [`NameTarget::Similar`].
    pub fn fuzzy_keys(&self, hits: &[NameHit]) -> Vec<String> {
        let mentions = self.mentions(hits).mentions;
        let known: HashSet<&str> = hits.iter().map(|hit| hit.key.as_str()).collect();
        let mut seen = HashSet::new();
        self.unknown_runs(&mentions)
            .into_iter()
            .map(|(_, run)| key_of(run))
            .filter(|key| !known.contains(key.as_str()) && seen.insert(key.clone()))
            .take(MAX_FUZZY_KEYS)
            .collect()
    }

    /// Mentions by similar names in the parts of the question that no other mention covers.
    pub(crate) fn similar_mentions(&self, hits: &[NameHit], taken: &[Mention]) -> Vec<Mention> {
        let mut found: Vec<Mention> = Vec::new();
        if !hits
            .iter()
            .any(|hit| matches!(hit.target, NameTarget::Similar { .. }))
        {
            return found;
        }
        for (_, run) in self.unknown_runs(taken) {
            let (Some(first), Some(last)) = (run.first(), run.last()) else {
                continue;
            };
            let end = last.end - possessive_tail(&last.surface);
            if found
                .iter()
                .any(|other| other.start < end && first.start < other.end)
            {
                continue;
            }
            for (id, label) in best_of(run, hits) {
                found.push(Mention {
                    text: slice(self.text(), first.start, end),
                    start: first.start,
                    end,
                    node_id: id,
                    label: label.to_owned(),
                    matched: Match::Fuzzy,
                });
            }
        }
        found
    }

    /// Runs of one to four neighbouring words that may be a name nobody knows in this spelling, longest first.
    fn unknown_runs(&self, mentions: &[Mention]) -> Vec<(usize, &[Word])> {
        let words = self.words();
        let inside = covered(words, mentions);
        let edges: HashSet<usize> = self.edges().collect();
        let places: Vec<usize> = (0..words.len())
            .filter(|at| edges.contains(at) && inside.get(*at) == Some(&false))
            .collect();
        let stems: Vec<String> = places
            .iter()
            .filter_map(|at| words.get(*at))
            .map(|word| stem(&word.plain))
            .collect();
        let asking: HashSet<usize> = concepts_asked(&stems)
            .into_iter()
            .flat_map(|asked| asked.words)
            .filter_map(|at| places.get(at).copied())
            .collect();
        let open: BTreeSet<usize> = places
            .into_iter()
            .filter(|at| {
                words.get(*at).is_some_and(|word| {
                    let written_as_name = word.capital && !word.opens && !word.is_stop();
                    written_as_name || (!asking.contains(at) && self.is_unknown(*at, word))
                })
            })
            .collect();
        let mut runs = Vec::new();
        for length in (1..=MAX_FUZZY_WORDS).rev() {
            for start in open.iter().copied() {
                let whole = (start..start + length).all(|at| open.contains(&at));
                let Some(run) = words.get(start..start + length).filter(|_| whole) else {
                    continue;
                };
                let letters = run.iter().flat_map(|word| word.plain.chars());
                if letters.filter(|letter| letter.is_alphabetic()).count() >= MIN_LETTERS {
                    runs.push((start, run));
                }
            }
        }
        runs
    }

    /// A word in lower case that is no everyday word and does not stand where a verb stands.
    fn is_unknown(&self, at: usize, word: &Word) -> bool {
        let before = at
            .checked_sub(1)
            .and_then(|at| self.words().get(at))
            .map(|word| word.plain.as_str())
            .unwrap_or_default();
        !word.is_stop()
            && !is_generic(&word.plain)
            && word.plain.chars().count() > MIN_LETTERS
            && word.plain.chars().all(char::is_alphabetic)
            && !EVERYDAY.contains(&word.plain.as_str())
            && !EVERYDAY.contains(&word.folded.as_str())
            && !VERB_MARKS.contains(&before)
            && !["ing", "ly"].iter().any(|end| word.plain.ends_with(end))
    }
}

/// The nodes whose names are nearest to a run of words, where they are near enough.
fn best_of<'h>(run: &[Word], hits: &'h [NameHit]) -> Vec<(Uuid, &'h str)> {
    let key = key_of(run);
    let written_as_name = run.iter().any(|word| word.capital);
    let plain = run
        .iter()
        .map(|word| word.plain.as_str())
        .collect::<Vec<_>>()
        .join(" ");
    let mut near: Vec<(usize, f32, Uuid, &str)> = hits
        .iter()
        .filter(|hit| hit.key == key)
        .filter_map(|hit| match &hit.target {
            NameTarget::Similar {
                id,
                label,
                name,
                similarity,
            } if *similarity >= MIN_SIMILARITY => {
                let distance = [
                    near_enough(&key, &normalize_label(name)),
                    near_enough(&plain, &identity_key(name)),
                ]
                .into_iter()
                .flatten()
                .min()?;
                // "metal" is a word of its own, not a slip for Meta.
                let longer = !written_as_name
                    && (plain.starts_with(&identity_key(name))
                        || identity_key(name).starts_with(&plain));
                if longer && distance > 0 {
                    return None;
                }
                Some((distance, *similarity, *id, label.as_str()))
            }
            _ => None,
        })
        .collect();
    near.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2)));
    near.dedup_by_key(|(_, _, id, _)| *id);
    let best = near.first().map(|(distance, ..)| *distance);
    let nearest: Vec<(Uuid, &str)> = near
        .into_iter()
        .filter(|(distance, ..)| Some(*distance) == best)
        .map(|(_, _, id, label)| (id, label))
        .collect();
    // Many equally near names say that none of them was meant.
    if nearest.len() > MAX_SENSES {
        Vec::new()
    } else {
        nearest
    }
}

/// The edit distance, where it is small enough to be a slip: one for names of up to seven characters, two for longer
/// ones. Digits are never a slip, and of two slips none is in the first letter.
fn near_enough(written: &str, name: &str) -> Option<usize> {
    let digits = |text: &str| {
        text.chars()
            .filter(char::is_ascii_digit)
            .collect::<String>()
    };
    if digits(written) != digits(name) {
        return None;
    }
    let length = written.chars().count().max(name.chars().count());
    let allowed = if length <= 7 { 1 } else { 2 };
    let distance = edit_distance(written, name, allowed)?;
    (distance < 2 || written.chars().next() == name.chars().next()).then_some(distance)
}

/// Damerau–Levenshtein distance in its restricted form (a swap of two neighbours is one edit, no letter is edited
/// twice); `None` above `limit`.
pub(crate) fn edit_distance(a: &str, b: &str, limit: usize) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > limit || a.len().max(b.len()) > MAX_COMPARED {
        return None;
    }
    let mut earlier: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (row, x) in a.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, y) in b.iter().enumerate() {
            let at =
                |list: &[usize], place: usize| list.get(place).copied().unwrap_or(usize::MAX / 2);
            let mut least = (at(&above, column) + usize::from(x != y))
                .min(at(&above, column + 1) + 1)
                .min(at(&line, column) + 1);
            let swapped =
                row > 0 && column > 0 && a.get(row - 1) == Some(y) && b.get(column - 1) == Some(x);
            if swapped {
                least = least.min(at(&earlier, column - 1) + 1);
            }
            line.push(least);
        }
        earlier = std::mem::replace(&mut above, line);
    }
    above.last().copied().filter(|distance| *distance <= limit)
}

const MAX_FUZZY_KEYS: usize = 12;
const MAX_FUZZY_WORDS: usize = 4;
const MIN_LETTERS: usize = 4;
const MAX_COMPARED: usize = 120;
/// The default threshold of PostgreSQL's trigram similarity.
const MIN_SIMILARITY: f32 = 0.3;

/// After these a lower-case word is a verb.
const VERB_MARKS: &[&str] = &[
    "to", "i", "you", "we", "they", "he", "she", "it", "can", "could", "will", "would", "shall",
    "should", "may", "might", "must", "not", "please", "cannot", "dont", "doesnt", "didnt", "lets",
];

/// Everyday words that stand one or two letters from somebody's name; capital letters inside a sentence overrule it.
#[rustfmt::skip]
const EVERYDAY: &[&str] = &[
    "able", "about", "above", "accept", "access", "account", "across", "action", "active", "actual", "address", "advice",
    "after", "again", "against", "agree", "ahead", "allow", "almost", "alone", "along", "already", "always", "amount",
    "amazing", "analysis", "animal", "annual", "another", "anyone", "apart", "appeal", "appear", "apple", "apples", "apply", "area", "argue", "arise",
    "around", "arrive", "article", "aside", "asset", "assist", "attack", "attempt", "author", "average", "avoid", "award",
    "aware", "away", "back", "balance", "bank", "based", "basic", "basis", "beach", "bear", "beat", "beauty", "because",
    "before", "begin", "behind", "being", "believe", "below", "benefit", "beside", "best", "better", "between", "beyond",
    "bill", "birth", "black", "blood", "blue", "board", "boat", "body", "bond", "book", "border", "born", "both", "bottom",
    "branch", "brand", "break", "bring", "broad", "brother", "budget", "build", "business", "call", "card", "care", "career",
    "carry", "case", "cash", "catch", "cause", "center", "central", "centre", "certain", "chain", "chair", "chance", "change",
    "charge", "cheap", "check", "chief", "child", "choice", "choose", "church", "city", "civil", "claim", "class", "clean",
    "clear", "close", "cloud", "club", "coach", "coast", "code", "cold", "color", "colour", "come", "common", "company",
    "compare", "concern", "consider", "contain", "contact", "content", "context", "continue", "contract", "control",
    "cook", "copy", "core", "cost", "could", "count", "country", "couple", "course", "court", "cover", "create", "credit",
    "crime", "cross", "culture", "cure", "current", "customer", "dark", "data", "date", "daughter", "dead", "deal", "death", "debt",
    "decade", "decide", "deep", "default", "degree", "delay", "deliver", "demand", "depend", "describe", "design", "desire",
    "detail", "develop", "device", "differ", "difference", "different", "digital", "dinner", "direct", "discount", "discover", "discuss", "disease",
    "document", "dollar", "door", "double", "doubt", "down", "draft", "draw", "dream", "drive", "drop", "during", "duty",
    "each", "early", "earn", "earth", "ease", "east", "easy", "edge", "effect", "effort", "eight", "either", "else", "email",
    "employ", "empty", "enable", "energy", "engine", "enjoy", "enough", "ensure", "enter", "entire", "entity", "entry", "equal", "error",
    "even", "event", "ever", "every", "exact", "example", "except", "exist", "expect", "expert", "explain", "express", "extra",
    "face", "fact", "facts", "fail", "fair", "fall", "family", "famous", "farm", "fast", "father", "favor", "favour", "fear", "feature",
    "feel", "field", "fight", "figure", "file", "fill", "film", "final", "finance", "find", "fine", "finger", "fire", "first", "fish",
    "fixed", "flag", "flat", "flight", "floor", "flow", "focus", "follow", "food", "foot", "force", "foreign", "forget", "form",
    "formal", "forward", "found", "four", "frame", "free", "fresh", "friend", "from", "front", "fruit", "full", "fund", "funny", "further",
    "future", "gain", "game", "garden", "gather", "general", "gift", "girl", "give", "glass", "global", "goal", "gold", "gone",
    "good", "grand", "grant", "graph", "great", "green", "ground", "group", "grow", "growth", "guess", "guide", "hair", "half", "hall", "hand",
    "handle", "hang", "happy", "hard", "head", "health", "hear", "heart", "heat", "heavy", "height", "hello", "help", "here", "high",
    "hill", "history", "hold", "home", "hope", "horse", "hospital", "host", "hotel", "hour", "house", "huge", "human", "idea", "image",
    "impact", "import", "important", "improve", "include", "income", "increase", "index", "indeed", "inside", "instead", "insure", "intel", "intend",
    "interest", "into", "invest", "invite", "issue", "item", "join", "joke", "judge", "just", "keep", "kill", "kind", "king", "kitchen",
    "know", "label", "labor", "labour", "lack", "lady", "land", "language", "large", "last", "late", "later", "laugh", "launch",
    "lawyer", "layer", "lead", "learn", "least", "leave", "left", "legal", "length", "less", "letter", "level", "life", "light", "like",
    "likely", "limit", "line", "link", "list", "listen", "little", "live", "loan", "local", "long", "look", "lose", "loss", "lost",
    "love", "lower", "lunch", "machine", "mail", "main", "maintain", "major", "make", "manage", "many", "march", "margin", "mark",
    "market", "marry", "master", "match", "material", "matter", "maybe", "mean", "measure", "media", "medical", "meet", "meeting", "member", "memory", "mention",
    "merge", "message", "meta", "method", "middle", "might", "mind", "minor", "minute", "miss", "model", "modern", "moment", "money", "month",
    "more", "morning", "most", "mother", "mouth", "move", "movie", "much", "music", "must", "name", "nation", "nature", "near", "need", "network",
    "never", "news", "next", "nice", "night", "nine", "none", "normal", "north", "note", "nothing", "notice", "novel", "number", "object",
    "offer", "office", "often", "once", "only", "onto", "open", "opinion", "option", "oracle", "orange", "order", "organ", "other", "outlook", "output", "outside", "over",
    "owner", "pace", "pack", "page", "pain", "paint", "pair", "paper", "parent", "park", "part", "party", "pass", "past", "path", "pattern", "peace",
    "people", "perhaps", "period", "person", "phone", "phrase", "picture", "piece", "place", "plan", "plane", "planet", "plant", "play", "please",
    "plus", "point", "police", "policy", "poor", "popular", "position", "possible", "power", "present", "press", "pretty", "price", "prime",
    "print", "private", "prize", "problem", "process", "produce", "product", "profit", "program", "project", "promise", "proof", "proper", "protect", "prove", "provide",
    "public", "pull", "purpose", "push", "quality", "quarter", "queen", "query", "question", "quick", "quiet", "quite", "race", "radio", "raise",
    "range", "rate", "rather", "reach", "read", "ready", "real", "really", "reason", "recent", "record", "reduce", "refer", "region", "relate", "relation", "release",
    "rely", "remain", "remember", "remote", "remove", "rent", "reply", "report", "request", "research", "rest", "result", "return", "review", "rich", "ride",
    "right", "ring", "rise", "risk", "river", "road", "rock", "role", "room", "root", "round", "route", "rule", "safe", "sale", "same", "sample", "save",
    "scale", "scene", "school", "science", "score", "screen", "search", "season", "seat", "second", "secret", "section", "sector", "secure", "seek", "seem", "sell", "send",
    "senior", "sense", "separate", "series", "serious", "serve", "service", "session", "seven", "several", "shape", "share", "sharp", "shift", "ship", "shoe", "shop",
    "short", "should", "show", "side", "sign", "signal", "silver", "similar", "simple", "since", "single", "site", "size", "skill", "skin", "sleep", "slow", "small", "smart",
    "smile", "social", "soft", "soil", "some", "soon", "sort", "soul", "sound", "source", "south", "space", "speak", "special", "speech", "speed", "spend", "sport", "spread",
    "spring", "square", "staff", "stage", "stand", "standard", "star", "start", "state", "station", "status", "stay", "steel", "step", "still", "stock", "stone", "stop", "store",
    "story", "strategy", "street", "strong", "student", "study", "stuff", "style", "subject", "success", "such", "sudden", "suffer", "suggest", "suit", "summary", "summer", "supply", "support", "sure",
    "surface", "switch", "system", "table", "take", "talk", "target", "task", "taste", "teach", "team", "tech", "tell", "term", "test", "text", "than", "thank", "that", "theme", "then",
    "theory", "there", "these", "thin", "thing", "think", "third", "this", "those", "though", "three", "through", "throw", "time", "tiny", "title", "today", "together", "tomorrow",
    "tonight", "tool", "topic", "total", "touch", "tough", "tour", "toward", "town", "track", "trade", "train", "travel", "treat", "tree", "trend", "trial", "trip", "trouble",
    "true", "trust", "truth", "turn", "type", "under", "union", "unit", "until", "update", "upon", "upper", "urban", "used", "user", "usual", "value", "various", "vary",
    "very", "victim", "view", "visa", "visit", "visual", "voice", "vote", "wait", "walk", "wall", "want", "warm", "waste", "watch", "water", "wave", "weak", "wealth", "wear",
    "weather", "week", "weight", "well", "west", "what", "wheel", "when", "where", "which", "while", "white", "whole", "wide", "wife", "wild", "will", "wind", "window", "wine", "winner",
    "winter", "wise", "wish", "with", "within", "woman", "wonder", "wood", "word", "work", "worker", "world", "worry", "worse", "worth", "would", "write", "writer", "wrong", "year",
    "yellow", "yesterday", "young", "your", "zero", "zone",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_is_one_edit() {
        for (a, b, distance) in [
            ("microsoft", "mircosoft", Some(1)),
            ("nvidia", "nividia", Some(1)),
            ("apple", "aple", Some(1)),
            ("amazon", "amzaon", Some(1)),
            ("google", "google", Some(0)),
            ("berkshire", "birkshure", Some(2)),
            ("apple", "grape", None),
            ("", "ab", Some(2)),
            ("abc", "", None),
        ] {
            assert_eq!(edit_distance(a, b, 2), distance, "{a} {b}");
        }
    }

    #[test]
    fn short_names_allow_one_slip_and_figures_none() {
        assert_eq!(near_enough("aplpe", "apple"), Some(1));
        assert_eq!(near_enough("aplep", "apple"), None);
        assert_eq!(near_enough("abble", "apple"), None);
        assert_eq!(near_enough("mikrosofd", "microsoft"), Some(2));
        assert_eq!(near_enough("windows 10", "windows 11"), None);
        assert_eq!(near_enough("xitachii", "hitachi"), None);
    }
}
