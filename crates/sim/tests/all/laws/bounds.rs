//! Bounds: no design beats what the documentation calls a bound, and no run is faster for more work.

use super::{cases, cycles, judge, judge_pairs, queue, Program, Verdict, HASHMAP, SPS};

/// A bound, and designs that do all that it does and more.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub bound: &'static str,
    pub design: &'static str,
}

const fn row(bound: &'static str, design: &'static str) -> Row {
    Row { bound, design }
}

const SHORT: [Row; 7] = [
    row("volatile", "x86"),
    row("volatile", "eadr"),
    row("volatile", "asap-rp"),
    row("unordered", "x86"),
    row("unordered", "cosplay"),
    row("eadr", "asap-ep"),
    row("eadr", "bbb"),
];

/// Those of the thorough form beside them.
const MORE: [Row; 11] = [
    row("volatile", "unordered"),
    row("volatile", "hops-rp"),
    row("volatile", "strandweaver"),
    row("volatile", "pmem-spec"),
    row("volatile", "lb-pp"),
    row("unordered", "dccvap"),
    row("unordered", "x86-pcommit"),
    row("unordered", "sbatch"),
    row("eadr", "hops-ep"),
    row("eadr", "asap-rp"),
    row("eadr", "lb-pp"),
];

/// Threads that contend for locks run in another order under another design: single runs differ by this share.
const NOISE: f64 = 0.03;

/// 120 tasks each.
const PROGRAMS: [Program; 2] = [Program { tasks: 120, ..SPS }, HASHMAP];

pub fn holds(row: Row, program: Program) -> Verdict {
    let [bound, other] = [row.bound, row.design].map(|design| cycles(&program.spec(design, "asap", &[])));
    match other >= bound * (1.0 - NOISE) {
        true => Ok(()),
        false => Err(format!(
            "{row:?}, {} on {} threads: {other} cycles, {bound} of the bound",
            program.workload, program.threads
        )),
    }
}

#[test]
fn no_design_beats_a_bound() {
    for program in PROGRAMS {
        judge(
            cases(&SHORT, &[&SHORT[..], &MORE].concat())
                .into_iter()
                .map(|row| holds(row, program)),
        );
    }
}

/// Twice the additions never make a run faster.
fn monotone(design: &str, threads: u64) -> Verdict {
    let mut last = 0.0;
    for think in [0, 2_000, 4_000, 8_000] {
        let set = [format!("runtime.think={think}"), "runtime.lock=ticket".to_owned()];
        let now = cycles(&queue(threads, 80).spec(design, "asap", &set));
        if now < last * (1.0 - NOISE) {
            return Err(format!(
                "{design}, {threads} threads: {now} cycles with {think} instructions a task, {last} with fewer"
            ));
        }
        last = now;
    }
    Ok(())
}

#[test]
fn more_work_makes_no_run_faster() {
    let short = ["x86", "eadr", "asap-rp", "strandweaver"];
    let all = super::designs();
    let designs = cases(&short, &all);
    judge_pairs(&designs, &[1, 4], monotone);
}
