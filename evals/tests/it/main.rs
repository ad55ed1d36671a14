mod ablation;
mod small;
