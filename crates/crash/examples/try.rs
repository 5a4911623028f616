use std::time::Instant;
use strandline_crash::litmus::*;
fn main() {
    let n: u64 = std::env::args().nth(1).map_or(1000, |x| x.parse().unwrap());
    for subject in Registered::all() {
        let start = Instant::now();
        let report = random(&subject, 1, n).unwrap();
        println!(
            "{} {} {} {:?}",
            report.design,
            report.programs,
            report.crash_states,
            start.elapsed()
        );
        for v in report.violations {
            println!("{} {}\n{}\n{}", v.seed, v.machine, v.program, v.detail.join("\n"));
        }
    }
}
