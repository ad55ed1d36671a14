//! Closed classes of English words that the clause rules go by.

use crate::claim::Modality;

/// Turns the polarity of its clause.
pub(crate) fn negates(lemma: &str) -> bool {
    matches!(
        lemma,
        "not"
            | "n't"
            | "never"
            | "no"
            | "nor"
            | "neither"
            | "hardly"
            | "barely"
            | "rarely"
            | "scarcely"
            | "seldom"
            | "nowhere"
    )
}

/// As a noun phrase or a determiner, turns the polarity of its clause.
pub(crate) fn negative_phrase(lemma: &str) -> bool {
    matches!(
        lemma,
        "no" | "none" | "nobody" | "nothing" | "neither" | "few" | "no-one" | "little"
    )
}

pub(crate) fn adverb_modality(lemma: &str) -> Option<Modality> {
    Some(match lemma {
        "possibly" | "perhaps" | "maybe" | "probably" | "likely" | "presumably" | "potentially"
        | "apparently" | "seemingly" | "supposedly" | "arguably" | "conceivably" | "unlikely" => {
            Modality::Hedged
        }
        "reportedly" | "allegedly" | "purportedly" => Modality::Reported,
        "hypothetically" => Modality::Conditional,
        _ => return None,
    })
}

pub(crate) fn auxiliary_modality(lemma: &str) -> Option<Modality> {
    Some(match lemma {
        "may" | "might" | "could" | "should" | "ought" => Modality::Hedged,
        "would" => Modality::Conditional,
        _ => return None,
    })
}

pub(crate) fn marker_modality(lemma: &str) -> Option<Modality> {
    Some(match lemma {
        "if" | "unless" | "whether" | "lest" | "provided" | "supposing" => Modality::Conditional,
        _ => return None,
    })
}

/// What becomes of a clause under a verb, noun or adjective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Embedding {
    pub modality: Modality,
    pub negative: bool,
    /// The word adds nothing of its own: its complement is the claim.
    pub light: bool,
}

pub(crate) fn embedding(lemma: &str) -> Embedding {
    let of = |modality, negative, light| Embedding {
        modality,
        negative,
        light,
    };
    match lemma {
        // Implicative and aspectual: the complement is a fact.
        "manage" | "begin" | "start" | "continue" | "keep" | "proceed" | "happen" | "come"
        | "go" | "get" | "use" | "able" | "help" | "dare" | "bother" | "remember" | "choose"
        | "opt" | "able-bodied" | "proud" | "happy" | "glad" | "sad" | "first" | "last"
        | "force" | "cause" | "lead" | "make" | "let" | "see" | "hear" | "watch" | "remain"
        | "tend" | "resume" | "have" => of(Modality::Asserted, false, true),
        "fail" | "refuse" | "decline" | "cease" | "stop" | "avoid" | "forget" | "neglect"
        | "omit" | "unable" | "quit" | "prevent" | "stopped" | "discontinue" => {
            of(Modality::Asserted, true, true)
        }
        "deny" => of(Modality::Reported, true, false),
        "doubt" => of(Modality::Hedged, true, false),
        // Factive: the complement is taken for true.
        "know" | "show" | "find" | "discover" | "reveal" | "realize" | "realise" | "confirm"
        | "prove" | "demonstrate" | "note" | "notice" | "recognize" | "recognise" | "regret"
        | "mean" | "ensure" | "learn" | "fact" | "aware" | "acknowledge" | "admit"
        | "establish" | "result" | "indicate" | "highlight" | "emphasize" | "stress" | "point"
        | "clear" | "true" | "certain" | "sure" => of(Modality::Asserted, false, false),
        "say" | "tell" | "report" | "announce" | "state" | "claim" | "add" | "write"
        | "declare" | "argue" | "mention" | "explain" | "insist" | "allege" | "assert"
        | "testify" | "comment" | "respond" | "reply" | "quote" | "describe" | "warn"
        | "reiterate" | "disclose" | "remark" | "complain" | "maintain" => {
            of(Modality::Reported, false, false)
        }
        "seem" | "appear" | "look" | "likely" | "unlikely" | "bind" | "certainly" => {
            of(Modality::Hedged, lemma == "unlikely", true)
        }
        "false" | "untrue" | "wrong" => of(Modality::Asserted, true, false),
        // Wishes, beliefs, plans and whatever else: open.
        _ => of(Modality::Hedged, false, false),
    }
}

/// The stronger doubt of two. A question stays a question, a condition a condition.
pub(crate) fn weaker(a: Modality, b: Modality) -> Modality {
    let rank = |m| match m {
        Modality::Asserted => 0,
        Modality::Reported => 1,
        Modality::Hedged => 2,
        Modality::Conditional => 3,
        Modality::Question => 4,
    };
    if rank(b) > rank(a) { b } else { a }
}

/// The subject of the complement is that of the matrix clause even when it has an object.
pub(crate) fn subject_control(lemma: &str) -> bool {
    matches!(lemma, "promise" | "threaten" | "vow")
}

/// "one of the cities", "a type of cake": what counts is the noun behind `of`.
pub(crate) fn transparent(lemma: &str) -> bool {
    matches!(
        lemma,
        "one"
            | "some"
            | "many"
            | "most"
            | "several"
            | "type"
            | "kind"
            | "sort"
            | "variety"
            | "form"
            | "example"
            | "all"
            | "each"
            | "couple"
            | "any"
            | "both"
    )
}
