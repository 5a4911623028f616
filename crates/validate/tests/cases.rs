//! What the machine `zen4` makes of the cases. Nothing here is measured.

use std::collections::BTreeSet;
use strandline_machine::MachineConfig;
use strandline_validate::{cases, simulated, Case};

fn zen4() -> MachineConfig {
    MachineConfig::preset("zen4").expect("a preset")
}

fn case(name: &str) -> Case {
    let found = cases().into_iter().find(|case| case.name == name);
    found.unwrap_or_else(|| panic!("{name} is a case"))
}

fn time(name: &str) -> f64 {
    simulated(&case(name), &zen4()).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn names_are_unique() {
    let names: BTreeSet<String> = cases().into_iter().map(|case| case.name).collect();
    assert_eq!(names.len(), cases().len());
}

/// Each is a parameter of the machine, apart from the loop's own branch and the way into the loop.
#[test]
fn times_of_the_core_are_its_parameters() {
    for (name, cycles) in [
        ("adds-dependent", 1.0),
        ("adds-independent", 1.0 / 4.0),  // ALUs
        ("loads-independent", 1.0 / 3.0), // load ports
        ("stores-l1", 1.0),               // the L1 takes one a cycle
        ("load-l1", 4.0),
    ] {
        let time = time(name);
        assert!((time / cycles - 1.0).abs() < 0.03, "{name}: {time}, not {cycles}");
    }
}

/// Its 64 pages fit the first TLB, of 72. The L2 adds 10 cycles to the L1's 4.
#[test]
fn a_chase_takes_the_level_that_it_fits() {
    let time = time("load-l2");
    assert!((14.0..14.5).contains(&time), "{time}");
}

#[test]
fn a_case_takes_the_same_time_in_each_run() {
    for name in ["clwb-4", "burst-4", "swaps-8", "branches-random"] {
        assert_eq!(time(name).to_bits(), time(name).to_bits(), "{name}");
    }
}

/// Fences wait for one another; the lines of one fence do not.
#[test]
fn a_fence_of_many_lines_takes_less_than_as_many_fences() {
    assert!(time("clwb-64") < 8.0 * time("clwb-1"));
    assert!(time("swaps-64") < time("swaps-1") / 2.0);
}
