//! Write-ahead logging (Speculative Persistence, ISCA 2017): what its variants execute, operation by operation.

use crate::common::counting::Counts;
use crate::common::{counted, logged, small, ALONE};
use strandline_isa::{Flush, Lowering, Primitive};
use strandline_runtime::adversary::FENCED;
use strandline_runtime::{BuildPlan, Logging, Runtime, Wal};
use strandline_workloads::{build, describe};

/// As `x86-pcommit` lowers: a sync barrier at each order (section 2.2).
const BARRIERS: Lowering = Lowering {
    log: true,
    flush: Some(Flush::Clwb),
    log_before_update: BARRIER,
    commit: BARRIER,
    durable: BARRIER,
    ..Lowering::NOTHING
};

const BARRIER: &[Primitive] = &[Primitive::Sfence, Primitive::Pcommit, Primitive::Sfence];

/// The workloads of Table 1 with full logging: one region an operation.
const FULL_LOGGING: &[&str] = &[
    "linked-list",
    "string-swap",
    "graph",
    "sp-hashmap",
    "avl-tree",
    "b-tree",
    "sp-rb-tree",
];

fn plan(variant: Wal) -> BuildPlan {
    BuildPlan {
        logging: Logging {
            runtime: Runtime::Wal(variant),
            batch: 1,
            ..Logging::UNDO
        },
        ..ALONE
    }
}

/// Counts each task by itself.
fn each(name: &str, variant: Wal, lowering: Lowering) -> Vec<Counts> {
    let (workload, memory) = small(name, &[], &plan(variant));
    counted(&*workload, &memory, lowering, 200, 11).tasks()
}

/// "At least 4 pcommits and 8 sfence operations are needed per transactional update" (3.1), and with full logging no
/// more. A resizing has one when all records are copied, and then a region of its own. A full list takes no node.
#[test]
fn every_operation_takes_four_pcommits_and_eight_sfences() {
    for name in FULL_LOGGING {
        let (mut resizings, mut refusals) = (0, 0);
        for counts in each(name, Wal::LogPSf, BARRIERS) {
            match (counts.pcommits, counts.fences - counts.pcommits) {
                (4, 8) => {}
                (9, 18) => resizings += 1,
                (0, 0) => refusals += 1,
                _ => panic!("{name}: {counts:?}"),
            }
        }
        assert_eq!(resizings > 0, *name == "sp-hashmap", "{name}");
        assert_eq!(refusals > 0, *name == "linked-list", "{name}");
        for counts in each(name, Wal::LogP, BARRIERS) {
            assert_eq!(counts.pcommits, counts.fences, "{name}: {counts:?}");
        }
    }
}

/// Log writes no less than the plain program; Log+P adds flushes alone to it, and Log+P+Sf fences alone to that.
#[test]
fn each_variant_adds_its_own_instructions_only() {
    for name in logged() {
        let sum = |variant| {
            let all = each(name, variant, FENCED);
            all.iter().fold(Counts::default(), |sum, counts| sum.plus(counts))
        };
        let [none, log, flushed, ordered] = [Wal::None, Wal::Log, Wal::LogP, Wal::LogPSf].map(sum);
        assert_eq!(
            (none.flushes, none.fences, log.flushes, log.fences),
            (0, 0, 0, 0),
            "{name}"
        );
        assert!(none.stores < log.stores && none.loads < log.loads, "{name}");
        assert!(flushed.flushes > 0 && flushed.fences == 0, "{name}");
        let bare = |counts: Counts| Counts { fences: 0, ..counts };
        assert!(ordered.fences > 0, "{name}");
        assert_eq!(bare(ordered), bare(flushed), "{name}");
    }
}

/// A deletion flushes the predecessor's record and its address, the logged word twice, and the predecessor; an
/// insertion the new node besides (section 3.1.1).
#[test]
fn a_list_flushes_one_record_and_its_updates() {
    let (mut insertions, mut deletions) = (0, 0);
    for counts in each("linked-list", Wal::LogPSf, BARRIERS) {
        match counts.flushes {
            5 => deletions += 1,
            6 => insertions += 1,
            // The list is full.
            0 => {}
            other => panic!("{other} flushes"),
        }
    }
    // A quarter of 200 and more each: five standard deviations.
    assert!(insertions > 50 && deletions > 50, "{insertions} {deletions}");
}

/// "Eight clwbs are issued for logging entries and one clwb is for indexes", one each for setting and clearing the bit,
/// and "another eight" behind the swap (3.2).
#[test]
fn a_swap_of_strings_flushes_eight_lines_of_log_one_of_indexes_and_eight_of_strings() {
    for counts in each("string-swap", Wal::LogPSf, BARRIERS) {
        assert_eq!(counts.flushes, 8 + 1 + 2 + 8);
    }
}

#[test]
fn operations_are_as_many_as_in_table_1() {
    for (name, init_ops, sim_ops) in [
        ("graph", 2_600_000, 100_000),
        ("sp-hashmap", 1_500_000, 100_000),
        ("linked-list", 500, 50_000),
        ("string-swap", 120_000, 500_000),
    ] {
        let about = describe(name).unwrap();
        let param = about.params.iter().find(|param| param.name == "init_ops");
        assert_eq!(
            (param.map(|param| param.default), about.tasks),
            (Some(init_ops), sim_ops),
            "{name}"
        );
    }
}

#[test]
fn structures_of_the_default_sizes_run() {
    for name in FULL_LOGGING {
        let (workload, memory) = build(name, [("init_ops", "20000")], &plan(Wal::LogPSf)).unwrap();
        counted(&*workload, &memory, FENCED, 1000, 3);
        assert_eq!(workload.check(&memory), Ok(()), "{name}");
    }
}
