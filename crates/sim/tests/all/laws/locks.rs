//! Work outside of locks: N threads with `s` cycles under one fair lock and `z` outside.

use super::{cases, cycles, judge, queue, Verdict};

/// Threads that share a queue, its lock, and what runs.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub design: &'static str,
    pub machine: &'static str,
    pub lock: &'static str,
}

const fn row(design: &'static str, machine: &'static str, lock: &'static str) -> Row {
    Row { design, machine, lock }
}

pub const SHORT: [Row; 4] = [
    row("eadr", "common", "ticket"),
    row("x86", "common", "mcs"),
    row("asap-rp", "asap", "ticket"),
    row("strandweaver", "strandweaver", "ticket"),
];

/// Those of the thorough form beside them.
const MORE: [Row; 10] = [
    row("eadr", "common", "mcs"),
    row("dpo", "common", "mcs"),
    row("x86", "cosplay", "ticket"),
    row("hops-rp", "asap", "mcs"),
    row("bbb", "asap", "ticket"),
    row("no-persist-queue", "strandweaver", "mcs"),
    row("lb-pp", "asap", "ticket"),
    row("pmem-spec", "common", "mcs"),
    row("volatile", "common", "ticket"),
    row("unordered", "asap", "mcs"),
];

const TASKS: u64 = 240;
/// Instructions of a task outside of its lock: some 800 cycles, and 3,200.
const THINKS: [u64; 2] = [3_200, 12_800];
/// More threads reach no more than the bound, but for the start and the end of a short run.
const ABOVE: f64 = 1.05;
/// They reach at least the bound over this.
const BELOW: f64 = 1.2;

/// Tasks a cycle.
fn rate(row: Row, threads: u64, think: u64) -> f64 {
    let set = [format!("runtime.lock={}", row.lock), format!("runtime.think={think}")];
    TASKS as f64 / cycles(&queue(threads, TASKS).spec(row.design, row.machine, &set))
}

/// N threads reach at most what one lock serves and N single threads do, and not much less; more threads reach no less up
/// to the knee.
pub fn holds(row: Row, threads: &[u64]) -> Verdict {
    let alone = 1.0 / rate(row, 1, 0);
    for think in THINKS {
        let one = 1.0 / rate(row, 1, think);
        let outside = one - alone;
        let mut fewer = 1.0 / one;
        for &n in threads {
            let held = 1.0 / rate(row, n, 0);
            let reached = rate(row, n, think);
            let most = (1.0 / held).min(n as f64 / one);
            let least = (1.0 / held).min(n as f64 / (held + outside)) / BELOW;
            let below_knee = n as f64 <= (held + outside) / held;
            let found = format!(
                "{row:?}, {n} threads, {think} instructions: a task each {:.0} cycles; {held:.0} under the lock, {one:.0} alone",
                1.0 / reached
            );
            if reached > most * ABOVE {
                return Err(format!("{found}: more than the bound"));
            }
            if reached < least {
                return Err(format!("{found}: less than the bound over {BELOW}"));
            }
            if below_knee && reached < fewer / ABOVE {
                return Err(format!("{found}: less than fewer threads reach"));
            }
            fewer = reached;
        }
    }
    Ok(())
}

#[test]
fn threads_under_one_lock_overlap_their_work_outside() {
    let rows = cases(&SHORT, &[&SHORT[..], &MORE].concat());
    let threads = cases(&[2, 4], &[2, 3, 4, 8]);
    judge(rows.into_iter().map(|row| holds(row, &threads)));
}
