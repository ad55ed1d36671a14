//! The network in floats, with its gradients. Sentences are learned one at a time; gradients add up until
//! [`Network::step`].

use super::matrix::{multiply, multiply_transposed, transpose};
use super::random::Random;
use crate::model::Output;
use crate::net::{LEAK, Shape, exp, sigmoid, tanh, write_affine, write_table};

/// A sentence as the network learns it.
pub(super) struct Example {
    pub words: Vec<u32>,
    /// Buckets of each word's spelling.
    pub spelling: Vec<Vec<u32>>,
    /// Tag of each word; `None` for tags that the inventory leaves out.
    pub tags: Vec<Option<u32>>,
    pub heads: Vec<usize>,
    pub relations: Vec<u32>,
}

#[derive(Clone, Copy)]
pub(super) struct Dropout {
    pub layer: f32,
    pub mlp: f32,
    pub word: f32,
    pub spelling: f32,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Loss {
    pub tag: f64,
    pub arc: f64,
    pub relation: f64,
}

/// A dense weight of `rows` × `cols`, where a row belongs to an input.
struct Weight {
    rows: usize,
    cols: usize,
    w: Vec<f32>,
    /// Transposed copy for the backward pass, refreshed by each step.
    t: Vec<f32>,
    g: Vec<f32>,
    m: Vec<f32>,
    v: Vec<f32>,
}

/// Embedding rows; only those that a batch used are updated.
struct Table {
    dim: usize,
    w: Vec<f32>,
    g: Vec<f32>,
    m: Vec<f32>,
    v: Vec<f32>,
    touched: Vec<u32>,
    is_touched: Vec<bool>,
}

struct Direction {
    input: Weight,
    recurrent: Weight,
    bias: Weight,
}

struct Linear {
    weight: Weight,
    bias: Weight,
}

pub(super) struct Network {
    shape: Shape,
    words: Table,
    spelling: Table,
    layers: Vec<[Direction; 2]>,
    tags: Linear,
    arc_dependent: Linear,
    arc_head: Linear,
    label_dependent: Linear,
    label_head: Linear,
    arc_root: Weight,
    label_root: Weight,
    arc: Weight,
    label: Weight,
}

/// What the backward pass of one LSTM direction needs.
struct Trace {
    gates: Vec<f32>,
    cells: Vec<f32>,
    squashed: Vec<f32>,
    hidden: Vec<f32>,
}

impl Network {
    pub(super) fn new(shape: Shape, random: &mut Random) -> Self {
        let h = shape.hidden;
        let layers = (0..shape.layers)
            .map(|i| {
                let width = shape.layer_input(i);
                [(); 2].map(|()| {
                    let mut bias = Weight::zero(1, 4 * h);
                    bias.w[h..2 * h].fill(1.0);
                    Direction {
                        input: Weight::new(width, 4 * h, width + h, random),
                        recurrent: Weight::new(h, 4 * h, 2 * h, random),
                        bias,
                    }
                })
            })
            .collect();
        let mut linear = |outputs: usize| Linear {
            weight: Weight::new(2 * h, outputs, 2 * h + outputs, random),
            bias: Weight::zero(1, outputs),
        };
        Network {
            layers,
            tags: linear(shape.tags),
            arc_dependent: linear(shape.arc),
            arc_head: linear(shape.arc),
            label_dependent: linear(shape.label),
            label_head: linear(shape.label),
            words: Table::new(shape.words, shape.word_dim, random),
            spelling: Table::new(shape.buckets, shape.spelling_dim, random),
            arc_root: Weight::new(1, shape.arc, 2 * shape.arc, random),
            label_root: Weight::new(1, shape.label, 2 * shape.label, random),
            arc: Weight::new(shape.arc, shape.arc, 8 * shape.arc, random),
            label: Weight::new(
                shape.label,
                shape.relations * shape.label,
                8 * shape.label,
                random,
            ),
            shape,
        }
    }

    /// Adds the gradient of the loss of one sentence, times `scale`.
    pub(super) fn learn(
        &mut self,
        example: &Example,
        dropout: Dropout,
        scale: f32,
        random: &mut Random,
    ) -> Loss {
        let shape = self.shape;
        let (n, h) = (example.words.len(), shape.hidden);
        let (arc, label, relations) = (shape.arc, shape.label, shape.relations);
        let mut loss = Loss::default();

        // Input.
        let width = shape.input();
        let mut input = vec![0.0; n * width];
        let mut used = Vec::with_capacity(n);
        for t in 0..n {
            let row = &mut input[t * width..(t + 1) * width];
            let (left, right) = row.split_at_mut(shape.word_dim);
            let word = if random.unit() < dropout.word {
                0
            } else {
                example.words[t]
            };
            self.words.add_to(word, 1.0, left);
            let share = 1.0 / (example.spelling[t].len() as f32).sqrt();
            let kept: Vec<u32> = example.spelling[t]
                .iter()
                .copied()
                .filter(|_| random.unit() >= dropout.spelling)
                .collect();
            let share = share / (1.0 - dropout.spelling);
            for &bucket in &kept {
                self.spelling.add_to(bucket, share, right);
            }
            used.push((word, kept, share));
        }

        // Layers.
        let mut inputs = vec![input];
        let mut traces = Vec::new();
        let mut masks = Vec::new();
        for (i, layer) in self.layers.iter().enumerate() {
            let mut out = vec![0.0; n * 2 * h];
            let [forward, backward] = layer;
            let pair = [
                forward.run(n, h, false, &inputs[i], &mut out),
                backward.run(n, h, true, &inputs[i], &mut out),
            ];
            let mask = mask(2 * h, dropout.layer, random);
            apply_mask(&mut out, &mask);
            traces.push(pair);
            masks.push(mask);
            inputs.push(out);
        }
        let mut d_layers: Vec<Vec<f32>> = (0..shape.layers).map(|_| vec![0.0; n * 2 * h]).collect();

        // Tags, from the first layer.
        let mut tags = self.tags.forward(&inputs[1], n);
        for (t, row) in tags.chunks_exact_mut(shape.tags).enumerate() {
            match example.tags[t] {
                Some(gold) => loss.tag += softmax_loss(row, gold as usize, scale),
                None => row.fill(0.0),
            }
        }
        self.tags.backward(&inputs[1], &tags, n, &mut d_layers[0]);

        // Head and dependent vectors, from the last layer.
        let top = &inputs[shape.layers];
        let mut vectors = Vec::new();
        for linear in [
            &self.arc_dependent,
            &self.arc_head,
            &self.label_dependent,
            &self.label_head,
        ] {
            let pre = linear.forward(top, n);
            let width = linear.weight.cols;
            let mask = mask(width, dropout.mlp, random);
            let mut out = pre.clone();
            for row in out.chunks_exact_mut(width) {
                for (x, m) in row.iter_mut().zip(&mask) {
                    *x = m * if *x > 0.0 { *x } else { *x * LEAK };
                }
                row[width - 1] = 1.0;
            }
            vectors.push((pre, mask, out));
        }
        let with_root = |root: &Weight, rows: &[f32]| {
            let mut all = root.w.clone();
            all.extend_from_slice(rows);
            all
        };

        // Arcs: scores = dependent · U · headᵀ, the root as head 0.
        let dependent = &vectors[0].2;
        let heads = with_root(&self.arc_root, &vectors[1].2);
        let mut mapped = vec![0.0; n * arc];
        multiply(&mut mapped, dependent, &self.arc.w, n, arc, arc);
        let mut scores = vec![0.0; n * (n + 1)];
        let heads_t = transpose(&heads, n + 1, arc);
        multiply(&mut scores, &mapped, &heads_t, n, arc, n + 1);
        for (d, row) in scores.chunks_exact_mut(n + 1).enumerate() {
            row[d + 1] = -1e9;
            loss.arc += softmax_loss(row, example.heads[d], scale);
            row[d + 1] = 0.0;
        }
        let mut d_mapped = vec![0.0; n * arc];
        multiply(&mut d_mapped, &scores, &heads, n, n + 1, arc);
        let mut d_heads = vec![0.0; (n + 1) * arc];
        multiply_transposed(&mut d_heads, &scores, &mapped, n, n + 1, arc);
        let mut d_dependent = vec![0.0; n * arc];
        multiply(&mut d_dependent, &d_mapped, &self.arc.t, n, arc, arc);
        multiply_transposed(&mut self.arc.g, dependent, &d_mapped, n, arc, arc);
        add(&mut self.arc_root.g, &d_heads[..arc]);

        // Relations under the gold heads.
        let label_dependent = &vectors[2].2;
        let all_heads = with_root(&self.label_root, &vectors[3].2);
        let mut governors = Vec::with_capacity(n * label);
        for &head in &example.heads {
            governors.extend_from_slice(&all_heads[head * label..(head + 1) * label]);
        }
        let wide = relations * label;
        let mut products = vec![0.0; n * wide];
        multiply(&mut products, &governors, &self.label.w, n, label, wide);
        let mut d_products = vec![0.0; n * wide];
        let mut d_label_dependent = vec![0.0; n * label];
        for t in 0..n {
            let from = &label_dependent[t * label..(t + 1) * label];
            let rows = &products[t * wide..(t + 1) * wide];
            let mut row: Vec<f32> = rows
                .chunks_exact(label)
                .map(|p| p.iter().zip(from).map(|(a, b)| a * b).sum())
                .collect();
            loss.relation += softmax_loss(&mut row, example.relations[t] as usize, scale);
            let d_from = &mut d_label_dependent[t * label..(t + 1) * label];
            for (r, d) in row.iter().enumerate() {
                let p = &rows[r * label..(r + 1) * label];
                let d_p = &mut d_products[t * wide + r * label..][..label];
                for k in 0..label {
                    d_from[k] += d * p[k];
                    d_p[k] = d * from[k];
                }
            }
        }
        let mut d_governors = vec![0.0; n * label];
        multiply(&mut d_governors, &d_products, &self.label.t, n, wide, label);
        multiply_transposed(&mut self.label.g, &governors, &d_products, n, label, wide);
        let mut d_label_head = vec![0.0; n * label];
        for (t, &head) in example.heads.iter().enumerate() {
            let d = &d_governors[t * label..(t + 1) * label];
            match head {
                0 => add(&mut self.label_root.g, d),
                j => add(&mut d_label_head[(j - 1) * label..j * label], d),
            }
        }

        // Back through the vectors.
        let d_arc_head = d_heads[arc..].to_vec();
        let mut d_top = std::mem::take(&mut d_layers[shape.layers - 1]);
        let gradients = [d_dependent, d_arc_head, d_label_dependent, d_label_head];
        let linears = [
            &mut self.arc_dependent,
            &mut self.arc_head,
            &mut self.label_dependent,
            &mut self.label_head,
        ];
        for ((linear, (pre, mask, _)), mut d) in linears.into_iter().zip(&vectors).zip(gradients) {
            let width = linear.weight.cols;
            for (row, pre) in d.chunks_exact_mut(width).zip(pre.chunks_exact(width)) {
                for k in 0..width {
                    row[k] *= mask[k] * if pre[k] > 0.0 { 1.0 } else { LEAK };
                }
                row[width - 1] = 0.0;
            }
            linear.backward(top, &d, n, &mut d_top);
        }
        d_layers[shape.layers - 1] = d_top;

        // Back through the layers.
        let mut d_input = Vec::new();
        for i in (0..shape.layers).rev() {
            let mut d_out = std::mem::take(&mut d_layers[i]);
            if i + 1 < shape.layers {
                add(&mut d_out, &d_input);
            }
            apply_mask(&mut d_out, &masks[i]);
            d_input = vec![0.0; n * shape.layer_input(i)];
            for (side, direction) in self.layers[i].iter_mut().enumerate() {
                let trace = &traces[i][side];
                direction.back(n, h, side == 1, &inputs[i], trace, &d_out, &mut d_input);
            }
        }
        for (t, (word, kept, share)) in used.iter().enumerate() {
            let row = &d_input[t * width..(t + 1) * width];
            let (left, right) = row.split_at(shape.word_dim);
            self.words.add_gradient(*word, 1.0, left);
            for &bucket in kept {
                self.spelling.add_gradient(bucket, *share, right);
            }
        }
        loss
    }

    /// One step of Adam on the gathered gradients, their norm cut at `clip`.
    pub(super) fn step(&mut self, rate: f32, clip: f32, number: usize) {
        let (b1, b2) = (BETA1.powi(number as i32), BETA2.powi(number as i32));
        let mut square = 0.0f64;
        self.dense(|w| square += squares(&w.g));
        for table in [&self.words, &self.spelling] {
            for &row in &table.touched {
                square += squares(&table.g[table.range(row)]);
            }
        }
        let norm = square.sqrt() as f32;
        let adam = Adam {
            shrink: if norm > clip { clip / norm } else { 1.0 },
            rate: rate * (1.0 - b2).sqrt() / (1.0 - b1),
        };
        self.dense(|w| {
            adam.update(&mut w.w, &mut w.g, &mut w.m, &mut w.v);
            w.t = transpose(&w.w, w.rows, w.cols);
        });
        for table in [&mut self.words, &mut self.spelling] {
            table.update(&adam);
        }
    }

    fn dense(&mut self, mut f: impl FnMut(&mut Weight)) {
        for direction in self.layers.iter_mut().flatten() {
            f(&mut direction.input);
            f(&mut direction.recurrent);
            f(&mut direction.bias);
        }
        for linear in [
            &mut self.tags,
            &mut self.arc_dependent,
            &mut self.arc_head,
            &mut self.label_dependent,
            &mut self.label_head,
        ] {
            f(&mut linear.weight);
            f(&mut linear.bias);
        }
        f(&mut self.arc_root);
        f(&mut self.label_root);
        f(&mut self.arc);
        f(&mut self.label);
    }

    /// The integer form that `net::Network::read` takes.
    pub(super) fn write(&self, out: &mut Output) {
        let s = &self.shape;
        for size in [
            s.words,
            s.word_dim,
            s.buckets,
            s.spelling_dim,
            s.hidden,
            s.layers,
            s.tags,
            s.arc,
            s.label,
            s.relations,
        ] {
            out.u32(size);
        }
        write_table(out, &self.words.w, self.words.dim);
        write_table(out, &self.spelling.w, self.spelling.dim);
        let affine = |out: &mut Output, w: &Weight, bias: &[f32]| {
            write_affine(out, &transpose(&w.w, w.rows, w.cols), w.rows, bias);
        };
        for direction in self.layers.iter().flatten() {
            affine(out, &direction.input, &direction.bias.w);
            affine(out, &direction.recurrent, &vec![0.0; 4 * s.hidden]);
        }
        for linear in [
            &self.tags,
            &self.arc_dependent,
            &self.arc_head,
            &self.label_dependent,
            &self.label_head,
        ] {
            affine(out, &linear.weight, &linear.bias.w);
        }
        for root in [&self.arc_root, &self.label_root] {
            for w in &root.w {
                out.f32(*w);
            }
        }
        affine(out, &self.arc, &vec![0.0; s.arc]);
        affine(out, &self.label, &vec![0.0; s.relations * s.label]);
    }
}

impl Direction {
    fn run(&self, n: usize, h: usize, backwards: bool, input: &[f32], out: &mut [f32]) -> Trace {
        let mut gates = Vec::with_capacity(n * 4 * h);
        for _ in 0..n {
            gates.extend_from_slice(&self.bias.w);
        }
        multiply(&mut gates, input, &self.input.w, n, self.input.rows, 4 * h);
        let mut trace = Trace {
            gates,
            cells: vec![0.0; n * h],
            squashed: vec![0.0; n * h],
            hidden: vec![0.0; n * h],
        };
        let mut state = vec![0.0; h];
        let mut cell = vec![0.0; h];
        for step in 0..n {
            let t = if backwards { n - 1 - step } else { step };
            let z = &mut trace.gates[t * 4 * h..(t + 1) * 4 * h];
            multiply(z, &state, &self.recurrent.w, 1, h, 4 * h);
            for x in &mut z[..3 * h] {
                *x = sigmoid(*x);
            }
            for x in &mut z[3 * h..] {
                *x = tanh(*x);
            }
            for k in 0..h {
                cell[k] = z[h + k] * cell[k] + z[k] * z[3 * h + k];
                let squashed = tanh(cell[k]);
                trace.squashed[t * h + k] = squashed;
                state[k] = z[2 * h + k] * squashed;
            }
            trace.cells[t * h..(t + 1) * h].copy_from_slice(&cell);
            trace.hidden[t * h..(t + 1) * h].copy_from_slice(&state);
            let at = t * 2 * h + if backwards { h } else { 0 };
            out[at..at + h].copy_from_slice(&state);
        }
        trace
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one call site, all of it one layer's state"
    )]
    fn back(
        &mut self,
        n: usize,
        h: usize,
        backwards: bool,
        input: &[f32],
        trace: &Trace,
        d_out: &[f32],
        d_input: &mut [f32],
    ) {
        let mut dz = vec![0.0; n * 4 * h];
        let mut before = vec![0.0; n * h];
        let mut d_state = vec![0.0; h];
        let mut d_cell = vec![0.0; h];
        let zeros = vec![0.0; h];
        for step in (0..n).rev() {
            let t = if backwards { n - 1 - step } else { step };
            let earlier = (step > 0).then(|| if backwards { t + 1 } else { t - 1 });
            let cell_before = match earlier {
                Some(e) => &trace.cells[e * h..(e + 1) * h],
                None => &zeros,
            };
            if let Some(e) = earlier {
                before[t * h..(t + 1) * h].copy_from_slice(&trace.hidden[e * h..(e + 1) * h]);
            }
            let at = t * 2 * h + if backwards { h } else { 0 };
            let z = &trace.gates[t * 4 * h..(t + 1) * 4 * h];
            let squashed = &trace.squashed[t * h..(t + 1) * h];
            let dz = &mut dz[t * 4 * h..(t + 1) * 4 * h];
            for k in 0..h {
                let (i, f, o, g) = (z[k], z[h + k], z[2 * h + k], z[3 * h + k]);
                let dh = d_out[at + k] + d_state[k];
                let dc = d_cell[k] + dh * o * (1.0 - squashed[k] * squashed[k]);
                dz[k] = dc * g * i * (1.0 - i);
                dz[h + k] = dc * cell_before[k] * f * (1.0 - f);
                dz[2 * h + k] = dh * squashed[k] * o * (1.0 - o);
                dz[3 * h + k] = dc * i * (1.0 - g * g);
                d_cell[k] = dc * f;
            }
            d_state.fill(0.0);
            multiply(&mut d_state, dz, &self.recurrent.t, 1, 4 * h, h);
        }
        let width = self.input.rows;
        multiply(d_input, &dz, &self.input.t, n, 4 * h, width);
        multiply_transposed(&mut self.input.g, input, &dz, n, width, 4 * h);
        multiply_transposed(&mut self.recurrent.g, &before, &dz, n, h, 4 * h);
        for row in dz.chunks_exact(4 * h) {
            add(&mut self.bias.g, row);
        }
    }
}

impl Linear {
    fn forward(&self, input: &[f32], n: usize) -> Vec<f32> {
        let mut out = Vec::with_capacity(n * self.weight.cols);
        for _ in 0..n {
            out.extend_from_slice(&self.bias.w);
        }
        let w = &self.weight;
        multiply(&mut out, input, &w.w, n, w.rows, w.cols);
        out
    }

    fn backward(&mut self, input: &[f32], d: &[f32], n: usize, d_input: &mut [f32]) {
        let w = &mut self.weight;
        multiply(d_input, d, &w.t, n, w.cols, w.rows);
        multiply_transposed(&mut w.g, input, d, n, w.rows, w.cols);
        for row in d.chunks_exact(w.cols) {
            add(&mut self.bias.g, row);
        }
    }
}

impl Weight {
    fn zero(rows: usize, cols: usize) -> Self {
        let zeros = vec![0.0; rows * cols];
        Weight {
            rows,
            cols,
            w: zeros.clone(),
            t: zeros.clone(),
            g: zeros.clone(),
            m: zeros.clone(),
            v: zeros,
        }
    }

    /// Uniform with the variance of Glorot and Bengio (2010) for `fans` inputs and outputs.
    fn new(rows: usize, cols: usize, fans: usize, random: &mut Random) -> Self {
        let mut weight = Weight::zero(rows, cols);
        let limit = (6.0 / fans as f32).sqrt();
        weight.w.fill_with(|| random.signed() * limit);
        weight.t = transpose(&weight.w, rows, cols);
        weight
    }
}

impl Table {
    fn new(rows: usize, dim: usize, random: &mut Random) -> Self {
        let zeros = vec![0.0; rows * dim];
        let mut w = zeros.clone();
        w.fill_with(|| random.signed() * 0.3);
        Table {
            dim,
            w,
            g: zeros.clone(),
            m: zeros.clone(),
            v: zeros,
            touched: Vec::new(),
            is_touched: vec![false; rows],
        }
    }

    fn range(&self, row: u32) -> std::ops::Range<usize> {
        row as usize * self.dim..(row as usize + 1) * self.dim
    }

    fn add_to(&self, row: u32, by: f32, out: &mut [f32]) {
        for (o, w) in out.iter_mut().zip(&self.w[self.range(row)]) {
            *o += by * w;
        }
    }

    fn add_gradient(&mut self, row: u32, by: f32, d: &[f32]) {
        if !self.is_touched[row as usize] {
            self.is_touched[row as usize] = true;
            self.touched.push(row);
        }
        let range = self.range(row);
        for (g, d) in self.g[range].iter_mut().zip(d) {
            *g += by * d;
        }
    }

    fn update(&mut self, adam: &Adam) {
        for row in std::mem::take(&mut self.touched) {
            self.is_touched[row as usize] = false;
            let r = self.range(row);
            adam.update(
                &mut self.w[r.clone()],
                &mut self.g[r.clone()],
                &mut self.m[r.clone()],
                &mut self.v[r],
            );
        }
    }
}

const BETA1: f32 = 0.9;
const BETA2: f32 = 0.98;

struct Adam {
    shrink: f32,
    rate: f32,
}

impl Adam {
    fn update(&self, w: &mut [f32], g: &mut [f32], m: &mut [f32], v: &mut [f32]) {
        for (((w, g), m), v) in w.iter_mut().zip(g).zip(m).zip(v) {
            let d = *g * self.shrink;
            *g = 0.0;
            *m = BETA1 * *m + (1.0 - BETA1) * d;
            *v = BETA2 * *v + (1.0 - BETA2) * d * d;
            *w -= self.rate * *m / (v.sqrt() + 1e-8);
        }
    }
}

/// Turns scores into the gradient of the cross-entropy, times `scale`; returns the loss in nats.
fn softmax_loss(row: &mut [f32], gold: usize, scale: f32) -> f64 {
    let top = row.iter().fold(f32::NEG_INFINITY, |m, &x| m.max(x));
    let mut sum = 0.0;
    for x in row.iter_mut() {
        *x = exp(*x - top);
        sum += *x;
    }
    let p = row[gold] / sum;
    for x in row.iter_mut() {
        *x *= scale / sum;
    }
    row[gold] -= scale;
    -f64::from(p.max(1e-30)).ln()
}

fn mask(width: usize, p: f32, random: &mut Random) -> Vec<f32> {
    (0..width)
        .map(|_| {
            if random.unit() < p {
                0.0
            } else {
                1.0 / (1.0 - p)
            }
        })
        .collect()
}

fn apply_mask(rows: &mut [f32], mask: &[f32]) {
    for row in rows.chunks_exact_mut(mask.len()) {
        for (x, m) in row.iter_mut().zip(mask) {
            *x *= m;
        }
    }
}

fn add(to: &mut [f32], from: &[f32]) {
    for (a, b) in to.iter_mut().zip(from) {
        *a += b;
    }
}

fn squares(g: &[f32]) -> f64 {
    let mut lanes = [0.0f32; 16];
    let chunks = g.chunks_exact(16);
    let rest: f32 = chunks.remainder().iter().map(|x| x * x).sum();
    for chunk in chunks {
        for k in 0..16 {
            lanes[k] += chunk[k] * chunk[k];
        }
    }
    f64::from(lanes.iter().sum::<f32>() + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Dropout = Dropout {
        layer: 0.0,
        mlp: 0.0,
        word: 0.0,
        spelling: 0.0,
    };

    fn example() -> Example {
        Example {
            words: vec![1, 2, 0, 2],
            spelling: vec![vec![0, 3], vec![1], vec![2, 4, 1], vec![4]],
            tags: vec![Some(0), Some(2), None, Some(1)],
            heads: vec![2, 0, 2, 3],
            relations: vec![1, 0, 2, 1],
        }
    }

    fn network() -> Network {
        let shape = Shape {
            words: 3,
            word_dim: 3,
            buckets: 5,
            spelling_dim: 4,
            hidden: 5,
            layers: 2,
            tags: 3,
            arc: 5,
            label: 4,
            relations: 3,
        };
        Network::new(shape, &mut Random(7))
    }

    fn loss(net: &mut Network) -> f64 {
        let l = net.learn(&example(), NONE, 0.0, &mut Random(1));
        l.tag + l.arc + l.relation
    }

    #[test]
    fn the_gradients_agree_with_finite_differences() {
        let mut net = network();
        net.learn(&example(), NONE, 1.0, &mut Random(1));
        let mut gradients: Vec<Vec<f32>> = Vec::new();
        net.dense(|w| gradients.push(w.g.clone()));
        let step = 5e-4f32;
        let shift = |net: &mut Network, which: usize, at: usize, by: f32| {
            let mut number = 0;
            net.dense(|w| {
                if number == which {
                    w.w[at] += by;
                }
                number += 1;
            });
        };
        for (which, gradient) in gradients.iter().enumerate() {
            for at in (0..gradient.len()).step_by(gradient.len() / 7 + 1) {
                shift(&mut net, which, at, step);
                let up = loss(&mut net);
                shift(&mut net, which, at, -2.0 * step);
                let down = loss(&mut net);
                shift(&mut net, which, at, step);
                let measured = (up - down) / f64::from(2.0 * step);
                let computed = f64::from(gradient[at]);
                assert!(
                    (measured - computed).abs() < 5e-3 + 0.02 * computed.abs(),
                    "weight {which}[{at}]: {measured} measured, {computed} computed"
                );
            }
        }
        let words = net.words.g.clone();
        for (at, computed) in words.iter().enumerate() {
            net.words.w[at] += step;
            let up = loss(&mut net);
            net.words.w[at] -= 2.0 * step;
            let down = loss(&mut net);
            net.words.w[at] += step;
            let measured = (up - down) / f64::from(2.0 * step);
            assert!((measured - f64::from(*computed)).abs() < 5e-3, "{at}");
        }
    }
}
