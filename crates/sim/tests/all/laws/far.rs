//! Distance: what is durable by an answer of the device takes the way there and back, as often as the design waits for one answer
//! after the other.

use super::{cycles, designs, judge, Verdict, SPS};

/// Cycles to the device, one way. Beside it the rest of a task takes next to nothing.
const WAY: u64 = 100_000;

/// Designs under which a task waits for no answer: what is visible is saved, or nothing is promised.
const AT_ONCE: [&str; 4] = ["eadr", "bbb", "unordered", "volatile"];

/// Ways there and back that a task of `sps` waits for, at least: it has a log, data behind it, and the log's end behind that.
const TRIPS: [(&str, f64); 9] = [
    // Its two fences each wait for flushes, and then for a pcommit.
    ("x86-pcommit", 4.0),
    ("sp", 4.0),
    // Three epochs each have their lines accepted, and then their fence.
    ("dpo", 6.0),
    // The log's epoch is durable, and then that of the data, which were written early, commits.
    ("asap-ep", 2.0),
    ("asap-rp", 2.0),
    ("asap-strand", 2.0),
    ("asap-frontier-ep", 2.0),
    ("asap-frontier-rp", 2.0),
    ("asap-frontier-strand", 2.0),
];

/// Whether a design's task takes its ways there and back; others than these take one.
pub fn holds(design: &str) -> Verdict {
    let set = [
        "machine.cxl.link_gbps=0".to_owned(),
        format!("machine.cxl.link_latency={WAY}"),
    ];
    let trips = cycles(&SPS.spec(design, "asap", &set)) / (2 * WAY * SPS.tasks) as f64;
    let own = TRIPS.iter().find(|(name, _)| *name == design);
    let least = own.map_or(1.0, |(_, trips)| *trips);
    match trips >= least {
        true => Ok(()),
        false => Err(format!(
            "{design}: a task takes {trips:.2} ways to the device and back, which are {least} at least"
        )),
    }
}

#[test]
fn what_the_device_answers_takes_the_way_there_and_back() {
    judge(
        designs()
            .into_iter()
            .filter(|design| !AT_ONCE.contains(design))
            .map(holds),
    );
}
