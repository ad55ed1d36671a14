//! English verb forms, and the word lists of the general rules.

pub(super) fn is_participle(word: &str) -> bool {
    (word.len() > 4 && word.ends_with("ed") && !word.ends_with("eed"))
        || IRREGULAR_VERBS.iter().any(|(form, _, _)| *form == word)
}

pub(super) fn base_of(participle: &str) -> String {
    let stem = participle.strip_suffix("ed").unwrap_or(participle);
    if let Some(head) = stem.strip_suffix('i') {
        return format!("{head}y");
    }
    let e_ends = [
        "at", "iz", "is", "uc", "as", "ir", "in", "ur", "ag", "as", "os", "us", "ov", "iv", "ar",
        "or", "id", "ud", "od", "ik", "rg", "ng", "nc", "rc", "ap", "il", "ul", "pl", "bl",
    ];
    if e_ends.iter().any(|end| stem.ends_with(end))
        && !matches!(
            stem,
            "train"
                | "join"
                | "obtain"
                | "retain"
                | "gain"
                | "explain"
                | "fail"
                | "detail"
                | "repair"
                | "appear"
                | "bring"
                | "sell"
                | "visit"
                | "assign"
                | "design"
                | "return"
                | "develop"
                | "treat"
                | "repeat"
                | "monitor"
                | "sponsor"
                | "author"
                | "mentor"
        )
    {
        return format!("{stem}e");
    }
    stem.to_owned()
}

/// Third person and base of a present-tense verb: known verbs, or any `…s` before a preposition.
pub(super) fn third_person(word: &str, before_preposition: bool) -> Option<(String, String)> {
    if word == "has" {
        return Some(("has".into(), "have".into()));
    }
    if let Some(base) = VERBS.iter().find(|base| **base == word) {
        return Some((third_of(base), (*base).to_owned()));
    }
    if let Some(base) = VERBS.iter().find(|base| third_of(base) == word) {
        return Some((word.to_owned(), (*base).to_owned()));
    }
    let regular = before_preposition
        && word.len() > 3
        && word.ends_with('s')
        && !word.ends_with("ss")
        && !word.ends_with("us");
    regular.then(|| {
        (
            word.to_owned(),
            word.strip_suffix('s').unwrap_or(word).to_owned(),
        )
    })
}

pub(super) fn third_of(base: &str) -> String {
    if base.ends_with(['s', 'x', 'z']) || base.ends_with("ch") || base.ends_with("sh") {
        return format!("{base}es");
    }
    match base.strip_suffix('y') {
        Some(head) if !head.ends_with(['a', 'e', 'o', 'u']) => format!("{head}ies"),
        _ => format!("{base}s"),
    }
}

pub(super) fn past_of(base: &str) -> String {
    if let Some((_, past, _)) = IRREGULAR_VERBS.iter().find(|(_, _, known)| *known == base) {
        return (*past).to_owned();
    }
    match (base.strip_suffix('y'), base.ends_with('e')) {
        (Some(head), _) if !head.ends_with(['a', 'e', 'o', 'u']) => format!("{head}ied"),
        (_, true) => format!("{base}d"),
        _ => format!("{base}ed"),
    }
}

#[rustfmt::skip]
pub(super) const PREPOSITIONS: &[&str] = &[
    "by", "in", "with", "to", "from", "for", "at", "on", "as", "into", "against", "under", "over", "through",
    "about", "near", "between", "within", "of", "via",
];

/// Participles that describe a lasting state rather than an act.
#[rustfmt::skip]
pub(super) const STATES: &[&str] = &[
    "located", "based", "headquartered", "listed", "incorporated", "registered", "married", "related", "known",
    "used", "connected", "situated", "domiciled", "owned", "held", "organized", "included", "involved",
    "employed", "led", "controlled", "managed", "regulated", "supplied", "supported", "funded", "backed",
    "affiliated", "associated", "derived", "required", "licensed", "integrated", "compared", "targeted",
    "assigned", "attributed", "classified", "composed", "inspired", "linked", "bound", "powered", "traded",
];

/// Participles of acts that are done to the subject, also before "in", "at" or "on".
#[rustfmt::skip]
pub(super) const DONE_TO: &[&str] = &[
    "founded", "cofounded", "created", "established", "published", "released", "written", "directed",
    "produced", "discovered", "invented", "developed", "introduced", "opened", "closed", "built", "made",
    "elected", "appointed", "educated", "buried", "born", "raised", "acquired", "launched", "announced",
    "approved", "awarded", "named", "renamed", "sold", "bought", "taught", "filed", "issued", "signed",
    "completed", "delisted", "dissolved", "detected", "observed",
];

#[rustfmt::skip]
pub(super) const VERBS: &[&str] = &[
    "acquire", "administer", "affect", "appear", "belong", "build", "buy", "cause", "challenge", "collaborate",
    "come", "compete", "contain", "contribute", "control", "cost", "cover", "create", "cure", "deliver",
    "depend", "describe", "design", "develop", "direct", "distribute", "employ", "enable", "finance", "fund",
    "follow", "govern", "grow", "head", "hold", "import", "include", "influence", "inhibit", "interact",
    "invest", "involve", "issue", "know", "lead", "lend", "like", "live", "love", "maintain", "make", "manage",
    "manufacture", "mentor", "need", "offer", "operate", "oversee", "own", "oppose", "participate", "pay",
    "precede", "prevent", "produce", "provide", "publish", "reach", "receive", "recommend", "regulate",
    "report", "represent", "require", "reside", "run", "sell", "serve", "specialize", "sponsor", "study",
    "succeed", "supply", "support", "target", "teach", "treat", "use", "want", "win", "work", "write", "trade",
    "exclude", "replace", "export", "admire", "hate", "respect", "visit", "prefer", "enjoy", "play", "drive",
    "eat", "drink", "speak", "join", "attend", "wear", "trust", "chair", "advise", "back", "counter", "sue",
    "investigate", "license", "promote", "recruit", "hire", "rent", "lease", "audit", "endorse", "criticize",
    "mention", "cite", "border", "neighbor", "host", "coach", "train", "translate", "compose", "perform",
    "star", "feature", "guard", "protect", "attack",
];

/// Participle, past, base.
#[rustfmt::skip]
pub(super) const IRREGULAR_VERBS: &[(&str, &str, &str)] = &[
    ("bought", "bought", "buy"), ("sold", "sold", "sell"), ("won", "won", "win"), ("led", "led", "lead"),
    ("built", "built", "build"), ("made", "made", "make"), ("written", "wrote", "write"),
    ("wrote", "wrote", "write"), ("held", "held", "hold"), ("known", "knew", "know"), ("born", "bore", "bear"),
    ("given", "gave", "give"), ("driven", "drove", "drive"), ("taught", "taught", "teach"),
    ("paid", "paid", "pay"), ("spent", "spent", "spend"), ("lost", "lost", "lose"), ("met", "met", "meet"),
    ("left", "left", "leave"), ("became", "became", "become"), ("grown", "grew", "grow"),
    ("begun", "began", "begin"), ("began", "began", "begin"), ("overseen", "oversaw", "oversee"),
    ("lent", "lent", "lend"), ("chosen", "chose", "choose"), ("bound", "bound", "bind"),
    ("came", "came", "come"),
];

#[rustfmt::skip]
pub(super) const INITIALS: &[&str] = &[
    "ceo", "cfo", "cto", "coo", "cio", "ipo", "gdp", "isbn", "url", "id", "hq", "eps", "roi", "ebitda", "ebit",
    "api", "ui", "us", "uk", "eu", "usd", "esg", "kpi", "ai", "gpu", "cpu", "vat", "isin", "etf",
];

#[rustfmt::skip]
pub(super) const ADJECTIVE_ENDS: &[&str] = &[
    "ed", "able", "ible", "ive", "al", "ic", "ful", "ous", "ary", "ant", "ent", "less",
];

/// Participles whose subject acts alone, so that a date after them is when it did.
#[rustfmt::skip]
pub(super) const INTRANSITIVE: &[&str] = &[
    "retired", "died", "joined", "resigned", "moved", "merged", "started", "ended", "arrived", "expanded",
    "graduated", "worked", "lived", "studied", "emigrated", "debuted", "premiered", "happened", "occurred",
    "peaked", "invested", "began", "expired", "collapsed", "succeeded", "failed",
];
