//! Another filler of the same role: a name, a country, a kind of thing.

use ud::Upos;

use crate::lexicon::{self, Kinds, Level};

use super::compare::Comparison;
use super::conflict::{Conflict, Kind};
use super::measures::Kind as MeasureKind;
use super::names::{Run, head_of, near_miss, variant};
use super::reading::Reading;
use super::vocabulary::Place;
use super::words;

/// A name that the evidence does not know, where it has another in the same role.
pub(super) fn names(c: &Comparison<'_>) -> Vec<Conflict> {
    let claim = c.claim;
    let mut found = Vec::new();
    for &run in &claim.names {
        let p = head_of(claim, run);
        if claim.words[p].hedged || claim.words[p].negative {
            continue;
        }
        let beside = of_subject(claim, p);
        let strange = |t: usize| {
            let form = &claim.words[t].form;
            form.len() >= 3
                && !c.known(t)
                && !c.vocabulary.holds(form)
                && !c.vocabulary.names().any(|n| variant(form, n))
        };
        // Of "J. R. R. Martin" the surname decides.
        if !strange(run.1)
            || (run.0..run.1).any(|t| !strange(t) && claim.words[t].form.len() > 2 && !person(run))
        {
            continue;
        }
        let tokens: Vec<usize> = (run.0..=run.1).collect();
        let near = claim.distances(p);
        let mut best: Option<(f32, Place)> = None;
        for (s, reading) in c.readings.iter().enumerate() {
            for &other in &reading.names {
                let q = head_of(reading, other);
                let taken = (other.0..=other.1).any(|u| {
                    c.partner((s, u))
                        .is_some_and(|t| !tokens.contains(&t) && claim.words[t].name)
                });
                let one = tokens.iter().any(|&t| {
                    let form = &claim.words[t].form;
                    form.len() >= 4
                        && (other.0..=other.1).any(|u| variant(form, &reading.words[u].form))
                });
                if taken
                    || one
                    || (other.0..=other.1).any(|u| same_form(claim, run, &reading.words[u].form))
                        && other.0 == other.1
                {
                    continue;
                }
                let shared = (0..=(run.1 - run.0).min(other.1 - other.0))
                    .take_while(|k| claim.words[run.0 + k].form == reading.words[other.0 + k].form)
                    .count();
                let slip = shared >= 2
                    || run.0 == run.1
                        && other.0 == other.1
                        && near_miss(&claim.words[p].form, &reading.words[q].form);
                let role = same_role(c, p, (s, q)).filter(|_| !beside);
                let Some(fit) = role.or(slip.then_some(1.0)) else {
                    continue;
                };
                let mut alike = c.alike(p, &near, (s, q), &tokens) * fit;
                if slip {
                    alike = alike.max(0.6);
                }
                if alike > best.map_or(0.0, |b| b.0) {
                    best = Some((alike, (s, q)));
                }
            }
        }
        if let Some((oppose, against)) = best {
            found.push(Conflict {
                kind: Kind::Name,
                token: p,
                against,
                oppose,
                support: 0.0,
            });
        }
    }
    found
}

/// A thing that the evidence does not speak of, where it has another of the same sort in the same role.
pub(super) fn fillers(c: &Comparison<'_>) -> Vec<Conflict> {
    let claim = c.claim;
    let mut found = Vec::new();
    for (p, w) in claim.words.iter().enumerate() {
        let plain =
            w.upos == Upos::Noun && !w.name && w.content && w.measure.is_none() && w.key.len() >= 4;
        if !plain || w.hedged || w.negative || general(&w.key) || c.hits(p).next().is_some() {
            continue;
        }
        let near = claim.distances(p);
        let mut best: Option<(f32, Place)> = None;
        for (s, reading) in c.readings.iter().enumerate() {
            for (q, other) in reading.words.iter().enumerate() {
                let fits = other.upos == Upos::Noun
                    && !other.name
                    && other.content
                    && other.measure.is_none()
                    && same_sort(&w.key, &other.key)
                    && distinct(&w.key, &other.key)
                    && !general(&other.key)
                    && c.partner((s, q)).is_none();
                if !fits {
                    continue;
                }
                let Some(fit) = same_role(c, p, (s, q)) else {
                    continue;
                };
                let close = if lexicon::coordinate(&w.key, &other.key) {
                    1.0
                } else {
                    0.8
                };
                let alike = c.alike(p, &near, (s, q), &[]) * fit * close;
                if alike > best.map_or(0.0, |b| b.0) {
                    best = Some((alike, (s, q)));
                }
            }
        }
        if let Some((oppose, against)) = best {
            found.push(Conflict {
                kind: Kind::Filler,
                token: p,
                against,
                oppose,
                support: 0.0,
            });
        }
    }
    found
}

/// "A Chinese writer" beside "an American writer"; "in Japan" beside "in India".
pub(super) fn places(c: &Comparison<'_>) -> Vec<Conflict> {
    let claim = c.claim;
    let mut found = Vec::new();
    for (p, level) in located(claim) {
        let w = &claim.words[p];
        if w.hedged || w.negative || claim.role(p) == "nsubj" || of_subject(claim, p) || c.known(p)
        {
            continue;
        }
        let near = claim.distances(p);
        let quality = adjectival(claim, p);
        let mut best: Option<(f32, Place)> = None;
        for (s, reading) in c.readings.iter().enumerate() {
            for (q, theirs) in located(reading) {
                let taken = c.partner((s, q)).is_some() || variant(&w.form, &reading.words[q].form);
                if taken || theirs != level || adjectival(reading, q) != quality {
                    continue;
                }
                let alike = 0.4 + 0.6 * c.alike(p, &near, (s, q), &[]);
                if alike > best.map_or(0.0, |b| b.0) {
                    best = Some((alike, (s, q)));
                }
            }
        }
        if let Some((oppose, against)) = best {
            found.push(Conflict {
                kind: Kind::Place,
                token: p,
                against,
                oppose,
                support: 0.0,
            });
        }
    }
    found
}

/// Countries and the like, by the word that names them or belongs to them.
fn located(r: &Reading) -> Vec<(usize, Level)> {
    let mut found = Vec::new();
    for &(first, last) in &r.names {
        if let Some(level) = level_of(r, first, last) {
            found.push((head_of(r, (first, last)), level));
        } else if last > first {
            found.extend((first..=last).filter_map(|i| {
                Some((
                    i,
                    level_of(r, i, i).filter(|_| r.words[i].upos == Upos::Adj)?,
                ))
            }));
        }
    }
    found
}

/// "X is a film" beside "X is a city".
pub(super) fn sorts(c: &Comparison<'_>) -> Vec<Conflict> {
    let claim = c.claim;
    let mut found = Vec::new();
    for (subject, p) in definitions(claim) {
        let w = &claim.words[p];
        let kinds = lexicon::kind_of_noun(&w.key);
        let amount = Kinds::TIME.or(Kinds::QUANTITY).or(Kinds::MONEY);
        let plain = !w.negative && !w.hedged && w.measure.is_none() && !counted(claim, p);
        if !plain
            || general(&w.key)
            || w.form.ends_with("ing")
            || kinds.meets(amount)
            || c.hits(p).any(|(_, b)| b.same >= 0.5)
        {
            continue;
        }
        let near = claim.distances(p);
        for (s, reading) in c.readings.iter().enumerate() {
            for (theirs, q) in definitions(reading) {
                let other = &reading.words[q];
                let same_subject = c.same_at(subject, (s, theirs)) > 0.0
                    || c.partner((s, theirs)).is_some_and(|t| {
                        t < p && (claim.words[t].name || claim.top(t) == claim.top(subject))
                    })
                    || (reading.words[theirs].upos == Upos::Pron
                        && c.hits(subject).next().is_none())
                    || c.hits(subject)
                        .any(|(at, b)| at.0 == s && at.1 < q && b.same >= 1.0);
                let plain = !other.negative && !other.hedged && !counted(reading, q);
                if !same_subject || !plain || general(&other.key) || !distinct(&w.key, &other.key) {
                    continue;
                }
                let others: Vec<usize> = std::iter::once(q)
                    .chain(
                        reading
                            .children(q)
                            .iter()
                            .copied()
                            .filter(|&k| &*reading.words[k].relation == "conj"),
                    )
                    .collect();
                let apart = !kinds.is_empty()
                    && others.iter().all(|&k| {
                        let k = lexicon::kind_of_noun(&reading.words[k].key);
                        !k.is_empty() && !k.meets(kinds)
                    });
                let exclusive = words::exclusive_kinds(&w.key, &other.key);
                let alike = c.alike(p, &near, (s, q), &[]);
                let oppose = if (apart || exclusive) && alike >= 0.2 {
                    alike.max(0.6)
                } else {
                    0.5 * alike
                };
                found.push(Conflict {
                    kind: Kind::Sort,
                    token: p,
                    against: (s, q),
                    oppose,
                    support: 0.0,
                });
            }
        }
    }
    found
}

/// "12 films": a number, not a kind. A year does not count: "a 1980 film".
fn counted(r: &Reading, i: usize) -> bool {
    r.children(i).iter().any(|&k| {
        let w = &r.words[k];
        let year = w.measure.is_some_and(|m| {
            matches!(
                r.measures[m].kind,
                MeasureKind::Date { .. } | MeasureKind::Ordinal { .. }
            )
        });
        &*w.relation == "nummod" && !year
    })
}

/// Subjects by name (or pronoun) and the nouns that say what they are, by the tree or else by the plain pattern
/// "X is a …".
fn definitions(r: &Reading) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (i, w) in r.words.iter().enumerate() {
        if w.upos == Upos::Noun
            && r.child(i, "cop").is_some()
            && r.child(i, "case").is_none()
            && let Some(subject) = r.child(i, "nsubj")
            && (r.words[subject].name || r.words[subject].upos == Upos::Pron)
        {
            found.push((subject, i));
        }
    }
    if !found.is_empty() {
        return found;
    }
    for i in 1..r.words.len().saturating_sub(2) {
        let is = r.words[i].key == "be" && matches!(r.words[i + 1].form.as_str(), "a" | "an");
        if !is {
            continue;
        }
        let phrase = r.words[i + 2..]
            .iter()
            .take_while(|w| {
                matches!(
                    w.upos,
                    Upos::Noun | Upos::Adj | Upos::Propn | Upos::Num | Upos::Verb | Upos::Sym
                ) || w.form == "-"
            })
            .count();
        let last = (i + 2..i + 2 + phrase)
            .rev()
            .find(|&k| r.words[k].upos == Upos::Noun);
        let subject = (0..i)
            .find(|&k| r.words[k].name)
            .or_else(|| (i == 1).then_some(0));
        if let (Some(subject), Some(last)) = (subject, last) {
            found.push((subject, last));
            break;
        }
    }
    found
}

fn person((first, last): Run) -> bool {
    last > first
}

fn same_form(r: &Reading, (first, last): Run, form: &str) -> bool {
    (first..=last).any(|t| r.words[t].form == form)
}

/// It only tells which of several the subject is: "Henry II of France".
fn of_subject(r: &Reading, i: usize) -> bool {
    let (mut at, mut beside) = (i, false);
    for _ in 0..6 {
        let w = &r.words[at];
        match (&*w.relation, w.head) {
            ("nsubj", _) => return beside,
            ("flat" | "compound", Some(h)) => at = h,
            ("nmod" | "appos" | "amod" | "conj", Some(h)) => {
                beside = true;
                at = h;
            }
            _ => return false,
        }
    }
    false
}

/// How well the roles of two words agree, if they do.
fn same_role(c: &Comparison<'_>, p: usize, (s, q): Place) -> Option<f32> {
    let (claim, reading) = (c.claim, &c.readings[s]);
    let (top, their_top) = (claim.top(p), reading.top(q));
    let (role, their_role) = (claim.role(p), reading.role(q));
    let heads = match (claim.words[top].head, reading.words[their_top].head) {
        (Some(h), Some(g)) => c.same_at(h, (s, g)),
        (None, None) => 0.5,
        _ => 0.0,
    };
    let active = |r: &Reading, i: usize| r.words[i].head.is_some_and(|v| !r.passive(v));
    let agent = (role == "by" && their_role == "nsubj" && active(reading, their_top))
        || (role == "nsubj" && their_role == "by" && active(claim, top));
    if role == "nsubj" {
        let both = their_role == "nsubj" && active(claim, top) == active(reading, their_top);
        return (heads >= 0.8 && (agent || both)).then_some(0.8);
    }
    if agent {
        return (heads >= 0.5).then_some(0.6 + 0.4 * heads);
    }
    (role == their_role).then_some(0.6 + 0.4 * heads)
}

fn same_sort(a: &str, b: &str) -> bool {
    let (a, b) = (lexicon::kind_of_noun(a), lexicon::kind_of_noun(b));
    !a.is_empty() && a.meets(b)
}

/// Of two words of one sort, neither can be meant by the other.
fn distinct(a: &str, b: &str) -> bool {
    lexicon::related(a, b).relation == lexicon::Relation::Unrelated && !variant(a, b)
}

/// Words so wide that a narrower one does not exclude them.
fn general(key: &str) -> bool {
    matches!(
        key,
        "place"
            | "person"
            | "people"
            | "human"
            | "individual"
            | "space"
            | "work"
            | "group"
            | "artist"
            | "area"
            | "location"
            | "site"
            | "facility"
            | "object"
            | "entity"
            | "one"
            | "member"
            | "part"
            | "type"
            | "form"
            | "name"
            | "someone"
            | "celebrity"
            | "star"
            | "figure"
            | "piece"
            | "product"
            | "service"
            | "option"
            | "range"
            | "example"
            | "case"
            | "fan"
            | "native"
            | "citizen"
            | "resident"
            | "success"
            | "hit"
            | "fact"
            | "result"
            | "reason"
            | "idea"
            | "item"
            | "bit"
            | "list"
            | "home"
            | "means"
            | "food"
    )
}

fn level_of(r: &Reading, first: usize, last: usize) -> Option<Level> {
    let name: Vec<&str> = r
        .words
        .get(first..=last)?
        .iter()
        .map(|w| w.key.as_str())
        .collect();
    // Countries within a country exclude neither it nor each other's names.
    let nested = [
        "british", "english", "scottish", "welsh", "england", "scotland", "wales", "uk", "britain",
    ];
    if name.iter().any(|n| nested.contains(n)) {
        return None;
    }
    if matches!(
        name[..],
        ["us" | "usa" | "american" | "america"] | ["united", "states"]
    ) {
        return Some(Level::Country);
    }
    lexicon::level_of_place(&name.join("_")).or_else(|| {
        let one = (first == last).then(|| name.first().copied())??;
        let common = |w: &str| {
            matches!(
                w,
                "kingdom"
                    | "state"
                    | "city"
                    | "country"
                    | "province"
                    | "port"
                    | "town"
                    | "capital"
                    | "republic"
            )
        };
        lexicon::pertains_to(one)
            .filter(|w| !common(w))
            .find_map(lexicon::level_of_place)
    })
}

fn adjectival(r: &Reading, i: usize) -> bool {
    r.child(i, "case").is_none()
        && !matches!(&*r.words[i].relation, "nsubj" | "obj" | "appos" | "conj")
}
