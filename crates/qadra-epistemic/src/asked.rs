//! What a question asks of the facts: which predicates, which side of them, which years.

use chrono::Datelike;
use uuid::Uuid;

use crate::lexicon::{AskedConcept, Concept, concept_of, concepts_asked, name_year, related};
use crate::object::Object;
use crate::question::{Match, Mention, Question, covered, predicate_overlap};
use crate::text::{Word, is_generic, stem};
use crate::triple::Triple;

/// The form of the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Who,
    When,
    Where,
    HowMany,
    Why,
    YesNo,
    What,
    /// A phrase, an order, a greeting.
    Other,
}

pub(crate) struct Asked<'a> {
    pub form: Form,
    /// Rows of the lexicon that the question asks for, with the indexes of the words that say so.
    pub concepts: Vec<AskedConcept>,
    pub years: Vec<i32>,
    /// Words outside mentions, with their index in the question.
    pub free: Vec<(usize, &'a Word)>,
    pub mentions: &'a [Mention],
    /// Stems of the free words; an order such as "list" is left blank.
    stems: Vec<String>,
    role: Option<Role>,
    /// Who acts and who is acted on, when the question names both.
    pair: Option<(Uuid, Uuid)>,
}

/// Which end of an action the one mentioned node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Agent,
    Patient,
}

impl<'a> Asked<'a> {
    /// `question` is the question itself; where it is elliptical ("and Microsoft?") what is asked comes from the one
    /// that it continues.
    pub(crate) fn read(question: &'a Question, mentions: &'a [Mention]) -> Self {
        let own = Self::of(question, mentions);
        let source = question.asking(|candidate| {
            let asked = Asked::of(candidate, &[]);
            !asked.concepts.is_empty()
                || asked.content().next().is_some() && !std::ptr::eq(candidate, question)
        });
        if !own.concepts.is_empty() || std::ptr::eq(source, question) {
            return own;
        }
        let borrowed = Self::of(source, &[]);
        Self {
            form: borrowed.form,
            // Their words are not words of this question.
            concepts: borrowed
                .concepts
                .into_iter()
                .map(|asked| AskedConcept {
                    words: Vec::new(),
                    ..asked
                })
                .collect(),
            stems: borrowed.stems,
            years: if own.years.is_empty() {
                borrowed.years
            } else {
                own.years
            },
            role: None,
            pair: None,
            ..own
        }
    }

    fn of(question: &'a Question, mentions: &'a [Mention]) -> Self {
        let words = question.words();
        let inside = covered(words, mentions);
        let count = words.len();
        let free: Vec<(usize, &Word)> = words
            .iter()
            .enumerate()
            .filter(|(at, _)| {
                (*at < EDGE || at + EDGE >= count) && !inside.get(*at).copied().unwrap_or(false)
            })
            .collect();
        let stems = stems_of(free.iter().map(|(_, word)| *word));
        let concepts = concepts_asked(&stems)
            .into_iter()
            .map(|asked| AskedConcept {
                words: asked
                    .words
                    .iter()
                    .filter_map(|at| free.get(*at).map(|(word, _)| *word))
                    .collect(),
                ..asked
            })
            .collect();
        Self {
            form: form_of(words),
            concepts,
            years: free.iter().filter_map(|(_, word)| word.year()).collect(),
            role: role_of(words, &inside, mentions),
            pair: pair_of(words, &inside, mentions),
            free,
            stems,
            mentions,
        }
    }

    /// Words that carry meaning: outside mentions, no function word, no address.
    pub(crate) fn content(&self) -> impl Iterator<Item = (usize, &'a Word)> + '_ {
        self.free
            .iter()
            .copied()
            .filter(|(_, word)| !word.is_stop() && !is_generic(&word.plain))
    }

    pub(crate) fn has_word(&self, any: &[&str]) -> bool {
        self.free
            .iter()
            .any(|(_, word)| any.contains(&word.plain.as_str()))
    }

    pub(crate) fn says_stem(&self, stem: &str) -> bool {
        self.stems.iter().any(|known| known == stem)
    }

    pub(crate) fn mentioned(&self, node: Uuid) -> bool {
        self.mentions.iter().any(|mention| mention.node_id == node)
    }

    /// Whether the question is about what one node does to the other.
    pub(crate) fn names_pair(&self) -> bool {
        self.pair.is_some()
    }

    /// Whether the question asks how two or more nodes hang together ("How is A related to B?", "A and B?").
    pub(crate) fn asks_for_connection(&self, question: &Question) -> bool {
        self.has_several()
            && (self.has_word(RELATION_WORDS)
                || (self.concepts.is_empty()
                    && !self.lists_mentions(question)
                    && self.content().next().is_none()))
    }

    /// Whether what is asked lies between two or more nodes rather than around each of them.
    pub(crate) fn connects(&self, question: &Question) -> bool {
        self.has_several() && (self.names_pair() || self.asks_for_connection(question))
    }

    fn has_several(&self) -> bool {
        self.mentions
            .first()
            .is_some_and(|first| self.mentions.iter().any(|other| other.start != first.start))
    }

    /// Whether the mentions are a list ("Apple and Microsoft"), each asked about on its own.
    pub(crate) fn lists_mentions(&self, question: &Question) -> bool {
        coordinated(question.words(), self.mentions)
    }

    /// How well a statement's predicate answers the question, 0 to 1.
    pub(crate) fn predicate_match(&self, triple: &Triple) -> f32 {
        if !self.year_fits(triple) || !self.role_fits(triple) {
            return 0.0;
        }
        let is_value = is_value(&triple.object);
        let concept = concept_of(&triple.predicate, is_value);
        let longest = self
            .concepts
            .iter()
            .map(|asked| asked.specificity)
            .max()
            .unwrap_or(0);
        if let Some(concept) = concept {
            let most = self
                .concepts
                .iter()
                .filter(|asked| {
                    std::ptr::eq(asked.concept, concept)
                        || (!is_value && related(asked.concept, concept))
                })
                .map(|asked| asked.specificity)
                .max();
            if let Some(specificity) = most {
                return match self.form {
                    // The time of a statement answers "when" only where no statement has it as its object.
                    Form::When if !is_value => {
                        if concept.says.contains("{when}") || triple.has_validity() {
                            0.7
                        } else {
                            0.0
                        }
                    }
                    _ if specificity == longest => 1.0,
                    _ => 0.8,
                };
            }
        }
        let fits = match self.form {
            Form::Who => !is_value,
            Form::When => is_value,
            Form::HowMany => is_value || concept.is_none(),
            _ => true,
        };
        if fits {
            0.95 * predicate_overlap(&triple.predicate, &self.stems)
        } else {
            0.0
        }
    }

    /// A year in the question leaves out what is said of other years.
    fn year_fits(&self, triple: &Triple) -> bool {
        if self.years.is_empty() {
            return true;
        }
        if let Some(year) = name_year(&triple.predicate) {
            return self.years.contains(&year);
        }
        // An event happened in the year in which it became true; a state goes on.
        let event = concept_of(&triple.predicate, is_value(&triple.object))
            .is_some_and(|concept| concept.says.contains("{when}"));
        if let (true, Some(from)) = (event, triple.valid_from) {
            return self.years.contains(&from.year());
        }
        if object_year(&triple.object).is_some_and(|year| self.years.contains(&year)) {
            return true;
        }
        !triple.has_validity() || self.years.iter().any(|year| triple.holds_in_year(*year))
    }

    /// Whether the statement is about the very year that the question names.
    pub(crate) fn year_answered(&self, triple: &Triple, year: i32) -> bool {
        name_year(&triple.predicate) == Some(year)
            || object_year(&triple.object) == Some(year)
            || (triple.has_validity() && triple.holds_in_year(year))
    }

    /// Whether who acts on whom in the statement is what the question has in mind.
    fn role_fits(&self, triple: &Triple) -> bool {
        let Object::Node { id: object, .. } = triple.object else {
            return true;
        };
        let Some(voice) = concept_of(&triple.predicate, false).and_then(voice_of) else {
            return true;
        };
        let (agent, patient) = match voice {
            Role::Agent => (triple.subject.id, object),
            Role::Patient => (object, triple.subject.id),
        };
        match (self.role, self.pair) {
            (_, Some((asked_agent, asked_patient))) => {
                agent == asked_agent || patient == asked_patient
            }
            (Some(Role::Agent), None) => self.mentioned(agent),
            (Some(Role::Patient), None) => self.mentioned(patient),
            (None, None) => true,
        }
    }
}

pub(crate) fn is_value(object: &Object) -> bool {
    matches!(object, Object::Number { .. } | Object::Date(_))
}

pub(crate) fn object_year(object: &Object) -> Option<i32> {
    match object {
        Object::Number { value, unit: None } => value.year(),
        Object::Date(date) => Some(date.year()),
        _ => None,
    }
}

/// Stems of the words; an order ("list all facts", "name its products") asks for no predicate of that name.
pub(crate) fn stems_of<'w>(words: impl Iterator<Item = &'w Word>) -> Vec<String> {
    words
        .map(|word| {
            if ORDERS.contains(&word.plain.as_str()) {
                String::new()
            } else {
                stem(&word.plain)
            }
        })
        .collect()
}

/// The subject's role in a row's sentence; rows that describe rather than act have none.
pub(crate) fn voice_of(concept: &'static Concept) -> Option<Role> {
    match concept.noun {
        "acquisitions" | "subsidiaries" | "customers" | "products" | "investments" => {
            Some(Role::Agent)
        }
        "acquirer" | "parent company" | "suppliers" | "makers" => Some(Role::Patient),
        "founders" if concept.says.contains(" by ") => Some(Role::Patient),
        "founders" => Some(Role::Agent),
        _ => None,
    }
}

/// Reads the role of the only mentioned node from the question's grammar; with two nodes either order is asked.
fn role_of(words: &[Word], inside: &[bool], mentions: &[Mention]) -> Option<Role> {
    let first = mentions.first()?;
    if first.matched == Match::Context || mentions.iter().any(|other| other.start != first.start) {
        return None;
    }
    let at = inside.iter().position(|covered| *covered)?;
    let outside = |index: usize| !inside.get(index).copied().unwrap_or(false);
    for (index, word) in words.iter().enumerate() {
        if outside(index)
            && let Some((_, role)) = NOUN_ROLES.iter().find(|(noun, _)| *noun == word.plain)
        {
            return Some(*role);
        }
    }
    let verb = words.iter().enumerate().position(|(index, word)| {
        outside(index) && ACTIONS.contains(&stem(&word.plain).as_str())
    })?;
    let before_mention = |names: &[&str]| {
        words
            .iter()
            .take(at)
            .any(|word| names.contains(&word.plain.as_str()))
    };
    let before_verb = |names: &[&str]| {
        words
            .iter()
            .take(verb)
            .any(|word| names.contains(&word.plain.as_str()))
    };
    if words.get(verb + 1).is_some_and(|word| word.plain == "by")
        || words.last().is_some_and(|word| word.plain == "by")
    {
        return Some(if at > verb {
            Role::Agent
        } else {
            Role::Patient
        });
    }
    if before_mention(&["do", "does", "did", "has", "have"]) && at < verb {
        return Some(Role::Agent);
    }
    if before_verb(&["was", "were", "been", "is", "are"]) {
        let progressive = words
            .get(verb)
            .is_some_and(|word| word.plain.ends_with("ing"));
        return Some(if progressive && at < verb {
            Role::Agent
        } else {
            Role::Patient
        });
    }
    Some(if at > verb {
        Role::Patient
    } else {
        Role::Agent
    })
}

/// Agent and patient of a question that names two nodes around an action ("Did A acquire B?", "Is B owned by A?").
fn pair_of(words: &[Word], inside: &[bool], mentions: &[Mention]) -> Option<(Uuid, Uuid)> {
    let [first, second] = mentions else {
        return None;
    };
    if first.end > second.start || first.matched == Match::Context || coordinated(words, mentions) {
        return None;
    }
    let free = || {
        words
            .iter()
            .zip(inside)
            .filter(|(_, inside)| !**inside)
            .map(|(word, _)| word)
    };
    let noun = free().find_map(|word| NOUN_ROLES.iter().find(|(noun, _)| *noun == word.plain));
    if let Some((_, role)) = noun {
        return Some(match role {
            Role::Patient => (first.node_id, second.node_id),
            Role::Agent => (second.node_id, first.node_id),
        });
    }
    free().find(|word| ACTIONS.contains(&stem(&word.plain).as_str()))?;
    let by = free()
        .any(|word| word.plain == "by" && word.start >= first.end && word.end <= second.start);
    Some(if by {
        (second.node_id, first.node_id)
    } else {
        (first.node_id, second.node_id)
    })
}

/// Whether nothing but "and", "or" and the like stands between two neighbouring mentions.
fn coordinated(words: &[Word], mentions: &[Mention]) -> bool {
    mentions.windows(2).any(|pair| match pair {
        [left, right] if left.end <= right.start && left.matched != Match::Context => {
            let mut between = words
                .iter()
                .filter(|word| word.start >= left.end && word.end <= right.start);
            between.all(|word| {
                matches!(
                    word.plain.as_str(),
                    "and" | "or" | "vs" | "versus" | "the" | "than" | "with" | "to"
                )
            })
        }
        _ => false,
    })
}

fn form_of(words: &[Word]) -> Form {
    for (at, word) in words.iter().enumerate().take(40) {
        let next = words
            .get(at + 1)
            .map(|next| next.plain.as_str())
            .unwrap_or_default();
        match word.plain.as_str() {
            "who" | "whom" | "whose" | "whos" => return Form::Who,
            "when" | "whens" => return Form::When,
            "where" | "wheres" => return Form::Where,
            "what" | "which" if next == "year" || next == "date" => return Form::When,
            "how" if matches!(next, "many" | "much" | "old" | "big" | "large") => {
                return Form::HowMany;
            }
            "how" if matches!(next, "about") => {}
            "why" | "how" => return Form::Why,
            "what" | "which" | "whats" => return Form::What,
            _ => {}
        }
    }
    match words.first().map(|word| word.plain.as_str()) {
        Some(
            "is" | "was" | "are" | "were" | "did" | "does" | "do" | "has" | "have" | "had" | "isnt"
            | "doesnt" | "didnt",
        ) => Form::YesNo,
        _ => Form::Other,
    }
}

/// Words that ask for what lies between two nodes.
const RELATION_WORDS: &[&str] = &[
    "relate",
    "related",
    "relates",
    "relation",
    "relations",
    "relationship",
    "relationships",
    "connect",
    "connected",
    "connects",
    "connection",
    "connections",
    "link",
    "linked",
    "links",
    "tie",
    "ties",
    "tied",
    "between",
    "common",
    "path",
    "chain",
];

/// A long text's first and last words are where it asks.
const EDGE: usize = 40;

const ORDERS: &[&str] = &[
    "list",
    "name",
    "show",
    "tell",
    "give",
    "say",
    "describe",
    "summarize",
    "summarise",
];

/// Stems of verbs whose two ends must not be confused.
pub(crate) const ACTIONS: &[&str] = &[
    "acquir",
    "buy",
    "purchas",
    "own",
    "supply",
    "found",
    "cofound",
    "mak",
    "produc",
    "invest",
    "manufactur",
    "sell",
    "build",
    "control",
    "creat",
    "establish",
];

const NOUN_ROLES: &[(&str, Role)] = &[
    ("supplier", Role::Patient),
    ("suppliers", Role::Patient),
    ("customer", Role::Agent),
    ("customers", Role::Agent),
    ("client", Role::Agent),
    ("clients", Role::Agent),
    ("owner", Role::Patient),
    ("owners", Role::Patient),
    ("parent", Role::Patient),
    ("subsidiary", Role::Agent),
    ("subsidiaries", Role::Agent),
    ("acquisition", Role::Agent),
    ("acquisitions", Role::Agent),
    ("product", Role::Agent),
    ("products", Role::Agent),
    ("acquirer", Role::Patient),
    ("founder", Role::Patient),
    ("founders", Role::Patient),
    ("maker", Role::Patient),
    ("manufacturer", Role::Patient),
];
