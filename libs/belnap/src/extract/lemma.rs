//! Lemmas of verbs that the parser's rules have missed.

use crate::lexicon;

/// The lemma of a verb: the parser's own if that is a verb, else one that the form can come from.
pub(crate) fn verb(form: &str, lemma: String) -> String {
    if let Some(base) = irregular(form) {
        return base.to_string();
    }
    if lexicon::is_verb(&lemma) {
        return lemma;
    }
    let cut = |ending: &str| form.strip_suffix(ending);
    let mut stems: Vec<String> = Vec::new();
    for ending in ["ed", "ing"] {
        if let Some(stem) = cut(ending) {
            stems.push(format!("{stem}e"));
            stems.push(stem.to_string());
            // "planned"
            let mut letters = stem.chars().rev();
            if let (Some(a), Some(b)) = (letters.next(), letters.next())
                && a == b
            {
                stems.push(stem[..stem.len() - a.len_utf8()].to_string());
            }
        }
    }
    stems.extend(cut("ied").map(|s| format!("{s}y")));
    stems.extend(cut("ying").map(|s| format!("{s}ie")));
    stems.extend(cut("d").map(str::to_string));
    stems.extend(third_person(form));
    stems.push(form.to_string());
    stems
        .into_iter()
        .find(|s| lexicon::is_verb(s))
        .unwrap_or(lemma)
}

/// The verb of which a form in -s is the third person.
pub(crate) fn third_person(form: &str) -> Option<String> {
    let stem = form.strip_suffix('s')?;
    let mut stems = vec![stem.to_string()];
    stems.extend(form.strip_suffix("ies").map(|s| format!("{s}y")));
    stems.extend(form.strip_suffix("es").map(str::to_string));
    stems
        .into_iter()
        .find(|s| s.len() > 1 && lexicon::is_verb(s))
}

/// Forms that no rule leads back, of verbs that texts of facts use.
fn irregular(form: &str) -> Option<&'static str> {
    Some(match form {
        "rose" | "risen" => "rise",
        "won" => "win",
        "fell" | "fallen" => "fall",
        "grew" | "grown" => "grow",
        "set" => "set",
        "led" => "lead",
        "died" => "die",
        "lay" | "lain" => "lie",
        "lies" | "lying" => "lie",
        "chose" | "chosen" => "choose",
        "drew" | "drawn" => "draw",
        "threw" | "thrown" => "throw",
        "flew" | "flown" => "fly",
        "beat" | "beaten" => "beat",
        "hit" => "hit",
        "cut" => "cut",
        "spent" => "spend",
        "lent" => "lend",
        "sank" | "sunk" => "sink",
        "shrank" | "shrunk" => "shrink",
        "swam" | "swum" => "swim",
        "forbade" | "forbidden" => "forbid",
        "withdrew" | "withdrawn" => "withdraw",
        "overtook" | "overtaken" => "overtake",
        "undertook" | "undertaken" => "undertake",
        "wed" => "wed",
        _ => return None,
    })
}
