//! Every registered design before the whole shelf and before random programs.

use std::collections::BTreeSet;
use strandline_crash::litmus::{conform, random, Registered, Subject};
use strandline_order::{allowed, shelf, Model, Test};

/// Machines on which a design runs a test.
const MACHINES: u64 = 30;

#[test]
fn no_design_shows_what_its_model_forbids() {
    for design in Registered::all() {
        let about = design.about();
        let mut models = BTreeSet::new();
        for entry in shelf() {
            let test = entry.test().expect("a right test");
            let ran =
                conform(&design, &test, None, MACHINES, 1).unwrap_or_else(|error| panic!("{}: {error}", entry.path));
            let Some(conformance) = ran else { continue };
            assert!(
                conformance.violations.is_empty(),
                "{}: {:#?}",
                entry.path,
                conformance.violations
            );
            assert!(conformance.crash_states >= MACHINES);
            models.insert(conformance.model);
        }
        let promised: BTreeSet<String> = [Some(about.model), about.intents]
            .into_iter()
            .flatten()
            .map(str::to_owned)
            .collect();
        assert_eq!(
            models, promised,
            "{} ran tests of its model and of the intents that it keeps",
            about.name
        );
    }
}

#[test]
fn every_design_names_models_that_exist() {
    for design in Registered::all() {
        let about = design.about();
        for name in [Some(about.model), about.intents].into_iter().flatten() {
            let model = Model::named(name).unwrap_or_else(|fault| panic!("{}: {fault}", about.name));
            let tests = shelf()
                .into_iter()
                .filter(|entry| model.takes(&entry.test().expect("a right test")));
            assert!(tests.count() > 10, "{name} has tests of its own");
        }
    }
}

#[test]
fn random_programs_show_nothing_that_a_model_forbids() {
    for design in Registered::all() {
        let report = random(&design, 1, 5000).expect("programs that can be run");
        assert!(report.violations.is_empty(), "{:#?}", report.violations);
        assert_eq!(report.programs, 5000);
    }
}

#[test]
fn contexts_that_collide_show_nothing_that_the_model_forbids() {
    for design in ["cosplay", "freeswitch"] {
        for contexts in ["1", "2"] {
            let design = Registered::named(design)
                .expect("registered")
                .with("contexts", contexts);
            let report = random(&design, 1, 3000).expect("programs that can be run");
            assert!(
                report.violations.is_empty(),
                "{contexts} contexts: {:#?}",
                report.violations
            );
        }
    }
}

/// A test of the shelf by its path.
fn on_shelf(path: &str) -> Test {
    let entry = shelf().into_iter().find(|entry| entry.path == path);
    entry
        .unwrap_or_else(|| panic!("{path} is on the shelf"))
        .test()
        .expect("a right test")
}

#[test]
fn what_may_be_reordered_is_reordered() {
    // Lines leave the caches in any order, fences hold nothing that is not flushed: a design that shows less than its model allows
    // here would be tested less than it seems.
    for (design, path) in [
        ("x86", "classic/mp+plain+dram"),
        ("x86", "papers/undo-x86"),
        ("x86", "classic/sb"),
        ("x86-pcommit", "classic/mp+plain+dram"),
        ("eadr", "papers/undo-eadr-nothing"),
        ("unordered", "classic/mp+clwb+dram"),
        // Another context's stores and flushes may be under way behind a cfence.
        ("cosplay", "cfence/ww+clwb.other-cfence"),
        ("freeswitch", "cfence/ww+clwb.other-cfence"),
        ("sbatch", "papers/undo-x86"),
    ] {
        let (design, test) = (Registered::named(design).expect("registered"), on_shelf(path));
        let shown = conform(&design, &test, None, 10_000, 1)
            .expect("runs")
            .expect("takes the test")
            .shown;
        let may = allowed(&test, &Model::named(design.about().model).expect("a model"))
            .expect("few executions")
            .states;
        let never: Vec<String> = may.difference(&shown).map(|state| test.show_state(state)).collect();
        assert_eq!(never, [""; 0], "{} never shows these of {path}", design.about().name);
    }
}

#[test]
fn the_same_seed_shows_the_same() {
    let design = Registered::named("x86").expect("registered");
    let test = on_shelf("classic/mp+plain+dram");
    let runs: Vec<String> = (0..2)
        .map(|_| format!("{:?}", conform(&design, &test, None, 20, 7)))
        .collect();
    assert_eq!(runs[0], runs[1]);
}
