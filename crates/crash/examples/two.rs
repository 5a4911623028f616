//! x
use strandline_crash::*;
fn main() {
    for w in ["sps","pc","tatp","tpcc","cq"] { for d in ["x86","x86-pcommit","eadr","non-atomic","unordered","volatile"] { for threads in [1,4] {
        let mut spec = strandline_sim::Spec::new(w, d);
        spec.threads = threads;
        let t = std::time::Instant::now();
        let r = explore(&spec, Points::Count(200)).unwrap();
        println!("{w} {d} {threads} points {} events {} failures {} {:?} {}", r.points, r.durable_events, r.failures.len(), t.elapsed(), r.failures.iter().map(|f| f.why.clone()).filter(|w| w.contains("model")).collect::<Vec<_>>().join(" / "));
    }}}
}
