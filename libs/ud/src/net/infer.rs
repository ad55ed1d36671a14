use crate::features;
use crate::model::{Bytes, ModelError, Output};

use super::kernel::{self, dot};
use super::{LEAK, Shape};

/// A vector is scaled so that its largest entry becomes this.
const ACTIVATION_MAX: f32 = 2047.0;
/// A weight row is scaled so that its largest entry becomes this. A sum of 1,024 products stays below 2³¹.
const WEIGHT_MAX: f32 = 1023.0;
/// The widest row for which the accumulators cannot overflow.
const WIDEST: usize = 1024;

/// An affine map with integer weights, one row per output.
#[derive(Debug)]
pub(crate) struct Affine {
    cols: usize,
    weights: Vec<i16>,
    scales: Vec<f32>,
    bias: Vec<f32>,
}

/// Rows of 8-bit vectors, each with its own scale.
#[derive(Debug)]
struct Table {
    dim: usize,
    cells: Vec<i8>,
    scales: Vec<f32>,
}

#[derive(Debug)]
struct Direction {
    input: Affine,
    recurrent: Affine,
}

#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) shape: Shape,
    words: Table,
    spelling: Table,
    layers: Vec<[Direction; 2]>,
    tags: Affine,
    arc_dependent: Affine,
    arc_head: Affine,
    label_dependent: Affine,
    label_head: Affine,
    arc_root: Vec<f32>,
    label_root: Vec<f32>,
    arc: Affine,
    label: Affine,
}

/// Buffers that one caller reuses from sentence to sentence.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    input: Vec<f32>,
    quantised: Vec<i16>,
    scales: Vec<f32>,
    gates: Vec<f32>,
    hidden: Vec<f32>,
    buckets: Vec<u32>,
    pub(crate) analysis: Analysis,
}

/// Scores for one sentence of `n` words.
#[derive(Debug, Default)]
pub(crate) struct Analysis {
    pub(crate) n: usize,
    /// `n` rows of one score per tag.
    pub(crate) tags: Vec<f32>,
    /// `n` rows of `n + 1` head scores, the root first.
    pub(crate) arcs: Vec<f32>,
    /// `n` rows of one score per relation, once heads are chosen.
    pub(crate) relations: Vec<f32>,
    label_dependent: Vec<f32>,
    label_head: Vec<f32>,
}

impl Network {
    /// Tag and arc scores of a sentence: for each word its vocabulary index and its form.
    pub(crate) fn analyse<'a>(&self, words: impl Iterator<Item = (u32, &'a str)>, s: &mut Scratch) {
        let shape = &self.shape;
        s.input.clear();
        for (word, form) in words {
            let at = s.input.len();
            s.input.resize(at + shape.input(), 0.0);
            let (left, right) = s.input[at..].split_at_mut(shape.word_dim);
            self.words.add(word as usize, 1.0, left);
            features::spelling(form, shape.buckets, &mut s.buckets);
            let share = 1.0 / (s.buckets.len() as f32).sqrt();
            for &bucket in &s.buckets {
                self.spelling.add(bucket as usize, share, right);
            }
        }
        let n = s.input.len() / shape.input().max(1);
        s.analysis.n = n;
        for (i, layer) in self.layers.iter().enumerate() {
            quantise(
                &s.input,
                shape.layer_input(i),
                &mut s.quantised,
                &mut s.scales,
            );
            s.hidden.clear();
            s.hidden.resize(n * 2 * shape.hidden, 0.0);
            for (d, direction) in layer.iter().enumerate() {
                direction.run(
                    n,
                    shape.hidden,
                    d == 1,
                    &s.quantised,
                    &s.scales,
                    &mut s.gates,
                    &mut s.hidden,
                );
            }
            std::mem::swap(&mut s.input, &mut s.hidden);
            if i == 0 {
                quantise(&s.input, 2 * shape.hidden, &mut s.quantised, &mut s.scales);
                self.tags
                    .apply(&s.quantised, &s.scales, &mut s.analysis.tags);
            }
        }
        quantise(&s.input, 2 * shape.hidden, &mut s.quantised, &mut s.scales);
        let project = |affine: &Affine, out: &mut Vec<f32>| {
            affine.apply(&s.quantised, &s.scales, out);
            activate(out, affine.outputs());
        };
        let mut dependent = std::mem::take(&mut s.gates);
        project(&self.arc_dependent, &mut dependent);
        let mut head = std::mem::take(&mut s.hidden);
        project(&self.arc_head, &mut head);
        project(&self.label_dependent, &mut s.analysis.label_dependent);
        project(&self.label_head, &mut s.analysis.label_head);

        quantise(&dependent, shape.arc, &mut s.quantised, &mut s.scales);
        self.arc.apply(&s.quantised, &s.scales, &mut dependent);
        s.analysis.arcs.clear();
        for from in dependent.chunks_exact(shape.arc) {
            s.analysis.arcs.push(dot(from, &self.arc_root));
            for to in head.chunks_exact(shape.arc) {
                s.analysis.arcs.push(dot(from, to));
            }
        }
        s.gates = dependent;
        s.hidden = head;
    }

    /// Relation scores of every word under its head (0 is the root): one row per word.
    pub(crate) fn relations(&self, heads: &[usize], s: &mut Scratch) {
        let width = self.shape.label;
        let analysis = &mut s.analysis;
        s.input.clear();
        for &head in heads {
            s.input.extend_from_slice(match head {
                0 => &self.label_root,
                h => &analysis.label_head[(h - 1) * width..h * width],
            });
        }
        quantise(&s.input, width, &mut s.quantised, &mut s.scales);
        self.label.apply(&s.quantised, &s.scales, &mut s.gates);
        analysis.relations.clear();
        let dependents = analysis.label_dependent.chunks_exact(width);
        for (products, dependent) in s
            .gates
            .chunks_exact(width * self.shape.relations)
            .zip(dependents)
        {
            let scores = products.chunks_exact(width).map(|p| dot(p, dependent));
            analysis.relations.extend(scores);
        }
    }

    pub(crate) fn read(bytes: &mut Bytes<'_>) -> Result<Self, ModelError> {
        let mut size = || Ok::<usize, ModelError>(bytes.u32()? as usize);
        let shape = Shape {
            words: size()?,
            word_dim: size()?,
            buckets: size()?,
            spelling_dim: size()?,
            hidden: size()?,
            layers: size()?,
            tags: size()?,
            arc: size()?,
            label: size()?,
            relations: size()?,
        };
        let widths = [
            shape.word_dim,
            shape.spelling_dim,
            shape.hidden,
            shape.layers,
            shape.tags,
            shape.arc,
            shape.label,
            shape.relations,
        ];
        if widths.iter().any(|w| !(1..=WIDEST / 2).contains(w))
            || shape.words == 0
            || shape.buckets == 0
        {
            return Err(ModelError::Malformed("sizes of the network"));
        }
        let h = shape.hidden;
        let words = Table::read(bytes, shape.words, shape.word_dim)?;
        let spelling = Table::read(bytes, shape.buckets, shape.spelling_dim)?;
        let mut layers = Vec::new();
        for i in 0..shape.layers {
            let mut direction = || {
                Ok::<_, ModelError>(Direction {
                    input: Affine::read(bytes, 4 * h, shape.layer_input(i))?,
                    recurrent: Affine::read(bytes, 4 * h, h)?,
                })
            };
            layers.push([direction()?, direction()?]);
        }
        Ok(Network {
            words,
            spelling,
            layers,
            tags: Affine::read(bytes, shape.tags, 2 * h)?,
            arc_dependent: Affine::read(bytes, shape.arc, 2 * h)?,
            arc_head: Affine::read(bytes, shape.arc, 2 * h)?,
            label_dependent: Affine::read(bytes, shape.label, 2 * h)?,
            label_head: Affine::read(bytes, shape.label, 2 * h)?,
            arc_root: bytes.f32s(shape.arc)?,
            label_root: bytes.f32s(shape.label)?,
            arc: Affine::read(bytes, shape.arc, shape.arc)?,
            label: Affine::read(bytes, shape.relations * shape.label, shape.label)?,
            shape,
        })
    }
}

impl Direction {
    /// Writes the hidden states into this direction's half of each row of `out`.
    #[expect(
        clippy::too_many_arguments,
        reason = "one call site, all of it one layer's state"
    )]
    fn run(
        &self,
        n: usize,
        h: usize,
        backwards: bool,
        input: &[i16],
        scales: &[f32],
        gates: &mut Vec<f32>,
        out: &mut [f32],
    ) {
        self.input.apply(input, scales, gates);
        let mut state = vec![0i16; h];
        let mut cell = vec![0.0f32; h];
        let mut z = vec![0.0f32; 4 * h];
        for step in 0..n {
            let t = if backwards { n - 1 - step } else { step };
            self.recurrent
                .apply_one(&state, 1.0 / ACTIVATION_MAX, &mut z);
            let offset = t * 2 * h + if backwards { h } else { 0 };
            let out = &mut out[offset..offset + h];
            kernel::lstm_step(&mut z, &gates[t * 4 * h..(t + 1) * 4 * h], &mut cell, out);
            for (state, out) in state.iter_mut().zip(out.iter()) {
                *state = kernel::round(out * ACTIVATION_MAX);
            }
        }
    }
}

impl Affine {
    fn outputs(&self) -> usize {
        self.scales.len()
    }

    /// Maps each row of `input`; `out` is replaced.
    fn apply(&self, input: &[i16], scales: &[f32], out: &mut Vec<f32>) {
        let outputs = self.outputs();
        out.clear();
        out.resize(scales.len() * outputs, 0.0);
        kernel::products(&self.weights, self.cols, input, out);
        for (out, scale) in out.chunks_exact_mut(outputs).zip(scales) {
            self.finish(*scale, out);
        }
    }

    fn apply_one(&self, x: &[i16], x_scale: f32, out: &mut [f32]) {
        kernel::products(&self.weights, self.cols, x, out);
        self.finish(x_scale, out);
    }

    fn finish(&self, x_scale: f32, out: &mut [f32]) {
        for ((out, scale), bias) in out.iter_mut().zip(&self.scales).zip(&self.bias) {
            *out = *out * (scale * x_scale) + bias;
        }
    }

    fn read(bytes: &mut Bytes<'_>, rows: usize, cols: usize) -> Result<Self, ModelError> {
        if cols > WIDEST {
            return Err(ModelError::Malformed("width of a layer"));
        }
        let affine = Affine {
            cols,
            scales: bytes.f32s(rows)?,
            bias: bytes.f32s(rows)?,
            weights: bytes.i16s(rows.checked_mul(cols).ok_or(ModelError::Truncated)?)?,
        };
        let limit = WEIGHT_MAX as u16;
        match affine.weights.iter().all(|w| w.unsigned_abs() <= limit) {
            true => Ok(affine),
            false => Err(ModelError::Malformed("a weight")),
        }
    }

    /// Quantises a float matrix of `rows` × `cols`.
    pub(crate) fn write(out: &mut Output, weights: &[f32], cols: usize, bias: &[f32]) {
        let scale = |row: &[f32]| largest(row).max(1e-12) / WEIGHT_MAX;
        for row in weights.chunks_exact(cols) {
            out.f32(scale(row));
        }
        for b in bias {
            out.f32(*b);
        }
        for row in weights.chunks_exact(cols) {
            let by = 1.0 / scale(row);
            for w in row {
                out.i16(kernel::round(w * by));
            }
        }
    }
}

impl Table {
    fn add(&self, row: usize, by: f32, out: &mut [f32]) {
        let scale = self.scales[row] * by;
        for (o, c) in out
            .iter_mut()
            .zip(&self.cells[row * self.dim..(row + 1) * self.dim])
        {
            *o += f32::from(*c) * scale;
        }
    }

    fn read(bytes: &mut Bytes<'_>, rows: usize, dim: usize) -> Result<Self, ModelError> {
        Ok(Table {
            dim,
            scales: bytes.f32s(rows)?,
            cells: bytes.i8s(rows.checked_mul(dim).ok_or(ModelError::Truncated)?)?,
        })
    }
}

/// Quantises a table of `dim`-wide rows to 8 bits.
pub(crate) fn write_table(out: &mut Output, cells: &[f32], dim: usize) {
    let scale = |row: &[f32]| largest(row).max(1e-12) / 127.0;
    for row in cells.chunks_exact(dim) {
        out.f32(scale(row));
    }
    for row in cells.chunks_exact(dim) {
        let by = 1.0 / scale(row);
        for c in row {
            out.i8(kernel::round(c * by) as i8);
        }
    }
}

pub(crate) fn write_affine(out: &mut Output, weights: &[f32], cols: usize, bias: &[f32]) {
    Affine::write(out, weights, cols, bias);
}

/// Leaky rectifier, and the constant 1 in each row's last place, which gives the bilinear forms a bias.
fn activate(rows: &mut [f32], width: usize) {
    for row in rows.chunks_exact_mut(width) {
        for x in row.iter_mut() {
            *x = if *x > 0.0 { *x } else { *x * LEAK };
        }
        if let Some(last) = row.last_mut() {
            *last = 1.0;
        }
    }
}

fn quantise(rows: &[f32], width: usize, out: &mut Vec<i16>, scales: &mut Vec<f32>) {
    out.clear();
    scales.clear();
    out.resize(rows.len(), 0);
    for (row, out) in rows.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
        scales.push(kernel::quantise(row, ACTIVATION_MAX, out));
    }
}

fn largest(row: &[f32]) -> f32 {
    row.iter()
        .fold(0.0, |m: f32, x| if x.abs() > m { x.abs() } else { m })
}
