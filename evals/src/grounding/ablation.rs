//! Whether curvature helps the ranking: recall@k with several λ.

use std::path::PathBuf;

use anyhow::Context;
use qadra_epistemic::curvature::Measure;

use super::world::{Case, Setting, World, against};
use super::{entries, family};

/// Prints tables for a synthetic family, and for each file of entries as one graph with questions made from it.
pub fn print_ablation(files: &[PathBuf]) -> anyhow::Result<()> {
    let family = family::family(1);
    report("synthetic, about one", &family.world, &family.about);
    report("synthetic, connecting two", &family.world, &family.connect);
    for path in files {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
        let set = entries::read(&text);
        let name = crate::parser::name(path);
        for (kind, cases) in set.questions() {
            report(&format!("{name}, {kind}"), &set.world, cases);
        }
    }
    Ok(())
}

fn report(title: &str, world: &World, cases: &[Case]) {
    let ks = [2, 5, 10, 20];
    println!(
        "\n{title}: n = {}, {} statements",
        cases.len(),
        world.triples.len()
    );
    println!(
        "{:<24}{:>24}{:>24}{:>24}{:>24}",
        "recall (Δ ± s.e.)", "@2", "@5", "@10", "@20"
    );
    let none = Setting {
        measure: Measure::Balanced,
        lambda: 0.0,
        chains: false,
    };
    let mut base = world.recalls(cases, none, &ks);
    print("λ 0", &base, &base);
    settings(world, cases, none, &base, &ks);
    if title.contains("connecting") {
        let chains = Setting {
            chains: true,
            ..none
        };
        let own = world.recalls(cases, chains, &ks);
        print("λ 0, chains", &base, &own);
        base = own;
        println!("with chains, against that:");
        settings(world, cases, chains, &base, &ks);
    }
}

fn settings(world: &World, cases: &[Case], start: Setting, base: &[Vec<f64>], ks: &[usize]) {
    let lines = [
        (Measure::Balanced, 0.05),
        (Measure::Balanced, 0.1),
        (Measure::Balanced, 0.2),
        (Measure::Balanced, 0.5),
        (Measure::Augmented, 0.1),
        (Measure::Augmented, 0.5),
    ];
    for (measure, lambda) in lines {
        let setting = Setting {
            measure,
            lambda,
            ..start
        };
        let own = world.recalls(cases, setting, ks);
        print(&format!("{measure:?} λ {lambda}"), base, &own);
    }
}

fn print(name: &str, base: &[Vec<f64>], own: &[Vec<f64>]) {
    let cells: String = base
        .iter()
        .zip(own)
        .map(|(base, own)| {
            let (mean, difference) = against(base, own);
            let cell = format!(
                "{:.3} ({:+.3} ± {:.3})",
                mean.mean, difference.mean, difference.standard_error
            );
            format!("{cell:>24}")
        })
        .collect();
    println!("{name:<24}{cells}");
}
