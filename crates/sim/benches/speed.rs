//! Host speed: simulated instructions a second, by workload, design and core count.
//!
//! `cargo bench -p strandline-sim` prints the table.

use strandline_sim::{run, Record, Spec};

fn spec(workload: &str, design: &str, tasks: u64, threads: u64) -> Spec {
    Spec {
        tasks: Some(tasks),
        threads: Some(threads),
        warm: Some(0),
        ..Spec::new(workload, design)
    }
}

/// The fastest of three runs, because other processes use the host, too.
fn fastest(spec: &Spec) -> Record {
    let mut runs: Vec<Record> = (0..3).map(|_| run(spec).expect("a run")).collect();
    runs.sort_by(|a, b| b.host_mips.total_cmp(&a.host_mips));
    runs.swap_remove(0)
}

fn main() {
    println!(
        "{:>6} {:>12} {:>6} {:>10} {:>14}",
        "", "design", "cores", "host MIPS", "host ns/instr"
    );
    let designs = ["x86", "unordered", "eadr", "volatile", "x86-pcommit"];
    let mut rows: Vec<(&str, &str, u64, u64)> = Vec::new();
    rows.extend(designs.iter().map(|d| ("sps", *d, 300_000, 1)));
    rows.extend(["pc", "tatp"].iter().map(|w| (*w, "x86", 300_000, 1)));
    rows.extend([("tpcc", "x86", 4_000, 1), ("cq", "x86", 50_000, 1)]);
    rows.extend([2, 4, 8, 64].iter().map(|n| ("sps", "x86", 300_000, *n)));
    for (workload, design, tasks, threads) in rows {
        let record = fastest(&spec(workload, design, tasks, threads));
        let ns = 1e3 / record.host_mips;
        println!(
            "{workload:>6} {design:>12} {threads:>6} {:>10.1} {ns:>14.1}",
            record.host_mips
        );
    }
}
