//! Where the cycles went: slots with a micro-op are the micro-ops, asking changes nothing, and a cause that is made free
//! takes its slots along, and no others.

use super::{designs, judge, Program, Verdict, CQ, HASHMAP, SPS};
use serde_json::Value;
use std::collections::BTreeMap;
use strandline_machine::Class;
use strandline_sim::{Part, Progress, Record, Spec};

/// Cycles by class.
type Spent = BTreeMap<String, f64>;

fn asked(spec: Spec) -> (Record, Spent) {
    let spec = Spec { why: true, ..spec };
    let record =
        strandline_sim::run(&spec).unwrap_or_else(|error| panic!("{} {}: {error}", spec.workload, spec.design));
    let why = &record.params["why"];
    let width = why["width"].as_f64().expect("the width");
    let slots = why["slots"].as_object().expect("the slots").iter();
    let spent = slots.map(|(class, slots)| (class.clone(), slots.as_f64().expect("a number") / width));
    let spent = spent.collect();
    (record, spent)
}

/// Micro-ops of a core that may be dispatched in the region and counted outside, or the other way round.
const ENDS: f64 = 64.0;

/// All slots add up to the cycles, and those with a micro-op to the instructions, on a machine whose stores are one each.
fn adds_up(design: &str, program: Program) -> Verdict {
    let (record, spent) = asked(program.spec(design, "asap", &[]));
    let cycles = (record.stats.cycles.0 * record.ran.cores) as f64;
    let sum: f64 = spent.values().sum();
    let width = record.params["why"]["width"].as_f64().expect("the width");
    let dispatched = spent[Class::Retiring.key()] * width;
    let (instructions, ends) = (record.stats.instructions as f64, ENDS * record.ran.cores as f64);
    // A loop in which a program waits for another is a lock's, though it dispatches.
    let in_loops = if record.ran.cores > 1 { instructions } else { 0.0 };
    let known = instructions - in_loops - ends..=instructions + ends;
    match (sum - cycles).abs() < 1.0 && known.contains(&dispatched) {
        true => Ok(()),
        false => Err(format!(
            "{design}, {}: {sum} of {cycles} cycles; {dispatched} micro-ops were dispatched, of {}",
            program.workload, record.stats.instructions
        )),
    }
}

#[test]
fn slots_add_up_under_all_designs() {
    judge(
        designs()
            .into_iter()
            .flat_map(|design| [SPS, HASHMAP].map(|program| adds_up(design, program))),
    );
}

#[test]
fn a_run_that_is_asked_why_is_the_run() {
    for design in designs() {
        let spec = HASHMAP.spec(design, "asap", &[]);
        let (asked, _) = asked(spec.clone());
        let plain = strandline_sim::run(&spec).expect("a run");
        assert_eq!(asked.stats, plain.stats, "{design}");
    }
}

#[test]
fn a_timeline_s_cycles_have_the_same_classes() {
    let spec = Spec {
        why: true,
        ..SPS.spec("x86", "asap", &[])
    };
    let timeline = strandline_sim::timeline(&spec, &Part::default(), &Progress::default()).expect("a timeline");
    assert_eq!(timeline.record.params["why"], asked(spec).0.params["why"]);
}

/// A cause that is made free, and the classes that have its slots.
struct Free {
    classes: &'static [Class],
    design: &'static str,
    machine: &'static str,
    program: Program,
    sets: &'static [&'static str],
    free: &'static [&'static str],
}

const FAST_WAY: &[&str] = &["machine.pm.write_to_controller=1"];
const FAST_READS: &[&str] = &["machine.pm.read_latency=1", "machine.dram.read_latency=1"];

const fn free(
    classes: &'static [Class],
    design: &'static str,
    machine: &'static str,
    program: Program,
    sets: &'static [&'static str],
    free: &'static [&'static str],
) -> Free {
    Free {
        classes,
        design,
        machine,
        program,
        sets,
        free,
    }
}

const WIDE: &[&str] = &["machine.core.writeback_buffer_entries=64"];
const NARROW: &[&str] = &["machine.core.writeback_buffer_entries=1"];
const SLOW_MEDIA: &[&str] = &["machine.pm.write_gbps=0.5"];
const FAST_MEDIA: &[&str] = &["machine.pm.write_gbps=2000", "machine.pm.write_latency=1"];
const NO_PENALTY: &[&str] = &["machine.core.mispredict_penalty=0"];
const FAST_LOCKS: &[&str] = &["machine.core.locked_latency=1"];

const FREE: [Free; 10] = [
    free(&[Class::Way], "x86", "common", SPS, &[], FAST_WAY),
    free(&[Class::Way], "hops-ep", "common", CQ1, &[], FAST_WAY),
    free(&[Class::Way], "strandweaver", "strandweaver", SPS, &[], FAST_WAY),
    free(&[Class::Data, Class::Visible], "eadr", "asap", MAP1, &[], FAST_READS),
    free(&[Class::Data, Class::Visible], "eadr", "common", MAP1, &[], FAST_READS),
    free(&[Class::FrontEnd], "eadr", "asap", MAP1, &[], NO_PENALTY),
    free(&[Class::Media], "unordered", "cosplay", SPS, SLOW_MEDIA, FAST_MEDIA),
    free(&[Class::Lock], "x86", "cosplay", SPS, &[], FAST_LOCKS),
    free(&[Class::Full, Class::Way], "unordered", "common", MAP1, NARROW, WIDE),
    // A speculation buffer holds a line for as long as a store may be on its way: what is left of that is the way.
    free(
        &[Class::Commit, Class::Way],
        "pmem-spec",
        "common",
        SPS,
        &[],
        &["design.window=1"],
    ),
];

const CQ1: Program = Program { threads: 1, ..CQ };
const MAP1: Program = Program { threads: 1, ..HASHMAP };

/// What the freed classes lose is what the run gains, to this share of its cycles.
const OFF: f64 = 0.01;
/// What is freed is at least this share of the cycles: less would say nothing.
const LEAST: f64 = 0.012;

impl Free {
    fn spent(&self, more: &[&str]) -> Spent {
        let of: Vec<String> = more.iter().map(|set| (*set).to_owned()).collect();
        asked(self.program.spec(self.design, self.machine, &of)).1
    }

    fn holds(&self) -> Verdict {
        let (with, without) = (self.spent(self.sets), self.spent(self.free));
        let sum = |spent: &Spent| spent.values().sum::<f64>();
        let of = |spent: &Spent| self.classes.iter().map(|class| spent[class.key()]).sum::<f64>();
        let (gained, lost) = (sum(&with) - sum(&without), of(&with) - of(&without));
        let all = sum(&with);
        match (gained - lost).abs() <= OFF * all && lost >= LEAST * all {
            true => Ok(()),
            false => Err(format!(
                "{:?}, {} on {}: {} free gains {gained} of {all} cycles, of {lost} that had that cause",
                self.classes,
                self.design,
                self.machine,
                self.free.join(" ")
            )),
        }
    }
}

#[test]
fn a_cause_that_is_free_takes_its_cycles_along() {
    judge(FREE.iter().map(Free::holds));
}

#[test]
fn classes_have_the_record_s_keys() {
    let (record, spent) = asked(SPS.spec("x86", "asap", &[]));
    assert!(Class::ALL.iter().all(|class| spent.contains_key(class.key())));
    assert_eq!(record.params["why"]["until"], Value::Null);
}
