//! Broken variants of buffers on the way to memory, and what notices each. The tests of `crates/crash` compile this file.

use crate::mutants::table::*;
use strandline_designs::rules::Switch;
use strandline_rules::Rule;

/// Two hosts behind a switch, and a device that takes long to accept what is sent on.
const SWITCHED: [&str; 4] = [
    "machine.hosts=2",
    "machine.cxl.link_latency=100",
    "machine.cxl.switch_latency=400",
    SLOW_DEVICE,
];
const SLOW_DEVICE: &str = "machine.controllers.bmo_latency=5000";
/// The same, whose buffers keep none or two lines.
const KEEP_NONE: [&str; 5] = [SWITCHED[0], SWITCHED[1], SWITCHED[2], SLOW_DEVICE, "design.keep=0"];
const KEEP_TWO: [&str; 5] = [SWITCHED[0], SWITCHED[1], SWITCHED[2], SLOW_DEVICE, "design.keep=2"];
/// A buffer of one line.
const ONE_LINE: [&str; 3] = [SWITCHED[1], SWITCHED[2], "design.entries=1"];

#[rustfmt::skip]
pub const MUTANTS: &[Mutant] = &[
    mutant("pcs/buffer-lost", "pcs", B(Switch::BufferIsSaved.any()), &[], &[E, P, T]),
    mutant("pcs/answers-before-taking", "pcs", B(Rule::AcknowledgedAfterAcceptance.any()), &ONE_LINE, &[E]),
    mutant("pcs/entry-leaves-early", "pcs", B(Switch::EntryUntilAccepted.any()), &SWITCHED, &[P]),
    mutant("pcs/line-leaves-out-of-order", "pcs", B(Switch::LineLeavesInOrder.any()), &SWITCHED, &[P]),
    mutant("pcs/forwards-stale", "pcs", B(Switch::ForwardsNewest.any()), &SWITCHED, &[P]),
    mutant("pcs/sfence-passes", "pcs", D(Change::Primitive(Primitive::Sfence, Admission::Pass), "An sfence waits until the switch has older flushes. Broken: for nothing.", PCS), &[], &[E, P, T]),
    mutant("dpd/coalescing-loses-older", "dpd", B(Switch::CoalescingKeepsOlder.any()), &KEEP_NONE, &[P]),
    mutant("dpd/coalescing-keeps-older", "dpd", B(Switch::CoalescingTakesNewer.any()), &[], &[E, P, T]),
    mutant("dpd/two-entries-of-a-line", "dpd", B(Switch::OneEntryOfALine.any()), &KEEP_TWO, &[P]),
    mutant("dpd/read-passes-buffers", "dpd", B(Switch::ReadAsksBuffer.any()), &SWITCHED, &[E, P]),
    mutant("dpd/durable-unfenced", "dpd", D(Change::Lowering(|l| l.durable = &[]), "What is acknowledged is durable. Broken: no fence before the acknowledgement.", PCS), &[], &[E, T]),
    mutant("device-buffer/buffer-lost", "device-buffer", B(Switch::BufferIsSaved.any()), &[BACKEND], &[E, P]),
    mutant("device-buffer/entry-leaves-early", "device-buffer", B(Switch::EntryUntilAccepted.any()), &[BACKEND], &[E, P]),
];
