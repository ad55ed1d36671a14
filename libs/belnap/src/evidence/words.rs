//! Words as the comparison sees them: what is light, what denies, what points up or down.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use crate::lexicon;

/// The lemma in lower case; the parser's guess only where it can be one.
pub(super) fn key(lemma: &str, form: &str) -> String {
    let form = plain(form);
    let lemma = plain(lemma);
    if form == lemma
        || lexicon::synonyms(&lemma).next().is_some()
        || lexicon::above(&lemma).next().is_some()
    {
        // A lemma shares its beginning with the form, but for the irregular ones, which are short.
        let shared = form
            .bytes()
            .zip(lemma.bytes())
            .next()
            .is_some_and(|(a, b)| a == b);
        return if !shared && lemma.len() > 3 && form.len() > 4 {
            form
        } else {
            lemma
        };
    }
    // No such word: one that the form may come from, if there is one.
    irregular(&form)
        .map(str::to_owned)
        .or_else(|| regular(&form))
        .unwrap_or(lemma)
}

fn irregular(form: &str) -> Option<&'static str> {
    Some(match form {
        "fell" => "fall",
        "rose" | "risen" => "rise",
        "grew" | "grown" => "grow",
        "began" | "begun" => "begin",
        "became" => "become",
        "won" => "win",
        "lost" => "lose",
        "sold" => "sell",
        "bought" => "buy",
        "built" => "build",
        "led" => "lead",
        "left" => "leave",
        "met" => "meet",
        "paid" => "pay",
        "spent" => "spend",
        "taught" => "teach",
        "told" => "tell",
        "thought" => "think",
        "wrote" | "written" => "write",
        "drove" | "driven" => "drive",
        "flew" | "flown" => "fly",
        "sang" | "sung" => "sing",
        "ran" => "run",
        "shrank" | "shrunk" => "shrink",
        "chose" | "chosen" => "choose",
        "held" => "hold",
        "kept" => "keep",
        "brought" => "bring",
        "caught" => "catch",
        "fought" => "fight",
        "sought" => "seek",
        "fed" => "feed",
        "drew" | "drawn" => "draw",
        "threw" | "thrown" => "throw",
        "broke" | "broken" => "break",
        "spoke" | "spoken" => "speak",
        _ => return None,
    })
}

fn regular(form: &str) -> Option<String> {
    let known =
        |w: &str| lexicon::synonyms(w).next().is_some() || lexicon::above(w).next().is_some();
    ["ied", "ies", "ed", "ing", "es", "s", "d"]
        .iter()
        .find_map(|ending| {
            let stem = form.strip_suffix(ending).filter(|s| s.len() >= 2)?;
            let doubled = stem.len() > 3
                && stem.is_ascii()
                && stem.as_bytes()[stem.len() - 1] == stem.as_bytes()[stem.len() - 2];
            let mut forms = vec![format!("{stem}e"), stem.to_owned(), format!("{stem}y")];
            if doubled {
                forms.push(stem[..stem.len() - 1].to_owned());
            }
            forms.into_iter().find(|w| known(w))
        })
}

/// Lower case without accents, and without the points of an abbreviation: "U.S." is "us".
pub(super) fn plain(word: &str) -> String {
    let short = word.len() <= 8 && word.contains('.') && word.chars().any(char::is_alphabetic);
    let mut out = String::with_capacity(word.len());
    for c in word
        .nfd()
        .filter(|c| !is_combining_mark(*c))
        .flat_map(char::to_lowercase)
    {
        match c {
            '.' if short => {}
            '’' | '`' => out.push('\''),
            'ł' => out.push('l'),
            'ø' => out.push('o'),
            'đ' | 'ð' => out.push('d'),
            'ı' => out.push('i'),
            'æ' => out.push_str("ae"),
            'œ' => out.push_str("oe"),
            'ß' => out.push_str("ss"),
            c => out.push(c),
        }
    }
    out
}

/// Letters to change, add or drop to make one word of the other; counts up to `most`.
pub(super) fn slips(a: &str, b: &str, most: usize) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) =
        (a.chars().take(40).collect(), b.chars().take(40).collect());
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = change.min(corner + 1).min(row[j] + 1);
        }
    }
    row.last().copied().filter(|&d| d <= most)
}

/// Words that say nothing on their own.
pub(super) fn is_light(key: &str) -> bool {
    matches!(
        key,
        "be" | "have"
            | "do"
            | "get"
            | "make"
            | "take"
            | "go"
            | "come"
            | "give"
            | "use"
            | "also"
            | "then"
            | "there"
            | "very"
            | "so"
            | "such"
            | "other"
            | "another"
            | "own"
            | "same"
            | "as"
            | "well"
            | "just"
            | "even"
            | "more"
            | "most"
            | "however"
            | "which"
            | "thing"
            | "way"
            | "lot"
            | "kind"
            | "sort"
            | "be."
            | "'s"
            | "s"
            | "would"
            | "could"
            | "not"
            | "never"
            | "no"
            | "only"
            | "too"
            | "here"
            | "now"
            | "mr."
            | "mrs."
            | "ms."
            | "mr"
            | "mrs"
            | "ms"
            | "dr."
            | "dr"
            | "lrb"
            | "rrb"
            | "lsb"
            | "rsb"
            | "etc"
            | "when"
            | "where"
            | "how"
            | "why"
            | "both"
            | "several"
            | "many"
            | "much"
            | "some"
            | "various"
            | "certain"
            | "able"
            | "name"
            | "call"
    )
}

/// Prepositions and particles whose opposite says the opposite.
pub(super) fn is_directional(key: &str) -> bool {
    axis(key).is_some()
        || matches!(
            key,
            "before" | "after" | "with" | "without" | "inside" | "outside" | "within"
        )
}

/// +1 for more, -1 for less.
pub(super) fn axis(key: &str) -> Option<i8> {
    Some(match key {
        "up" | "above" | "over" | "increase" | "rise" | "grow" | "growth" | "gain" | "climb"
        | "higher" | "high" | "raise" | "expand" | "expansion" | "improve" | "improvement"
        | "upward" | "surge" | "jump" | "soar" | "upturn" | "uptick" | "boost" | "exceed"
        | "surpass" | "strengthen" | "accelerate" | "acceleration" | "greater" | "escalate"
        | "outpace" | "enhance" => 1,
        "down" | "below" | "under" | "decrease" | "fall" | "decline" | "drop" | "lower" | "low"
        | "shrink" | "reduce" | "reduction" | "worsen" | "downward" | "plunge" | "slump"
        | "dip" | "downturn" | "cut" | "lessen" | "diminish" | "weaken" | "decelerate"
        | "deceleration" | "deteriorate" | "deterioration" | "deplete" | "less" | "few"
        | "slip" | "contract" => -1,
        _ => return None,
    })
}

/// Opposites that a lexicon of nouns, verbs and adjectives does not hold, or holds in one part of speech only.
pub(super) fn opposites(key: &str) -> &'static [&'static str] {
    match key {
        "great" | "good" => &["bad", "poor", "worst"],
        "bad" | "poor" => &["great", "good", "best"],
        "significant" | "substantial" | "considerable" | "major" | "significantly"
        | "substantially" => &[
            "slight",
            "negligible",
            "minimal",
            "minor",
            "insignificant",
            "slightly",
            "marginally",
            "minimally",
        ],
        "slight" | "negligible" | "minimal" | "minor" | "slightly" | "minimally" | "marginally" => {
            &[
                "significant",
                "substantial",
                "considerable",
                "major",
                "significantly",
                "substantially",
            ]
        }
        "limited" => &["wide", "unlimited", "broad", "comprehensive"],
        "form" | "found" | "establish" => &["dissolve", "disband", "collapse"],
        "dissolve" | "disband" | "collapse" => &["form", "found", "establish"],
        "before" => &["after"],
        "after" => &["before"],
        "within" | "inside" => &["outside"],
        "outside" => &["within", "inside"],
        "include" => &["exclude"],
        "exclude" => &["include"],
        "profit" | "earnings" | "earning" => &["loss"],
        "loss" => &["profit", "earning", "gain"],
        "earn" => &["lose"],
        "lose" => &["earn", "win", "gain"],
        "win" => &["lose"],
        "best" => &["worst"],
        "worst" => &["best"],
        "big" | "large" => &["small"],
        "small" => &["large", "big", "great"],
        "many" => &["few"],
        "positive" => &["negative"],
        "negative" => &["positive"],
        "difficult" | "hard" => &["easy", "simple"],
        "easy" | "simple" => &["difficult", "hard", "complex"],
        "partially" | "partly" => &["fully", "completely", "entirely"],
        "fully" | "completely" | "entirely" => &["partially", "partly"],
        "exactly" => &["approximately", "roughly"],
        "beginning" | "start" => &["end"],
        "end" => &["beginning", "start"],
        "cheap" | "affordable" => &["expensive", "unaffordable"],
        "expensive" => &["cheap", "affordable", "inexpensive"],
        "accept" => &["decline", "reject", "refuse"],
        "reject" | "refuse" => &["accept", "approve"],
        "approve" => &["reject"],
        "buy" | "purchase" => &["sell"],
        "sell" => &["buy", "purchase"],
        "strong" | "stronger" => &["weak", "weaker"],
        "weak" | "weaker" => &["strong", "stronger"],
        "real" => &["fictional", "fictitious", "imaginary"],
        "fictional" | "fictitious" => &["real"],
        "ally" | "friend" => &["enemy"],
        "enemy" => &["ally", "friend"],
        "specific" => &["general"],
        "satisfied" => &["dissatisfied", "unhappy"],
        "previous" | "prior" => &["next", "following"],
        "next" | "following" => &["previous", "prior"],
        "short" => &["long"],
        "long" => &["short"],
        "early" => &["late"],
        "late" => &["early"],
        "former" => &["current"],
        "current" => &["former"],
        "primary" => &["secondary"],
        "wide" | "broad" => &["narrow", "limited"],
        "public" => &["private"],
        "private" => &["public"],
        "male" | "man" => &["female", "woman"],
        "female" | "woman" => &["male", "man"],
        "actor" => &["actress"],
        "north" | "northern" => &["south", "southern"],
        "south" | "southern" => &["north", "northern"],
        "east" | "eastern" => &["west", "western"],
        "west" | "western" => &["east", "eastern"],
        _ => &[],
    }
}

/// "flexible" and "inflexible": the same word but for a prefix that denies it.
pub(super) fn denied_by_prefix(a: &str, b: &str) -> bool {
    let (long, short) = if a.len() > b.len() { (a, b) } else { (b, a) };
    // Only these deny whatever they stand before; "display" is not the opposite of "play".
    short.len() >= 4
        && long
            .strip_suffix(short)
            .is_some_and(|p| matches!(p, "un" | "non" | "non-"))
        && !lexicon::synonyms(long).any(|s| s == short)
}

/// Two kinds of thing of which one thing is not both: a film and an album, a city and a county.
pub(super) fn exclusive_kinds(a: &str, b: &str) -> bool {
    let family = |k: &str| {
        Some(match k {
            "film" | "movie" => (0, 0),
            "series" | "show" | "sitcom" => (0, 1),
            "album" | "ep" => (0, 2),
            "song" | "single" => (0, 3),
            "book" | "novel" | "memoir" => (0, 4),
            "painting" | "sculpture" => (0, 5),
            "band" => (0, 6),
            "poem" => (0, 7),
            "newspaper" | "magazine" => (0, 8),
            "website" => (0, 9),
            "party" => (0, 10),
            "university" | "college" | "school" => (0, 11),
            "company" | "corporation" | "firm" => (0, 12),
            "language" => (0, 13),
            "city" | "town" | "village" | "municipality" => (1, 0),
            "county" => (1, 1),
            "country" | "nation" => (1, 2),
            "continent" => (1, 3),
            "river" | "lake" => (1, 4),
            "mountain" => (1, 5),
            _ => return None,
        })
    };
    matches!((family(a), family(b)), (Some(x), Some(y)) if x.0 == y.0 && x.1 != y.1)
}

/// Verbs and adjectives whose clause did not happen: "failed to appear".
pub(super) fn denies_clause(key: &str) -> bool {
    matches!(
        key,
        "fail"
            | "refuse"
            | "decline"
            | "deny"
            | "avoid"
            | "prevent"
            | "forbid"
            | "neglect"
            | "cease"
            | "unable"
            | "incapable"
            | "forget"
            | "reject"
            | "stop"
            | "quit"
            | "prohibit"
            | "unwilling"
            | "ban"
    )
}

/// Verbs that deny their object: "lacks a plan".
pub(super) fn denies_object(key: &str) -> bool {
    matches!(
        key,
        "lack" | "avoid" | "reject" | "refuse" | "deny" | "abandon"
    )
}

/// Verbs whose clause is what someone expects. Two expectations of one thing can be at odds.
pub(super) fn expects(key: &str) -> bool {
    matches!(
        key,
        "expect"
            | "anticipate"
            | "estimate"
            | "project"
            | "forecast"
            | "predict"
            | "plan"
            | "intend"
            | "target"
            | "aim"
            | "foresee"
            | "guide"
            | "hope"
            | "believe"
            | "think"
            | "assume"
            | "consider"
            | "expectation"
            | "outlook"
            | "guidance"
            | "estimation"
            | "projection"
            | "continue"
    )
}

/// Verbs whose clause is what someone says.
pub(super) fn tells(key: &str) -> bool {
    matches!(
        key,
        "say"
            | "state"
            | "mention"
            | "report"
            | "note"
            | "announce"
            | "explain"
            | "suggest"
            | "propose"
            | "argue"
            | "claim"
            | "tell"
            | "inform"
            | "confirm"
            | "emphasize"
            | "add"
            | "describe"
            | "express"
            | "agree"
            | "point"
            | "indicate"
            | "discuss"
            | "declare"
            | "assure"
            | "stress"
            | "highlight"
            | "remark"
            | "respond"
            | "reply"
    )
}

pub(super) fn hedges(key: &str) -> bool {
    matches!(
        key,
        "may"
            | "might"
            | "could"
            | "perhaps"
            | "maybe"
            | "possibly"
            | "potentially"
            | "probably"
            | "likely"
            | "reportedly"
            | "allegedly"
            | "seemingly"
            | "apparently"
    )
}

/// The beginning that inflected and derived forms of a word share.
pub(super) fn stem(key: &str) -> &str {
    const ENDINGS: [&str; 38] = [
        "izations", "ization", "ations", "ation", "ments", "ment", "ities", "ity", "ness", "ingly",
        "ings", "ing", "ions", "ion", "ers", "er", "ors", "or", "ists", "ist", "ances", "ance",
        "ences", "ence", "able", "ible", "ally", "ial", "al", "ive", "ly", "ies", "es", "ed", "y",
        "e", "s", "ic",
    ];
    let cut = ENDINGS
        .iter()
        .filter_map(|e| key.strip_suffix(e))
        .find(|s| s.len() >= 4);
    match cut {
        // "planning", "planner": the doubled letter belongs to the ending.
        Some(s)
            if s.len() > 4
                && s.as_bytes()[s.len() - 1] == s.as_bytes()[s.len() - 2]
                && s.is_char_boundary(s.len() - 1) =>
        {
            &s[..s.len() - 1]
        }
        Some(s) => s,
        None => key,
    }
}
