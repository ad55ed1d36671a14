//! What a sentence says between two of its mentions: the words, the scope they stand in, and who does what.

use ud::Upos;

use super::mention::{How, Mention};
use super::reading::Reading;
use crate::claim::Modality;

pub(super) struct Link {
    /// Tokens with how close they are to the relation between the two, 0 to 1.
    pub words: Vec<(usize, f32)>,
    /// No content word on the path: "X, Y", "X is Y", "X in Y", "X of Y".
    pub neutral: bool,
    /// Prepositions that tie either mention.
    pub prepositions: Vec<usize>,
    pub margin: f32,
    /// The path runs over an apposition or a conjunction.
    pub fragile: bool,
    pub negative: bool,
    pub modality: Modality,
    pub direction: Direction,
}

/// What the first mention is to the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// The first does something to the second; the token is the verb.
    Does(usize),
    /// It is done to the first.
    Suffers(usize),
    /// The first has the role that the noun names: "Paris is the capital of France".
    Fills(usize),
    /// The second has it.
    Holds(usize),
    Unknown,
}

const HEDGES: &[&str] = &[
    "reportedly",
    "allegedly",
    "possibly",
    "perhaps",
    "maybe",
    "probably",
    "supposedly",
    "purportedly",
    "apparently",
    "likely",
    "rumour",
    "rumor",
    "may",
    "might",
    "could",
    "seemingly",
    "presumably",
    "potentially",
];
const REPORTS: &[&str] = &[
    "say",
    "claim",
    "believe",
    "report",
    "think",
    "allege",
    "suggest",
    "argue",
    "suppose",
    "rumor",
    "rumour",
    "speculate",
    "expect",
    "predict",
    "hope",
    "doubt",
    "deny",
    "wonder",
    "assume",
];
const DENIALS: &[&str] = &[
    "not", "n't", "never", "no", "neither", "nor", "without", "nobody", "none", "nothing",
    "hardly", "n’t",
];
/// Verbs that deny what hangs on them.
const NEGATIVE_VERBS: &[&str] = &["fail", "refuse", "deny", "decline", "lack"];

pub(super) fn link(reading: &Reading<'_>, a: &Mention, b: &Mention) -> Option<Link> {
    let from = reading.head_of(a.first, a.last);
    let to = reading.head_of(b.first, b.last);
    let sentence = reading.tokens[from].sentence;
    if reading.tokens[to].sentence != sentence {
        return None;
    }
    let up = ancestors(reading, from);
    let down = ancestors(reading, to);
    let top = *up.iter().find(|t| down.contains(t))?;
    let rise = up.iter().position(|t| *t == top).unwrap_or_default();
    let fall = down.iter().position(|t| *t == top).unwrap_or_default();
    let path: Vec<usize> = up[..=rise]
        .iter()
        .chain(down[..fall].iter().rev())
        .copied()
        .collect();
    let inside = |t: usize| (a.first..=a.last).contains(&t) || (b.first..=b.last).contains(&t);
    let deprel = |t: usize| reading.tokens[t].token.relation();

    let mut margin = f32::INFINITY;
    let mut fragile = false;
    for &t in up[..rise].iter().chain(&down[..fall]) {
        let within = |m: &Mention| {
            (m.first..=m.last).contains(&t)
                && reading.tokens[t]
                    .head
                    .is_some_and(|h| (m.first..=m.last).contains(&h))
        };
        if within(a) || within(b) {
            continue;
        }
        margin = margin.min(reading.tokens[t].token.margin);
        fragile |= matches!(
            deprel(t),
            "appos" | "conj" | "parataxis" | "dep" | "list" | "orphan"
        );
    }

    let range = reading.sentence_range(sentence);
    let mut weights = vec![0.0f32; range.len()];
    let mut put = |t: usize, w: f32| {
        if let Some(slot) = weights.get_mut(t - range.start) {
            *slot = slot.max(w);
        }
    };
    let (low, high) = (a.last.min(b.last) + 1, a.first.max(b.first));
    for t in range.clone() {
        let between = (low..high).contains(&t);
        put(t, if between { 0.8 } else { 0.55 });
    }
    let mut prepositions = Vec::new();
    let mut neutral = true;
    // A definite phrase that stands for the first may itself name the relation: "the leader is X".
    if a.how == How::Pronoun {
        put(from, 1.0);
    }
    for &t in &path {
        if !inside(t) {
            put(t, 1.0);
            let light = matches!(
                &*reading.lemma(t).lemma,
                "be" | "have" | "one" | "which" | "that" | "it" | "who"
            );
            neutral &= light
                || !matches!(
                    reading.tokens[t].token.upos,
                    Upos::Verb | Upos::Noun | Upos::Adj | Upos::Propn
                );
        }
        for &k in &reading.tokens[t].children {
            if inside(k) {
                continue;
            }
            match deprel(k) {
                "case" | "mark" | "compound" | "amod" | "advmod" | "flat" | "aux" => put(k, 0.95),
                "obj" | "xcomp" | "nmod" | "obl" | "nsubj" | "acl" | "appos"
                    if !path.contains(&k) =>
                {
                    put(k, 0.9);
                    for &l in &reading.tokens[k].children {
                        if matches!(deprel(l), "case" | "compound" | "amod" | "advmod" | "nmod")
                            && !inside(l)
                        {
                            put(l, 0.85);
                        }
                    }
                }
                _ => {}
            }
            if deprel(k) == "case" && !inside(k) {
                prepositions.push(k);
            }
        }
    }
    // The phrase next to the object, up to the next clause: "211 metres above sea level".
    for side in [b.last + 1..range.end, range.start..b.first] {
        let forward = side.start == b.last + 1;
        let mut at: Vec<usize> = side.collect();
        if !forward {
            at.reverse();
        }
        for t in at.into_iter().take(3) {
            if inside(t)
                || matches!(
                    reading.tokens[t].token.upos,
                    Upos::Punct | Upos::Cconj | Upos::Verb | Upos::Sconj
                )
            {
                break;
            }
            put(t, 0.85);
        }
    }
    let bridge = (a.how == How::Pronoun).then_some(from);
    let mut words: Vec<(usize, f32)> = range
        .clone()
        .zip(weights)
        .filter(|&(t, _)| !inside(t) || Some(t) == bridge)
        .collect();
    words.retain(|&(t, _)| {
        !matches!(
            reading.tokens[t].token.upos,
            Upos::Punct | Upos::Det | Upos::Pron
        )
    });
    let chain = ancestors(reading, top);
    Some(Link {
        words,
        neutral,
        prepositions,
        margin,
        fragile,
        negative: denied(reading, &path, &chain, b),
        modality: match modality(reading, sentence, &path, &chain) {
            // Where the tree has lost a modal verb, its place still tells.
            Modality::Asserted
                if (low..high).any(|t| HEDGES.contains(&reading.lemma(t).lemma.as_str())) =>
            {
                Modality::Hedged
            }
            told => told,
        },
        direction: direction(reading, a, b, &path),
    })
}

fn ancestors(reading: &Reading<'_>, token: usize) -> Vec<usize> {
    let mut chain = vec![token];
    let mut at = token;
    while let Some(head) = reading.tokens[at].head {
        if chain.len() > 64 || chain.contains(&head) {
            break;
        }
        chain.push(head);
        at = head;
    }
    chain
}

/// An odd number of denials on the path.
fn denied(reading: &Reading<'_>, path: &[usize], above: &[usize], b: &Mention) -> bool {
    let mut count = 0;
    for &t in path {
        for &k in &reading.tokens[t].children {
            let lemma = reading.lemma(k).lemma.as_str();
            let form = reading.tokens[k].token.form.to_lowercase();
            let denial = DENIALS.contains(&lemma) || DENIALS.contains(&form.as_str());
            // "not only … but also" denies nothing, "no" counts before the other mention only.
            let only = reading
                .tokens
                .get(k + 1)
                .is_some_and(|n| n.token.form == "only");
            let far = lemma == "no"
                && !(b.first..=b.last).contains(&t)
                && reading.tokens[k].token.relation() != "advmod"
                && t > b.last;
            // "No. 5"
            let number = reading
                .tokens
                .get(k + 1)
                .is_some_and(|n| n.token.form == ".");
            let number = lemma == "no" && number;
            if denial && !(only || far || number) {
                count += 1;
            }
        }
    }
    let top = path.iter().copied().find(|t| above.first() == Some(t));
    if let Some(head) = top.and_then(|t| reading.tokens[t].head) {
        let relation = top
            .map(|t| reading.tokens[t].token.relation())
            .unwrap_or_default();
        if matches!(relation, "xcomp" | "ccomp") {
            if NEGATIVE_VERBS.contains(&reading.lemma(head).lemma.as_str()) {
                count += 1;
            }
            count += reading.tokens[head]
                .children
                .iter()
                .filter(|&&k| DENIALS.contains(&reading.lemma(k).lemma.as_str()))
                .count();
        }
    }
    count % 2 == 1
}

fn modality(reading: &Reading<'_>, sentence: usize, path: &[usize], above: &[usize]) -> Modality {
    let range = reading.sentence_range(sentence);
    if range
        .clone()
        .next_back()
        .is_some_and(|t| reading.tokens[t].token.form == "?")
    {
        return Modality::Question;
    }
    for &t in above {
        let token = &reading.tokens[t];
        let marked = token.children.iter().any(|&k| {
            reading.tokens[k].token.relation() == "mark"
                && matches!(reading.lemma(k).lemma.as_str(), "if" | "unless" | "whether")
        });
        if marked {
            return Modality::Conditional;
        }
        if token.children.iter().any(|&k| {
            reading.tokens[k].token.relation() == "advcl"
                && reading.tokens[k]
                    .children
                    .iter()
                    .any(|&m| matches!(reading.lemma(m).lemma.as_str(), "if" | "unless"))
        }) {
            return Modality::Conditional;
        }
        if matches!(token.token.relation(), "ccomp" | "parataxis")
            && let Some(head) = token.head
            && REPORTS.contains(&reading.lemma(head).lemma.as_str())
        {
            return Modality::Reported;
        }
    }
    for &t in path.iter().chain(above.iter().take(2)) {
        if REPORTS.contains(&reading.lemma(t).lemma.as_str()) && path.contains(&t) {
            return Modality::Reported;
        }
        if reading.tokens[t]
            .children
            .iter()
            .any(|&k| HEDGES.contains(&reading.lemma(k).lemma.as_str()))
        {
            return Modality::Hedged;
        }
    }
    let according = range.clone().any(|t| {
        reading.tokens[t]
            .token
            .form
            .eq_ignore_ascii_case("according")
    });
    if according {
        Modality::Reported
    } else {
        Modality::Asserted
    }
}

fn direction(reading: &Reading<'_>, a: &Mention, b: &Mention, path: &[usize]) -> Direction {
    let inside = |m: &Mention, t: usize| (m.first..=m.last).contains(&t);
    let outside: Vec<usize> = path
        .iter()
        .copied()
        .filter(|&t| !inside(a, t) && !inside(b, t))
        .collect();
    // The parts of the path next to each mention.
    let deprel = |t: usize| reading.tokens[t].token.deprel.to_string();
    let head = |t: usize| reading.tokens[t].head;
    let (from, to) = (path[0], path[path.len() - 1]);
    match outside.as_slice() {
        [only] if reading.tokens[*only].token.upos == Upos::Verb => {
            let verb = *only;
            let side = |t: usize| -> i8 {
                if head(t) != Some(verb) {
                    // The verb hangs on the mention: "Microsoft, which acquired …", "acquired by …".
                    if head(verb) == Some(t) {
                        let relative = reading.tokens[verb].children.iter().any(|&k| {
                            deprel(k) == "nsubj"
                                && matches!(
                                    reading.lemma(k).lemma.as_str(),
                                    "who" | "which" | "that"
                                )
                        });
                        let participle = reading.tokens[verb].token.feat("VerbForm")
                            == Some("Part")
                            && reading.tokens[verb].token.feat("Tense") == Some("Past");
                        return if relative {
                            1
                        } else if participle {
                            -1
                        } else {
                            0
                        };
                    }
                    return 0;
                }
                match deprel(t).as_str() {
                    "nsubj" => 1,
                    "nsubj:pass" => -1,
                    "obj" => -1,
                    "obl:agent" => 1,
                    "obl" => {
                        let by = reading.tokens[t]
                            .children
                            .iter()
                            .any(|&k| reading.lemma(k).lemma == "by");
                        if by { 1 } else { -2 }
                    }
                    _ => 0,
                }
            };
            let passive = reading.tokens[verb]
                .children
                .iter()
                .any(|&k| deprel(k).ends_with(":pass"));
            match (side(from), side(to)) {
                (1, -1) => Direction::Does(verb),
                (-1, 1) => Direction::Suffers(verb),
                (1, -2) if !passive => Direction::Does(verb),
                (-2, 1) if !passive => Direction::Suffers(verb),
                _ => Direction::Unknown,
            }
        }
        [only] if reading.tokens[*only].token.upos == Upos::Noun => {
            let noun = *only;
            let holder = |t: usize| {
                head(t) == Some(noun) && (deprel(t).starts_with("nmod") || deprel(t) == "compound")
            };
            match (holder(from), holder(to)) {
                (true, false) => Direction::Holds(noun),
                (false, true) => Direction::Fills(noun),
                _ => Direction::Unknown,
            }
        }
        _ => Direction::Unknown,
    }
}

/// The clearness of the arcs between a word and a mention alone, and whether one is an apposition or conjunction.
pub(super) fn local(
    reading: &Reading<'_>,
    word: usize,
    mention: &Mention,
) -> Option<(f32, bool, usize)> {
    let to = reading.head_of(mention.first, mention.last);
    let up = ancestors(reading, word);
    let down = ancestors(reading, to);
    let top = *up.iter().find(|t| down.contains(t))?;
    let (mut margin, mut fragile, mut length) = (f32::INFINITY, false, 0);
    for &t in up
        .iter()
        .take_while(|t| **t != top)
        .chain(down.iter().take_while(|t| **t != top))
    {
        margin = margin.min(reading.tokens[t].token.margin);
        fragile |= matches!(
            reading.tokens[t].token.relation(),
            "appos" | "conj" | "parataxis" | "dep" | "list" | "orphan"
        );
        length += 1;
    }
    Some((margin, fragile, length))
}

/// Between subject and object another thing is named as what the relation is of: "A, whose rival B has 5 plants".
pub(super) fn foreign(
    reading: &Reading<'_>,
    subject: &Mention,
    object: &Mention,
    by: usize,
) -> bool {
    let from = reading.head_of(subject.first, subject.last);
    let to = reading.head_of(object.first, object.last);
    let (up, down) = (ancestors(reading, from), ancestors(reading, to));
    let top = up.iter().find(|t| down.contains(t)).copied();
    let below = down.iter().copied().take_while(|t| Some(*t) != top);
    let within = |m: &Mention, t: usize| (m.first..=m.last).contains(&t);
    let phrase = ancestors(reading, by);
    if relative_of(reading, subject, object, by) {
        return false;
    }
    below.chain([by]).chain(top).any(|t| {
        !within(subject, t)
            && reading.tokens[t].children.iter().any(|&k| {
                let token = reading.tokens[k].token;
                let holder = match &*token.deprel {
                    "nsubj" | "nsubj:pass" | "nmod:poss" => true,
                    "nmod" => {
                        t == by
                            && reading.tokens[k]
                                .children
                                .iter()
                                .any(|&c| reading.lemma(c).lemma == "of")
                    }
                    _ => false,
                };
                holder
                    && !up.contains(&k)
                    && !down.contains(&k)
                    && !phrase.contains(&k)
                    && !within(subject, k)
                    && !within(object, k)
                    && reading.is_name(k)
            })
    })
}

/// A relative word right after the subject begins the clause that holds the rest: "Texas, where Austin is the capital".
fn relative_of(reading: &Reading<'_>, subject: &Mention, object: &Mention, by: usize) -> bool {
    let relative = |t: usize| {
        matches!(
            &*reading.tokens[t].token.form,
            "where" | "which" | "who" | "whose" | "whom"
        )
    };
    let light = |t: usize| matches!(reading.tokens[t].token.upos, Upos::Punct | Upos::Adp);
    let (low, high) = (by.min(object.first), by.max(object.first));
    let range = reading.sentence_range(reading.tokens[subject.first].sentence);
    let Some(at) = (subject.last + 1..range.end.min(subject.last + 4)).find(|&t| !light(t)) else {
        return false;
    };
    relative(at) && at < low && !(at + 1..high).any(relative)
}

/// Where a sentence that does not name a thing may speak of it: pronouns and definite phrases in subject position.
pub(super) fn stand_ins(reading: &Reading<'_>, sentence: usize) -> Vec<Mention> {
    let mut slots = Vec::new();
    for t in reading.sentence_range(sentence) {
        let token = reading.tokens[t].token;
        let relation = token.relation();
        let pronoun = token.upos == Upos::Pron
            && matches!(
                &*token.form.to_lowercase(),
                "he" | "she"
                    | "it"
                    | "they"
                    | "his"
                    | "her"
                    | "its"
                    | "their"
                    | "him"
                    | "them"
                    | "this"
            );
        let definite = token.upos == Upos::Noun
            && relation != "obj"
            && reading.tokens[t].children.iter().any(|&k| {
                matches!(
                    &*reading.tokens[k].token.form.to_lowercase(),
                    "the" | "this" | "that"
                )
            });
        if pronoun || definite {
            slots.push(Mention {
                first: t,
                last: t,
                score: 0.75,
                how: How::Pronoun,
            });
        }
    }
    slots
}
