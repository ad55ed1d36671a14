//! Where a sentence of the text and the evidence exclude each other.

use ud::Upos;

use super::compare::Comparison;
use super::measures::{Fit, Kind as MeasureKind};
use super::reading::Reading;
use super::roles;
use super::vocabulary::Place;
use super::words;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// One says it, the other denies it.
    Polarity,
    /// Increase and decrease, above and below.
    Opposite,
    /// Numbers or dates of the same thing.
    Number,
    /// Another name in the same role.
    Name,
    /// Another country, of which a thing has one.
    Place,
    /// Another thing in the same role.
    Filler,
    /// It cannot be both: a person, a film.
    Sort,
    /// Mr and Ms.
    Title,
}

#[derive(Debug, Clone)]
pub(super) struct Conflict {
    pub kind: Kind,
    /// Token of the claim's sentence.
    pub token: usize,
    pub against: Place,
    /// 0 to 1: how well the surroundings match where the two disagree.
    pub oppose: f32,
    /// The same for the best place that agrees.
    pub support: f32,
}

impl Conflict {
    /// What the claim gives as someone's word or expectation is held against the same person's word, or against an
    /// expectation, so that like is compared with like.
    pub(super) fn alike_in_stance(&self, c: &Comparison<'_>) -> bool {
        let theirs = &c.readings[self.against.0];
        let above = |r: &Reading, from: usize, test: fn(&str) -> bool| {
            let mut at = r.words[from].head;
            for _ in 0..12 {
                let i = at?;
                if test(&r.words[i].key) {
                    return Some(i);
                }
                at = r.words[i].head;
            }
            None
        };
        if above(c.claim, self.token, words::expects).is_some() {
            let future = |w: &super::reading::Word| {
                words::expects(&w.key) || w.form == "will" || w.form == "'ll"
            };
            return theirs.words.iter().any(future);
        }
        above(c.claim, self.token, words::tells)
            .and_then(|v| c.claim.child(v, "nsubj"))
            .is_some_and(|who| c.known(who))
    }
}

pub(super) fn find(c: &Comparison<'_>) -> Vec<Conflict> {
    let mut found = Vec::new();
    for (p, w) in c.claim.words.iter().enumerate() {
        if w.hedged || (w.negative && w.measure.is_some()) {
            continue;
        }
        if let Some(m) = w.measure {
            if c.claim.measures[m].tokens.start == p {
                found.extend(number(c, p, m));
            }
        } else if w.content {
            found.extend(word(c, p));
        }
    }
    found.extend(roles::names(c));
    found.extend(roles::fillers(c));
    found.extend(roles::places(c));
    found.extend(roles::sorts(c));
    found.extend(titles(c));
    found
}

/// Best opposing place, and the best score of an agreeing one.
#[derive(Default)]
struct Best {
    oppose: Option<(f32, Place, bool)>,
    support: f32,
}

fn word(c: &Comparison<'_>, p: usize) -> Option<Conflict> {
    let w = &c.claim.words[p];
    let near = c.claim.distances(p);
    let mut best = Best::default();
    for (at, b) in c.hits(p) {
        let reading = &c.readings[at.0];
        let other = &reading.words[at.1];
        let same = if b.opposite > b.same { 0.0 } else { b.same };
        let mismatch = w.negative != other.negative && (w.denied_here || other.denied_here);
        let (support, oppose, polarity) = if mismatch {
            let said = w.upos == other.upos || same >= 1.0;
            // "Not very expensive" does not deny what "expensive" says.
            let measured = |r: &Reading, i: usize| {
                r.children(i).iter().any(|&k| {
                    matches!(
                        r.words[k].form.as_str(),
                        "very"
                            | "too"
                            | "so"
                            | "that"
                            | "really"
                            | "entirely"
                            | "completely"
                            | "always"
                            | "as"
                            | "necessarily"
                    ) && matches!(&*r.words[k].relation, "advmod")
                })
            };
            let degree = measured(c.claim, p) || measured(reading, at.1);
            let oppose = if same >= 0.85 && said && !degree && whole_denial(c, &near, at) {
                same
            } else {
                0.0
            };
            (0.5 * b.opposite, oppose, true)
        } else {
            (same, b.opposite, false)
        };
        if support == 0.0 && oppose == 0.0 {
            continue;
        }
        let alike = c.alike(p, &near, at, &[]);
        best.support = best.support.max(support * alike);
        let mut score = oppose * alike;
        if score > 0.0 && !core_matches(c, p, at) {
            score = 0.0;
        }
        if reading.question {
            score *= 0.5;
        }
        if other.hedged {
            score *= 0.8;
        }
        if score > best.oppose.map_or(0.0, |o| o.0) {
            best.oppose = Some((score, at, polarity));
        }
    }
    let (oppose, against, polarity) = best.oppose?;
    let kind = if polarity {
        Kind::Polarity
    } else {
        Kind::Opposite
    };
    Some(Conflict {
        kind,
        token: p,
        against,
        oppose,
        support: best.support,
    })
}

/// The predicate that a date or an amount belongs to.
fn claim_verb(r: &Reading, mut at: usize) -> Option<usize> {
    for _ in 0..6 {
        if r.words[at].upos == Upos::Verb {
            return Some(at);
        }
        at = r.words[at].head?;
    }
    None
}

/// What is denied on one side is all spoken of on the other. "No album by A" does not deny "an album by B".
fn whole_denial(c: &Comparison<'_>, near: &[u8], at: Place) -> bool {
    let (s, q) = at;
    let reading = &c.readings[s];
    if reading.words[q].negative {
        let away = reading.distances(q);
        let scope = (0..reading.words.len()).filter(|&u| {
            let w = &reading.words[u];
            let nominal = matches!(w.upos, Upos::Noun | Upos::Propn | Upos::Adj);
            u != q && nominal && w.negative && w.content && away[u] <= 2
        });
        let (mut all, mut met) = (0, 0);
        for u in scope {
            all += 1;
            met += usize::from(c.partner((s, u)).is_some());
        }
        all == 0 || met * 2 >= all
    } else {
        let claim = c.claim;
        (0..claim.words.len())
            .filter(|&t| claim.words[t].negative && claim.words[t].content && near[t] <= 2)
            .all(|t| {
                (s.saturating_sub(1)..=s)
                    .any(|s| c.hits(t).any(|(at, b)| at.0 == s && b.same >= 0.5))
            })
    }
}

/// The argument that a word is said of is near the place in the evidence too: "reducing debt" is not at odds with
/// "expanding the programme".
fn core_matches(c: &Comparison<'_>, p: usize, (s, q): Place) -> bool {
    let claim = c.claim;
    let w = &claim.words[p];
    let by_relation = |names: &[&str]| {
        names.iter().find_map(|n| {
            claim
                .children(p)
                .iter()
                .copied()
                .find(|&k| &*claim.words[k].relation == *n)
        })
    };
    let raised = || {
        // "expects sales to fall": what falls hangs on the verb above.
        let above = w.head.filter(|_| &*w.relation == "xcomp")?;
        claim
            .child(above, "obj")
            .or_else(|| claim.child(above, "nsubj"))
    };
    let core = match w.upos {
        Upos::Verb => by_relation(&["obj", "nsubj"])
            .filter(|&k| claim.words[k].measure.is_none())
            .or_else(raised)
            .or_else(|| {
                by_relation(&["xcomp", "obl"]).filter(|&k| claim.words[k].measure.is_none())
            })
            .or(w.head),
        Upos::Noun => by_relation(&["nmod", "compound", "amod"]).or(w.head),
        _ if claim.child(p, "cop").is_some() => by_relation(&["nsubj"]),
        _ => w.head,
    };
    let Some(core) = core else { return true };
    let k = &claim.words[core];
    if !k.content {
        return true;
    }
    let away = c.readings[s].distances(q);
    c.hits(core)
        .any(|(at, b)| at.0 == s && at.1 != q && b.same >= 0.5 && away[at.1] <= 2)
}

fn number(c: &Comparison<'_>, p: usize, m: usize) -> Option<Conflict> {
    let measure = &c.claim.measures[m];
    let anchor = measure.anchor;
    let near = c.claim.distances(anchor);
    let mut best = Best::default();
    for (s, reading) in c.readings.iter().enumerate() {
        for other in &reading.measures {
            let fit = measure.fit(other);
            if fit == Fit::Apart {
                continue;
            }
            let at = (s, other.anchor);
            let mut alike = c.alike(p, &near, at, &[]);
            if matches!(other.kind, MeasureKind::Date { .. }) && fit == Fit::Unequal {
                // Dates of other things stand in the same sentence.
                let said = match (
                    claim_verb(c.claim, anchor),
                    claim_verb(reading, other.anchor),
                ) {
                    (Some(v), Some(u)) => c.same_at(v, (s, u)),
                    _ => 0.5,
                };
                alike *= 0.7 + 0.3 * said;
            }
            match (measure.event, other.event) {
                (Some(a), Some(b)) if a != b => continue,
                (Some(_), None) if fit == Fit::Unequal => alike *= 0.6,
                (Some(_), Some(_)) => alike = alike.max(0.8),
                (None, Some(_)) if fit == Fit::Unequal => continue,
                _ => {}
            }
            if fit == Fit::Equal {
                best.support = best.support.max(alike.max(0.05));
            } else if alike > best.oppose.map_or(0.0, |o| o.0) {
                best.oppose = Some((alike, (s, other.tokens.start), false));
            }
        }
    }
    let (oppose, against, _) = best.oppose?;
    Some(Conflict {
        kind: Kind::Number,
        token: p,
        against,
        oppose,
        support: best.support,
    })
}

fn titles(c: &Comparison<'_>) -> Vec<Conflict> {
    let title = |r: &Reading, i: usize| {
        let w = r.words.get(i)?;
        match w.form.trim_end_matches('.') {
            "mr" => Some(true),
            "ms" | "mrs" | "miss" => Some(false),
            _ => None,
        }
    };
    let mut found = Vec::new();
    for p in 0..c.claim.words.len() {
        let Some(ours) = title(c.claim, p) else {
            continue;
        };
        let Some(name) = c.claim.words.get(p + 1) else {
            continue;
        };
        let (mut with, mut against) = (0.0, None);
        for (s, reading) in c.readings.iter().enumerate() {
            for i in 0..reading.words.len() {
                if reading
                    .words
                    .get(i + 1)
                    .is_some_and(|w| w.form == name.form)
                {
                    match title(reading, i) {
                        Some(t) if t == ours => with = 1.0,
                        Some(_) => against = Some((s, i)),
                        None => {}
                    }
                }
            }
        }
        if let Some(against) = against {
            found.push(Conflict {
                kind: Kind::Title,
                token: p,
                against,
                oppose: 1.0,
                support: with,
            });
        }
    }
    found
}

/// What a person reads: "the text says 12 million, the answer 15 million".
pub(super) fn reason(c: &Comparison<'_>, conflict: &Conflict, source: &str, text: &str) -> String {
    let (s, q) = conflict.against;
    let reading = &c.readings[s];
    let (ours, theirs) = match (
        &conflict.kind,
        c.claim.words[conflict.token].measure,
        reading.words[q].measure,
    ) {
        (Kind::Number, Some(a), Some(b)) => {
            let (a, b) = (&c.claim.measures[a], &reading.measures[b]);
            let with_unit = |r: &Reading, m: &super::measures::Measure, src: &str| {
                let unit = match &m.kind {
                    MeasureKind::Ordinal { unit, .. }
                        if !m.text(r, src).to_lowercase().starts_with('q') =>
                    {
                        format!(" {unit}")
                    }
                    _ => String::new(),
                };
                format!("{}{unit}", m.text(r, src))
            };
            (with_unit(c.claim, a, text), with_unit(reading, b, source))
        }
        _ => {
            let cut = |r: &Reading, i: usize, src: &str| {
                src.get(r.words[i].span.clone()).unwrap_or("").to_owned()
            };
            (cut(c.claim, conflict.token, text), cut(reading, q, source))
        }
    };
    match conflict.kind {
        Kind::Polarity if c.claim.words[conflict.token].negative => {
            format!("the text says “{theirs}”, which the answer denies")
        }
        Kind::Polarity => format!("the text denies “{theirs}”, which the answer says"),
        _ => format!("the text says {theirs}, the answer {ours}"),
    }
}
