//! Distance: what is durable by an answer of the device takes the way there and back.

use super::{cycles, designs, judge, Verdict, SPS};

/// Cycles to the device, one way: more than a task of a near device takes.
const WAY: u64 = 10_000;

/// Designs under which a task waits for no answer: what is visible is saved, or nothing is promised.
const AT_ONCE: [&str; 4] = ["eadr", "bbb", "unordered", "volatile"];

fn holds(design: &str) -> Verdict {
    let set = [
        "machine.cxl.link_gbps=0".to_owned(),
        format!("machine.cxl.link_latency={WAY}"),
    ];
    let of_a_task = cycles(&SPS.spec(design, "asap", &set)) / SPS.tasks as f64;
    match of_a_task >= 2.0 * WAY as f64 {
        true => Ok(()),
        false => Err(format!(
            "{design}: a task takes {of_a_task:.0} cycles, its message to the device {WAY} each way"
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
