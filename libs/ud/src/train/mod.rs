//! Learns a model from sentences of a treebank. The same sentences, options and seed give the same bytes.

mod boundaries;
mod lemmas;
mod matrix;
mod network;
mod random;

use std::collections::{BTreeMap, HashMap};

use crate::conllu::Block;
use crate::features::{spelling, word_key};
use crate::model::{MAGIC, ModelError, Output};
use crate::net::Shape;
use crate::parser::Parser;
use crate::sentence::Upos;

use network::{Dropout, Example, Loss, Network};
use random::Random;

#[derive(Clone, Debug)]
pub struct Options {
    pub seed: u64,
    pub epochs: usize,
    /// Sentences per step.
    pub batch: usize,
    /// Highest learning rate; it rises over the first steps and falls to zero at the end.
    pub rate: f32,
    pub hidden: usize,
    pub layers: usize,
    pub dropout: f32,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            seed: 1,
            epochs: 15,
            batch: 10,
            rate: 2e-3,
            hidden: 128,
            layers: 2,
            dropout: 0.3,
        }
    }
}

/// What one pass over the sentences came to.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    pub epoch: usize,
    /// Nats per word.
    pub tag_loss: f64,
    pub arc_loss: f64,
    pub relation_loss: f64,
}

/// Trains on `blocks`. After each pass `report` gets the losses and the model as it would be written now.
pub fn train(
    blocks: &[Block],
    options: &Options,
    mut report: impl FnMut(Progress, &dyn Fn() -> Vec<u8>),
) -> Vec<u8> {
    let inventory = Inventory::of(blocks);
    let mut random = Random(options.seed);
    let rest = rules(blocks, &inventory, &mut random.clone());
    let shape = Shape {
        words: inventory.words.len(),
        word_dim: 96,
        buckets: 1 << 15,
        spelling_dim: 96,
        hidden: options.hidden,
        layers: options.layers,
        tags: inventory.tags.len(),
        arc: 128,
        label: 48,
        relations: inventory.relations.len(),
    };
    let mut network = Network::new(shape, &mut random);
    let examples: Vec<Example> = blocks
        .iter()
        .filter_map(|b| inventory.example(b, shape.buckets))
        .collect();
    let mut order: Vec<usize> = (0..examples.len()).collect();
    let steps = options.epochs * order.len().div_ceil(options.batch);
    let mut step = 0;
    let dropout = Dropout {
        layer: options.dropout,
        mlp: options.dropout,
        word: 0.15,
        spelling: 0.15,
    };
    for epoch in 1..=options.epochs {
        random.shuffle(&mut order);
        let mut sum = Loss::default();
        let mut words = 0;
        for batch in order.chunks(options.batch) {
            let size: usize = batch.iter().map(|&i| examples[i].words.len()).sum();
            words += size;
            for &i in batch {
                let loss = network.learn(&examples[i], dropout, 1.0 / size as f32, &mut random);
                sum.tag += loss.tag;
                sum.arc += loss.arc;
                sum.relation += loss.relation;
            }
            step += 1;
            network.step(options.rate * schedule(step, steps), 5.0, step);
        }
        let per_word = |x: f64| x / words.max(1) as f64;
        let progress = Progress {
            epoch,
            tag_loss: per_word(sum.tag),
            arc_loss: per_word(sum.arc),
            relation_loss: per_word(sum.relation),
        };
        report(progress, &|| file(&inventory, &network, &rest));
    }
    file(&inventory, &network, &rest)
}

/// `model` with its network as it is, and lemma rules and sentence boundaries learned anew from `blocks`.
pub fn retrain_rules(blocks: &[Block], model: &[u8], seed: u64) -> Result<Vec<u8>, ModelError> {
    let inventory = Inventory::of(blocks);
    let mut header = Output(MAGIC.to_vec());
    inventory.write(&mut header);
    if !model.starts_with(&header.0) {
        return Err(ModelError::Malformed(
            "words, tags or relations of another treebank",
        ));
    }
    let kept = Parser::length_of_network(model)?;
    let mut out = model[..kept].to_vec();
    out.extend(rules(blocks, &inventory, &mut Random(seed)).0);
    Ok(out)
}

/// Up over the first 300 steps, then down to zero in a straight line.
fn schedule(step: usize, steps: usize) -> f32 {
    let up = step as f32 / 300.0;
    let down = (steps - step + 1) as f32 / steps as f32;
    up.min(1.0) * down
}

fn file(inventory: &Inventory, network: &Network, rest: &Output) -> Vec<u8> {
    let mut out = Output::default();
    out.0.extend_from_slice(MAGIC);
    inventory.write(&mut out);
    network.write(&mut out);
    out.0.extend_from_slice(&rest.0);
    out.0
}

/// The sections that are counted rather than trained by gradient: lemma rules, sentence boundaries.
fn rules(blocks: &[Block], inventory: &Inventory, random: &mut Random) -> Output {
    let mut out = Output::default();
    let words = blocks.iter().flat_map(Block::words).filter_map(|r| {
        let tag = inventory.tag(&r.upos, &r.feats)?;
        (r.lemma != "_" || r.form == "_").then_some((
            r.form.as_str(),
            tag as usize,
            r.lemma.as_str(),
        ))
    });
    lemmas::learn(words, inventory.tags.len(), &mut out);
    boundaries::learn(blocks, 8, random, &mut out);
    out
}

/// Everything that has a number in the model.
struct Inventory {
    /// The first stands for all words that are not here.
    words: Vec<String>,
    word_numbers: HashMap<String, u32>,
    tags: Vec<(Upos, String)>,
    tag_numbers: HashMap<(Upos, String), u32>,
    relations: Vec<String>,
}

impl Inventory {
    fn of(blocks: &[Block]) -> Self {
        let mut words: BTreeMap<String, usize> = BTreeMap::new();
        let mut tags: BTreeMap<(Upos, String), usize> = BTreeMap::new();
        let mut relations: BTreeMap<String, usize> = BTreeMap::new();
        for row in blocks.iter().flat_map(Block::words) {
            *words.entry(word_key(&row.form)).or_default() += 1;
            if let Some(upos) = Upos::parse(&row.upos) {
                *tags.entry((upos, plain(&row.feats))).or_default() += 1;
            }
            *relations.entry(row.deprel.clone()).or_default() += 1;
        }
        let mut frequent: Vec<String> = vec![String::new()];
        frequent.extend(words.into_iter().filter(|(_, n)| *n >= 2).map(|(w, _)| w));
        let tags: Vec<(Upos, String)> = tags
            .into_iter()
            .filter(|(_, n)| *n >= 2)
            .map(|(t, _)| t)
            .collect();
        Inventory {
            word_numbers: numbers(&frequent),
            words: frequent,
            tag_numbers: numbers(&tags),
            tags,
            relations: relations.into_keys().collect(),
        }
    }

    fn tag(&self, upos: &str, feats: &str) -> Option<u32> {
        let key = (Upos::parse(upos)?, plain(feats));
        self.tag_numbers.get(&key).copied()
    }

    /// `None` for sentences without a complete tree.
    fn example(&self, block: &Block, buckets: usize) -> Option<Example> {
        let mut example = Example {
            words: Vec::new(),
            spelling: Vec::new(),
            tags: Vec::new(),
            heads: Vec::new(),
            relations: Vec::new(),
        };
        for row in block.words() {
            let key = word_key(&row.form);
            let mut pieces = Vec::new();
            spelling(&row.form, buckets, &mut pieces);
            example
                .words
                .push(self.word_numbers.get(&key).copied().unwrap_or(0));
            example.spelling.push(pieces);
            example.tags.push(self.tag(&row.upos, &row.feats));
            example.heads.push(row.head? as usize);
            let relation = self.relations.binary_search(&row.deprel).ok()?;
            example.relations.push(relation as u32);
        }
        Some(example)
    }

    fn write(&self, out: &mut Output) {
        out.u32(self.words.len());
        for word in &self.words {
            out.text(word);
        }
        out.u32(self.tags.len());
        for (upos, feats) in &self.tags {
            out.u8(*upos as u8);
            out.text(feats);
        }
        out.u32(self.relations.len());
        for relation in &self.relations {
            out.text(relation);
        }
    }
}

fn numbers<T: Clone + std::hash::Hash + Eq>(items: &[T]) -> HashMap<T, u32> {
    items.iter().cloned().zip(0..).collect()
}

fn plain(column: &str) -> String {
    if column == "_" {
        String::new()
    } else {
        column.to_string()
    }
}
