//! The synthetic half of the ablation, small enough to hold in every run; the whole is `qadra-evals ablation`.

#[path = "../../src/grounding/family.rs"]
mod family;
#[path = "../../src/grounding/world.rs"]
mod world;

use qadra_epistemic::{Options, curvature::Measure};
use world::{Setting, against};

const NONE: Setting = Setting {
    measure: Measure::Balanced,
    lambda: 0.0,
    chains: false,
};

#[test]
fn cohesive_statements_are_found_better_with_curvature() {
    let family = family::family(2);
    let set = Setting {
        lambda: Options::default().lambda,
        ..NONE
    };
    let without = family.world.recalls(&family.about, NONE, &[5, 40]);
    let with = family.world.recalls(&family.about, set, &[5, 40]);
    let (mean, gain) = against(&without[0], &with[0]);
    assert!(mean.n > 200);
    assert!(gain.mean > 3.0 * gain.standard_error, "{gain:?}");
    assert!(gain.mean > 0.05, "{gain:?}");
    // Nothing relevant is lost among the forty that are kept.
    assert!(against(&without[1], &with[1]).1.mean > -0.005);
}

#[test]
fn chains_find_what_connects_two_nodes_and_curvature_does_not_undo_it() {
    let family = family::family(2);
    let chains = Setting {
        chains: true,
        ..NONE
    };
    let both = Setting {
        lambda: Options::default().lambda,
        ..chains
    };
    let none = family.world.recalls(&family.connect, NONE, &[5]);
    let chained = family.world.recalls(&family.connect, chains, &[5]);
    let all = family.world.recalls(&family.connect, both, &[5]);
    assert!(against(&none[0], &chained[0]).1.mean > 0.5);
    assert!(against(&chained[0], &all[0]).1.mean > -0.02);
}
