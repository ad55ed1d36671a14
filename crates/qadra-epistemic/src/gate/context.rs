//! The context triples, indexed by the names that an answer may use for their ends.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use uuid::Uuid;

use crate::lexicon::{Concept, Name, concept_of, name};
use crate::object::Object;
use crate::question::key_of;
use crate::text::{Word, join_key, normalize_label, predicate_words, stem, words};
use crate::triple::Triple;

/// A name's number in the index.
pub(super) type Entity = usize;

pub(super) struct Context<'t> {
    pub triples: &'t [Triple],
    pub facts: Vec<Fact>,
    labels: Vec<String>,
    /// By lookup key.
    named: HashMap<String, Vec<Entity>>,
    /// Single words that belong to one label only ("Cook").
    short: HashMap<String, Entity>,
    /// The statements of each entity.
    around: HashMap<Entity, Vec<usize>>,
    /// What the answer is about before it says so: the nodes with aliases, or the only subject there is.
    pub about: Vec<Entity>,
    /// Names with an alias in lower case.
    lower: HashSet<Entity>,
    /// Stems of all words of labels, predicates and sources.
    known: HashSet<String>,
}

/// What the gate needs to know of one triple.
pub(super) struct Fact {
    pub subject: Entity,
    /// The object, where it is a name.
    pub object: Option<Entity>,
    pub concept: Option<&'static Concept>,
    /// Words by which the lexicon's row is said.
    pub vocabulary: Option<&'static HashSet<String>>,
    pub name: Rc<Name>,
    /// Stems of a text object's words.
    pub text: HashSet<String>,
}

impl<'t> Context<'t> {
    /// `aliases` are other names of nodes of the triples.
    pub(super) fn of(triples: &'t [Triple], aliases: &[(String, Uuid)]) -> Self {
        let mut context = Self {
            triples,
            facts: Vec::with_capacity(triples.len()),
            labels: Vec::new(),
            named: HashMap::new(),
            short: HashMap::new(),
            around: HashMap::new(),
            about: Vec::new(),
            lower: HashSet::new(),
            known: HashSet::new(),
        };
        let mut nodes: HashMap<Uuid, Entity> = HashMap::new();
        let mut texts: HashMap<String, Entity> = HashMap::new();
        let mut sources: HashSet<&str> = HashSet::new();
        for (at, triple) in triples.iter().enumerate() {
            let subject = context.node(&mut nodes, triple.subject.id, &triple.subject.label);
            let mut text = HashSet::new();
            let object = match &triple.object {
                Object::Node { id, label } => Some(context.node(&mut nodes, *id, label)),
                Object::Text(label) => {
                    text = words(label, MAX_TEXT_WORDS)
                        .iter()
                        .map(|word| stem(&word.plain))
                        .collect();
                    context.known.extend(text.iter().cloned());
                    let is_name = text.len() <= MAX_NAME_WORDS;
                    is_name.then(|| {
                        *texts
                            .entry(normalize_label(label))
                            .or_insert_with(|| context.name(label))
                    })
                }
                _ => None,
            };
            let is_value = crate::asked::is_value(&triple.object);
            let concept = concept_of(&triple.predicate, is_value);
            let predicate: Vec<String> = predicate_words(&triple.predicate)
                .iter()
                .map(|word| stem(word))
                .collect();
            context.known.extend(predicate);
            if let Some(source) = triple.source.as_deref()
                && sources.insert(source)
            {
                let said = words(source, MAX_TEXT_WORDS);
                context
                    .known
                    .extend(said.iter().map(|word| stem(&word.plain)));
            }
            for entity in [Some(subject), object].into_iter().flatten() {
                context.around.entry(entity).or_default().push(at);
            }
            context.facts.push(Fact {
                subject,
                object,
                concept,
                vocabulary: concept.and_then(super::fit::vocabulary),
                name: name(&triple.predicate),
                text,
            });
        }
        for (alias, node) in aliases {
            let key = normalize_label(alias);
            if let Some(entity) = nodes.get(node) {
                if !context.about.contains(entity) {
                    context.about.push(*entity);
                }
                let named = context.named.entry(key).or_default();
                if !named.contains(entity) {
                    named.push(*entity);
                }
                let said = words(alias, MAX_TEXT_WORDS);
                context
                    .known
                    .extend(said.iter().map(|word| stem(&word.plain)));
                if said
                    .iter()
                    .all(|word| word.surface.chars().all(|letter| !letter.is_uppercase()))
                {
                    context.lower.insert(*entity);
                }
            }
        }
        if context.about.is_empty() {
            let subjects: HashSet<Entity> = context.facts.iter().map(|fact| fact.subject).collect();
            if subjects.len() == 1 {
                context.about.extend(subjects);
            }
        }
        context
    }

    fn node(&mut self, nodes: &mut HashMap<Uuid, Entity>, id: Uuid, label: &str) -> Entity {
        if let Some(entity) = nodes.get(&id) {
            return *entity;
        }
        let entity = self.name(label);
        nodes.insert(id, entity);
        entity
    }

    fn name(&mut self, label: &str) -> Entity {
        let entity = self.labels.len();
        self.labels.push(label.to_owned());
        let parts = words(label, MAX_TEXT_WORDS);
        self.known
            .extend(parts.iter().map(|word| stem(&word.plain)));
        let folded: Vec<&str> = parts.iter().map(|word| word.folded.as_str()).collect();
        let key = match join_key(&folded) {
            key if key.is_empty() => normalize_label(label),
            key => key,
        };
        self.named.entry(key).or_default().push(entity);
        // "Cupertino, California" is also "Cupertino".
        if let Some((head, _)) = label.split_once(',') {
            self.alias(&normalize_label(head), entity);
        }
        if parts.len() > 1 {
            for word in parts.iter().filter(|word| {
                word.capital && !word.is_stop() && word.plain.len() > 2 && word.year().is_none()
            }) {
                self.alias(&word.folded.clone(), entity);
            }
        }
        entity
    }

    /// A short form counts while one label alone has it.
    fn alias(&mut self, key: &str, entity: Entity) {
        match self.short.get_mut(key) {
            None => {
                self.short.insert(key.to_owned(), entity);
            }
            Some(known) if *known == entity => {}
            Some(known) => *known = AMBIGUOUS,
        }
    }

    pub(super) fn label(&self, entity: Entity) -> &str {
        self.labels.get(entity).map_or("", String::as_str)
    }

    pub(super) fn around(&self, entity: Entity) -> &[usize] {
        self.around.get(&entity).map_or(&[], Vec::as_slice)
    }

    pub(super) fn knows(&self, stem: &str) -> bool {
        self.known.contains(stem)
    }

    /// The longest name that starts a run of words: its length and what it may mean.
    pub(super) fn longest(&self, run: &[Word]) -> Option<(usize, Vec<Entity>)> {
        let first = run.first()?;
        for length in (1..=MAX_NAME_WORDS.min(run.len())).rev() {
            let Some(part) = run.get(..length) else {
                continue;
            };
            let starts_with_article =
                length > 1 && matches!(first.plain.as_str(), "the" | "a" | "an");
            let ends_in_stop = part
                .last()
                .is_some_and(|last| last.is_stop() && !last.capital);
            if starts_with_article || ends_in_stop || (first.is_stop() && !first.capital) {
                continue;
            }
            let key = key_of(part);
            if let Some(named) = self.named.get(&key) {
                let fitting: Vec<Entity> = named
                    .iter()
                    .copied()
                    .filter(|entity| self.written_alike(part, *entity))
                    .take(4)
                    .collect();
                if !fitting.is_empty() {
                    return Some((length, fitting));
                }
            }
            let whole_alias = length == 1 || part.iter().all(|word| word.capital);
            if whole_alias
                && first.capital
                && !first.is_stop()
                && let Some(entity) = self.short.get(&key).filter(|entity| **entity != AMBIGUOUS)
            {
                return Some((length, vec![*entity]));
            }
        }
        None
    }

    /// A name with capitals is meant only where the answer has one too; a label in lower case may open a sentence.
    fn written_alike(&self, part: &[Word], entity: Entity) -> bool {
        let label = self.label(entity);
        let capital_label = label.chars().any(char::is_uppercase);
        let written = part
            .iter()
            .any(|word| word.capital || word.surface.chars().any(char::is_uppercase));
        let stop_only = part.iter().all(Word::is_stop);
        !stop_only && (!capital_label || written || self.lower.contains(&entity))
    }
}

const AMBIGUOUS: Entity = usize::MAX;
const MAX_TEXT_WORDS: usize = 200;
const MAX_NAME_WORDS: usize = 8;
