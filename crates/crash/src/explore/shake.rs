//! Perturbation of machine and design. A design must recover with any latencies of flushes, any evictions, and any
//! sizes of its own and the machine's queues.

use super::corners::corners;
use super::sizes::is_set;
use strandline_designs::design;
use strandline_kernel::Rng;
use strandline_sim::{Plan, Spec};

/// The queues that a perturbation shrinks to 1 to 8 entries.
const QUEUES: [&str; 4] = [
    "machine.core.store_queue_entries",
    "machine.core.writeback_buffer_entries",
    "machine.core.write_combining_buffers",
    "machine.controllers.wpq_entries",
];

/// The perturbed settings of run `number`, except those of the user; run 0 is unperturbed.
pub fn shake(spec: &Spec, number: usize) -> Vec<String> {
    if number == 0 {
        return Vec::new();
    }
    let mut rng = Rng::new(seed(spec, number));
    let mut sets = vec![
        format!("machine.simulation.jitter={}", 50 << rng.below(6)),
        format!("machine.simulation.evict_one_in={}", 2 << rng.below(6)),
        // Small queues before slow media would only make the run longer.
        format!("machine.pm.write_latency={}", 25 << rng.below(5)),
    ];
    for queue in QUEUES {
        let entries = 1u64 << rng.below(4);
        if !rng.one_in(3) {
            sets.push(format!("{queue}={entries}"));
        }
    }
    let corners = corners_of(spec, number);
    // A slow channel behind paths of one store would only make the run longer.
    if corners.is_empty() && !spec.set.iter().any(|set| set.starts_with("design.")) {
        sets.extend(channel_of(spec, number));
    }
    sets.extend(corners);
    sets.retain(|set| set.split_once('=').is_some_and(|(key, _)| !is_set(spec, key)));
    match fits(spec, &sets) {
        true => sets,
        false => those_that_fit(spec, sets),
    }
}

/// A separate random stream, so that the other settings of a seed do not depend on whether the design has a channel.
const CHANNEL_STREAM: u64 = 0xc4a_22e1;

/// The channel, for designs whose stores go to memory beside the caches: as it is, slow, and of different lengths.
fn channel_of(spec: &Spec, number: usize) -> Vec<String> {
    if !design(&spec.design).is_some_and(|design| design.wants().durable_lines) {
        return Vec::new();
    }
    let mut rng = Rng::new(seed(spec, number) ^ CHANNEL_STREAM);
    let (latency, step) = (rng.below(4), rng.below(4));
    vec![
        format!("machine.channel.latency={}", [0, 0, 50, 100][latency as usize]),
        format!("machine.channel.step={}", [0, 0, 30, 100][step as usize]),
    ]
}

/// Extreme values of the design's parameters.
fn corners_of(spec: &Spec, number: usize) -> Vec<String> {
    let design = design(&spec.design);
    let params = design.iter().flat_map(|design| design.free_params());
    let corners = corners(params, seed(spec, number));
    corners
        .into_iter()
        .map(|(key, value)| format!("design.{key}={value}"))
        .collect()
}

/// Removes settings that conflict with the machine, one at a time.
fn those_that_fit(spec: &Spec, sets: Vec<String>) -> Vec<String> {
    let mut fitting: Vec<String> = Vec::new();
    for set in sets {
        fitting.push(set);
        if !fits(spec, &fitting) {
            fitting.pop();
        }
    }
    fitting
}

fn fits(spec: &Spec, sets: &[String]) -> bool {
    let set = sets.iter().chain(&spec.set).cloned().collect();
    Plan::of(&Spec { set, ..spec.clone() }).is_ok()
}

/// The seed of run `number`; run 0 has the user's.
pub fn seed(spec: &Spec, number: usize) -> u64 {
    spec.seed.wrapping_add(number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_differ_and_the_first_is_as_the_machine_is() {
        let spec = Spec::new("sps", "x86");
        assert!(shake(&spec, 0).is_empty());
        assert_eq!(shake(&spec, 3), shake(&spec, 3));
        assert_ne!(shake(&spec, 1), shake(&spec, 2));
    }

    #[test]
    fn no_shaking_contradicts_the_machine() {
        for machine in strandline_machine::preset_names() {
            let machine = Some(machine.to_string());
            let spec = Spec {
                machine,
                ..Spec::new("sps", "x86")
            };
            assert!(
                (0..100).all(|number| fits(&spec, &shake(&spec, number))),
                "{:?}",
                spec.machine
            );
        }
    }

    #[test]
    fn the_users_settings_win() {
        let mut spec = Spec::new("sps", "x86");
        spec.set = vec!["machine.simulation.jitter=3".into()];
        for number in 1..8 {
            assert!(shake(&spec, number).iter().all(|set| !set.contains("jitter")));
        }
    }
}
