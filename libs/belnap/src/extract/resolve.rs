//! What pronouns and definite phrases stand for: the nearest mention before them that fits in number, gender and
//! animacy, subjects before others.

use std::collections::HashMap;
use std::ops::Range;

use crate::claim::{Claim, ClauseKind, Polarity, Term, TermKind};
use crate::lexicon::{self, Kinds};

/// How many mentions back a pronoun looks.
const REACH: usize = 40;
/// How many sentences back.
const SENTENCES: usize = 4;

/// What people do and what companies do as often, so that "Acme is a maker of robots" does not make Acme a person.
const TRADES: &[&str] = &[
    "bottler",
    "brewer",
    "broker",
    "builder",
    "buyer",
    "carrier",
    "competitor",
    "contractor",
    "customer",
    "dealer",
    "designer",
    "developer",
    "distributor",
    "employer",
    "exporter",
    "holder",
    "importer",
    "insurer",
    "investor",
    "landlord",
    "leader",
    "lender",
    "maker",
    "manufacturer",
    "member",
    "merchant",
    "operator",
    "owner",
    "partner",
    "pioneer",
    "processor",
    "producer",
    "provider",
    "publisher",
    "retailer",
    "rival",
    "seller",
    "shareholder",
    "sponsor",
    "supplier",
    "tenant",
    "trader",
    "vendor",
    "wholesaler",
    "winner",
];

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Gender {
    #[default]
    Unknown,
    Male,
    Female,
}

/// What the text has said about a name.
#[derive(Debug, Clone, Default)]
struct Profile {
    kinds: Option<Kinds>,
    gender: Gender,
    nouns: Vec<String>,
}

#[derive(Debug, Clone)]
struct Mention {
    term: Term,
    sentence: usize,
    subject: bool,
}

/// Fills in antecedents, from the first claim to the last.
pub(crate) fn resolve(text: &str, claims: &mut [Claim]) {
    let mut profiles: HashMap<String, Profile> = HashMap::new();
    for claim in claims.iter() {
        learn(&mut profiles, claim);
    }
    let mut mentions: Vec<Mention> = Vec::new();
    let mut known: HashMap<Range<usize>, Option<Term>> = HashMap::new();
    let mut from = 0;
    while from < claims.len() {
        let sentence = claims[from].sentence;
        let to = from
            + claims[from..]
                .iter()
                .take_while(|c| c.sentence == sentence)
                .count();
        collect(&mut mentions, &claims[from..to]);
        for claim in &mut claims[from..to] {
            let parts: Vec<Range<usize>> = [Some(&claim.subject), claim.object.as_ref()]
                .into_iter()
                .flatten()
                .map(|t| t.span.clone())
                .collect();
            let terms = std::iter::once(&mut claim.subject)
                .chain(claim.object.as_mut())
                .chain(claim.arguments.iter_mut().map(|a| &mut a.term));
            for term in terms {
                if term.antecedent.is_some()
                    || !matches!(term.kind, TermKind::Pronoun | TermKind::Common)
                {
                    continue;
                }
                let found = known
                    .entry(term.span.clone())
                    .or_insert_with(|| {
                        antecedent(text, term, sentence, &parts, &mentions, &mut profiles)
                    })
                    .clone();
                term.antecedent = found.filter(|f| f.span != term.span).map(Box::new);
                // What stands for a name passes it on.
                if let Some(m) = mentions
                    .iter_mut()
                    .rev()
                    .take(REACH)
                    .find(|m| m.term.span == term.span)
                {
                    m.term.antecedent = term.antecedent.clone();
                }
            }
        }
        from = to;
    }
}

fn key(term: &Term) -> String {
    term.text.to_lowercase()
}

fn learn(profiles: &mut HashMap<String, Profile>, claim: &Claim) {
    let subject = claim.subject.referent();
    if subject.kind != TermKind::Name || claim.polarity == Polarity::Negative {
        return;
    }
    let person_verb = matches!(
        claim.predicate.lemma.as_str(),
        "bear" | "die" | "marry" | "retire" | "graduate"
    ) && (claim.predicate.passive || claim.predicate.lemma != "bear");
    let noun = match claim.predicate.words.as_slice() {
        [be] if be == "be" => claim
            .object
            .as_ref()
            .filter(|o| o.kind == TermKind::Common)
            .map(|o| o.head.clone()),
        [be, .., _] if be == "be" && claim.predicate.lemma != "be" => {
            Some(claim.predicate.lemma.clone())
        }
        _ => None,
    };
    let profile = profiles.entry(key(subject)).or_default();
    if person_verb {
        profile.kinds = Some(Kinds::PERSON);
    }
    if let Some(noun) = noun {
        let kinds = lexicon::kind_of_noun(&noun);
        let told = !kinds.is_empty() && !TRADES.contains(&noun.as_str());
        if profile.kinds.is_none() && told {
            profile.kinds = Some(kinds);
        }
        profile.gender = match noun.as_str() {
            "man" | "son" | "father" | "brother" | "husband" | "king" | "actor" | "businessman" => {
                Gender::Male
            }
            "woman" | "daughter" | "mother" | "sister" | "wife" | "queen" | "actress"
            | "businesswoman" => Gender::Female,
            _ => profile.gender,
        };
        profile.nouns.push(noun);
    }
}

/// The mentions of a sentence's claims, in the order of the text.
fn collect(mentions: &mut Vec<Mention>, claims: &[Claim]) {
    let mut fresh: Vec<Mention> = Vec::new();
    for claim in claims {
        let own = std::iter::once((&claim.subject, true))
            .chain(claim.object.iter().map(|o| (o, false)))
            .chain(claim.arguments.iter().map(|a| (&a.term, false)));
        for (term, subject) in own {
            if !matches!(term.kind, TermKind::Name | TermKind::Common) || term.span.is_empty() {
                continue;
            }
            let subject = subject
                && !claim.predicate.inverted
                && matches!(
                    claim.kind,
                    ClauseKind::Verbal
                        | ClauseKind::Copular
                        | ClauseKind::Existential
                        | ClauseKind::Possessive
                );
            match fresh.iter_mut().find(|m| m.term.span == term.span) {
                Some(m) => {
                    m.subject |= subject;
                    if m.term.antecedent.is_none() {
                        m.term.antecedent = term.antecedent.clone();
                    }
                }
                None => fresh.push(Mention {
                    term: term.clone(),
                    sentence: claim.sentence,
                    subject,
                }),
            }
        }
    }
    fresh.sort_by_key(|m| m.term.span.start);
    mentions.extend(fresh);
}

#[derive(Debug, Clone, Copy)]
struct Wanted {
    person: Option<bool>,
    plural: Option<bool>,
    gender: Gender,
    possessive: bool,
}

fn wanted(word: &str) -> Option<Wanted> {
    let of = |person, plural, gender, possessive| {
        Some(Wanted {
            person,
            plural,
            gender,
            possessive,
        })
    };
    match word {
        "he" | "him" | "himself" => of(Some(true), Some(false), Gender::Male, false),
        "his" => of(Some(true), Some(false), Gender::Male, true),
        "she" | "hers" | "herself" => of(Some(true), Some(false), Gender::Female, false),
        "her" => of(Some(true), Some(false), Gender::Female, true),
        "it" | "itself" => of(Some(false), Some(false), Gender::Unknown, false),
        "its" => of(Some(false), Some(false), Gender::Unknown, true),
        "they" | "them" | "themselves" => of(None, Some(true), Gender::Unknown, false),
        "their" | "theirs" => of(None, Some(true), Gender::Unknown, true),
        _ => None,
    }
}

fn antecedent(
    text: &str,
    term: &Term,
    sentence: usize,
    parts: &[Range<usize>],
    mentions: &[Mention],
    profiles: &mut HashMap<String, Profile>,
) -> Option<Term> {
    if term.kind == TermKind::Common {
        return definite(text, term, sentence, mentions, profiles);
    }
    let wanted = wanted(&term.text.to_lowercase())?;
    let mut best: Option<(i32, &Mention)> = None;
    for (back, m) in mentions
        .iter()
        .rev()
        .filter(|m| m.term.span.start < term.span.start)
        .take(REACH)
        .enumerate()
    {
        if sentence > m.sentence + SENTENCES {
            break;
        }
        // A pronoun is not what it is part of, nor, unless it owns it, a fellow part of its claim.
        if m.term.span.end > term.span.start
            || !wanted.possessive && m.sentence == sentence && parts.contains(&m.term.span)
        {
            continue;
        }
        let referent = m.term.referent();
        let empty = Profile::default();
        let profile = profiles.get(&key(referent)).unwrap_or(&empty);
        let Some(doubt) = misfit(&wanted, referent, profile) else {
            continue;
        };
        let distance = (sentence - m.sentence) as i32 * 8 + (back as i32).min(6) / 2;
        let cost = distance + doubt
            - if m.subject { 8 } else { 0 }
            - if referent.kind == TermKind::Name {
                3
            } else {
                0
            };
        if best.is_none_or(|(c, _)| cost < c) {
            best = Some((cost, m));
        }
    }
    let referent = best?.1.term.referent().clone();
    let profile = profiles.entry(key(&referent)).or_default();
    if wanted.gender != Gender::Unknown {
        profile.gender = wanted.gender;
        profile.kinds = Some(Kinds::PERSON);
    }
    Some(Term {
        antecedent: None,
        ..referent
    })
}

/// How ill a mention fits, or none if it cannot be meant.
fn misfit(wanted: &Wanted, term: &Term, profile: &Profile) -> Option<i32> {
    let mut doubt = 0;
    let kinds = match (term.kind, profile.kinds) {
        (_, Some(kinds)) => kinds,
        (TermKind::Common, None) => lexicon::kind_of_noun(&term.head),
        _ => name_kinds(&term.text),
    };
    let person = (!kinds.is_empty()).then(|| kinds.meets(Kinds::PERSON));
    match (wanted.person, person) {
        (Some(true), Some(false)) => return None,
        (Some(false), Some(true)) if !kinds.meets(Kinds::GROUP.or(Kinds::ORGANISATION)) => {
            return None;
        }
        (Some(true), None) => {
            // Names of people are seldom one word or longer than three.
            doubt += if (2..=3).contains(&term.words.len()) {
                0
            } else {
                3
            };
        }
        (Some(false), None) => doubt += if term.kind == TermKind::Name { 1 } else { 0 },
        _ => {}
    }
    if wanted.gender != Gender::Unknown
        && profile.gender != Gender::Unknown
        && wanted.gender != profile.gender
    {
        return None;
    }
    let group = kinds.meets(Kinds::GROUP.or(Kinds::ORGANISATION));
    let plural = term.kind == TermKind::Common
        && term.text.split_whitespace().last().is_some_and(|w| {
            w.ends_with('s') && !w.ends_with("ss") && w.to_lowercase() != term.head
        });
    match wanted.plural {
        Some(true) if !plural => doubt += if group || person.is_none() { 4 } else { 8 },
        Some(false) if plural => return None,
        _ => {}
    }
    Some(doubt)
}

/// What a name gives away about its bearer.
fn name_kinds(text: &str) -> Kinds {
    let last = text
        .split([' ', ','])
        .find(|w| !w.is_empty())
        .map(str::to_lowercase);
    let title = last.as_deref().is_some_and(|w| {
        matches!(
            w,
            "mr" | "mr." | "mrs" | "mrs." | "ms" | "ms." | "dr" | "dr." | "sir"
        )
    });
    if title {
        return Kinds::PERSON;
    }
    for word in text.split([' ', ',', '(', ')']).filter(|w| !w.is_empty()) {
        let word = word.to_lowercase();
        if matches!(
            word.as_str(),
            "inc"
                | "inc."
                | "corp"
                | "corp."
                | "ltd"
                | "ltd."
                | "llc"
                | "plc"
                | "gmbh"
                | "co."
                | "company"
                | "group"
                | "university"
                | "club"
                | "f.c."
                | "fc"
                | "party"
                | "ministry"
                | "bank"
        ) {
            return Kinds::ORGANISATION;
        }
        if matches!(
            word.as_str(),
            "airport"
                | "county"
                | "street"
                | "river"
                | "museum"
                | "stadium"
                | "tower"
                | "hall"
                | "island"
        ) {
            return Kinds::PLACE;
        }
    }
    if lexicon::level_of_place(&text.to_lowercase()).is_some() {
        return Kinds::PLACE;
    }
    Kinds::default()
}

/// "the company" after a name that the text has called a company.
fn definite(
    text: &str,
    term: &Term,
    sentence: usize,
    mentions: &[Mention],
    profiles: &HashMap<String, Profile>,
) -> Option<Term> {
    let before = text.get(..term.span.start)?.trim_end();
    let word = before
        .rsplit(|c: char| !c.is_alphabetic())
        .next()?
        .to_lowercase();
    if !matches!(word.as_str(), "the" | "this" | "that") || term.words.len() != 1 {
        return None;
    }
    let company = matches!(
        term.head.as_str(),
        "company" | "firm" | "corporation" | "group" | "business" | "organization" | "organisation"
    );
    mentions
        .iter()
        .rev()
        .filter(|m| m.term.span.end < term.span.start && m.sentence <= sentence)
        .take(REACH)
        .map(|m| m.term.referent())
        .find(|r| {
            r.kind == TermKind::Name
                && match profiles.get(&key(r)) {
                    Some(p) if !p.nouns.is_empty() => p.nouns.contains(&term.head),
                    Some(p) if p.kinds.is_some() => {
                        company && p.kinds.is_some_and(|k| k.meets(Kinds::ORGANISATION))
                    }
                    _ => company && name_kinds(&r.text).meets(Kinds::ORGANISATION),
                }
        })
        .map(|r| Term {
            antecedent: None,
            ..r.clone()
        })
}
