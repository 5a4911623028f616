//! The examples of section IV-E step by step, those that the paper omits, and what is beyond it.

use super::accesses::Accesses;
use super::buffer::{Content, Entry as Held};
use super::dependences::Dependences;
use super::*;
use crate::mock::{Both, FLAG, ONE, TWO, X, Y, Z, ZERO};
use strandline_isa::Addr;

/// The paper's machine: one controller, a snooping bus, weak cores, no ADR.
fn both() -> Both<Dpo> {
    let mut both = Both::of(Dpo::default());
    (both.hw.controllers, both.hw.adr) = (1, false);
    (both.hw.in_order, both.hw.broadcasts) = (false, true);
    both
}

/// The name of a line.
fn name(line: Line) -> &'static str {
    let names = [(X, "X"), (Y, "Y"), (Z, "Z"), (FLAG, "AL")];
    let found = names.into_iter().find(|(addr, _)| addr.line() == line);
    found.expect("a named line").1
}

fn ids(dependences: &Dependences) -> String {
    let ids: Vec<String> = dependences
        .iter()
        .map(|d| format!("{}:{}", d.on.core.index(), d.on.number))
        .collect();
    ids.join(" ")
}

/// The lines of the read and write sets.
fn sets(accesses: &Accesses) -> String {
    let held = |set: &crate::parts::bloom::Bloom| {
        let lines = [X, Y, Z, FLAG].map(Addr::line);
        let held: Vec<_> = lines
            .into_iter()
            .filter(|line| set.was_given(*line))
            .map(name)
            .collect();
        held.join(" ")
    };
    format!("R{{{}}} W{{{}}}", held(&accesses.read), held(&accesses.written))
}

/// Every field of an entry: T and A, D, ID, Y, DP.
fn entry(core: CoreId, number: u64, entry: &Held) -> String {
    let what = match &entry.content {
        Content::Persist { line, data, youngest } => {
            let y = if *youngest { " Y" } else { "" };
            format!("{}={}{y}", name(*line), data[0])
        }
        Content::Fence { accesses, .. } => format!("F {}", sets(accesses)),
    };
    let sent = if entry.sent { " sent" } else { "" };
    format!("{}:{number} {what} DP[{}]{sent}", core.index(), ids(&entry.waits))
}

/// A core's buffer and its AccumDP.
fn state(both: &mut Both<Dpo>, core: CoreId) -> (Vec<String>, String) {
    both.design.allocate(&both.hw);
    let buffer = &both.design.cores[core.index()].buffer;
    let entries = buffer.entries().map(|(number, held)| entry(core, number, held));
    (entries.collect(), ids(buffer.accumulated()))
}

fn holds(both: &mut Both<Dpo>, core: CoreId, entries: &[&str], accumulated: &str) {
    let (found, found_accumulated) = state(both, core);
    assert_eq!(
        (
            found.iter().map(String::as_str).collect::<Vec<_>>(),
            &*found_accumulated
        ),
        (entries.to_vec(), accumulated),
        "core {}",
        core.index()
    );
}

fn fence(both: &mut Both<Dpo>, core: CoreId) {
    both.executes(core, Primitive::StoreBarrier);
}

fn loads(both: &mut Both<Dpo>, core: CoreId, addr: Addr) {
    let load = Load { addr, size: 8 };
    let forward = both.design.load(&mut both.hw, core, load);
    assert_eq!(forward, Forward::Caches { after: Cycles(0) });
}

/// The reply's IDs.
fn noted(note: Option<Note>) -> Vec<(u16, u64)> {
    let note = note.map_or(Vec::new(), |note| note.dependences);
    note.iter().map(|d| (d.on.core.0, d.on.number)).collect()
}

/// A store to Z of core 2's that has not drained, and on which core 0's next entry depends: what
/// core 0 appends then stays in its buffer.
fn hold_back_zero(both: &mut Both<Dpo>) {
    both.store(TWO, Z);
    assert_eq!(noted(both.asks(TWO, ZERO, Z, Access::Read)), [(2, 0)]);
}

#[test]
fn figure_5_a_persist_waits_for_a_persist_of_its_line() {
    let mut both = both();
    // (1) and (2): the store hits; its persist is appended as the youngest, and depends on nothing.
    both.store_value(ZERO, X, 1);
    // It has nothing to wait for, so that it is on its way at once.
    holds(&mut both, ZERO, &["0:0 X=1 Y DP[] sent"], "");
    // (3) to (5): core 1 requests the line. Core 0 replies with the persist's ID, and its persist is the
    // youngest no more.
    assert_eq!(noted(both.ask(ZERO, ONE, X)), [(0, 0)]);
    holds(&mut both, ZERO, &["0:0 X=1 DP[] sent"], "");
    // (6): the note is in AccumDP until the store completes.
    holds(&mut both, ONE, &[], "0:0");
    // (7): core 1's persist is the youngest, and waits for core 0's.
    both.store_value(ONE, X, 2);
    holds(&mut both, ONE, &["1:0 X=2 Y DP[0:0]"], "");
    // (8): core 0's persist drains, which all buffers observe.
    assert_eq!(both.acknowledge(), (ZERO, X.line()));
    holds(&mut both, ZERO, &[], "");
    // (9): core 1's dependence is resolved, and its persist drains.
    holds(&mut both, ONE, &["1:0 X=2 Y DP[] sent"], "");
    assert_eq!(both.acknowledge(), (ONE, X.line()));
    holds(&mut both, ONE, &[], "");
    assert_eq!(both.hw.memory[&X.line()], 2);
}

#[test]
fn figure_6_a_persist_waits_for_an_epoch() {
    let mut both = both();
    // (1) and (2): a persist of X.
    both.store_value(ZERO, X, 1);
    holds(&mut both, ZERO, &["0:0 X=1 Y DP[] sent"], "");
    // (3) and (4): a fence behind it.
    fence(&mut both, ZERO);
    holds(&mut both, ZERO, &["0:0 X=1 Y DP[] sent", "0:1 F R{} W{} DP[]"], "");
    // (5) and (6): a store to the lock, in volatile memory, is in the fence's write set.
    both.store_value(ZERO, FLAG, 1);
    holds(&mut both, ZERO, &["0:0 X=1 Y DP[] sent", "0:1 F R{} W{AL} DP[]"], "");
    // (7) to (9): core 1 loads the lock; core 0's reply has the fence's ID.
    assert_eq!(noted(both.asks(ZERO, ONE, FLAG, Access::Read)), [(0, 1)]);
    // (10) and (11): it is in AccumDP of core 1.
    holds(&mut both, ONE, &[], "0:1");
    // (12) and (13): the next persist of core 1 takes it.
    both.store_value(ONE, Y, 2);
    holds(&mut both, ONE, &["1:0 Y=2 Y DP[0:1]"], "");
    // It may not drain before the fence has, and that not before the persist of X.
    assert_eq!(both.acknowledge(), (ZERO, X.line()));
    holds(&mut both, ZERO, &["0:1 F R{} W{AL} DP[] sent"], "");
    holds(&mut both, ONE, &["1:0 Y=2 Y DP[0:1]"], "");
    both.deliver();
    holds(&mut both, ZERO, &[], "");
    holds(&mut both, ONE, &["1:0 Y=2 Y DP[] sent"], "");
    both.acknowledge();
    // X and Y are in successive epochs at the controller.
    let controller = ControllerId(0);
    let epoch_of = |core, number| both.design.epochs.may_issue(controller, Id { core, number });
    assert_eq!((epoch_of(ZERO, 0), epoch_of(ONE, 0)), (true, false));
}

// Persist-epoch: a fence waits for another core's persist. By fence cumulativity (Equation 6) the
// persist belongs to group A of the fence if its core's next access before the fence has read from it.
// The reader finds the persist by its Youngest bit (IV-D, field Y: it must service requests of the
// line), keeps its ID in AccumDP, and the next entry, here a fence, takes it (IV-D: "the next
// persist/FENCE").
#[test]
fn a_fence_waits_for_a_persist_that_its_core_has_read() {
    let mut both = both();
    both.store_value(ZERO, X, 1);
    assert_eq!(noted(both.asks(ZERO, ONE, X, Access::Read)), [(0, 0)]);
    holds(&mut both, ZERO, &["0:0 X=1 Y DP[] sent"], "");
    fence(&mut both, ONE);
    holds(&mut both, ONE, &["1:0 F R{} W{} DP[0:0]"], "");
    both.store_value(ONE, Y, 2);
    holds(&mut both, ONE, &["1:0 F R{} W{Y} DP[0:0]", "1:1 Y=2 Y DP[]"], "");
    // Entries drain in order, so that Y waits although it depends on nothing itself.
    assert_eq!(both.lines_sent(), [(ZERO, X.line())]);
    both.acknowledge();
    both.deliver();
    assert_eq!(both.lines_sent(), [(ONE, Y.line())]);
}

// Epoch-epoch: a fence waits for another core's fence. Core 1 has accessed what core 0 has accessed
// after its fence, in conflict, so that core 0's fence is before core 1's in memory order (Equations 3, 4
// and 6). The request meets the fence's write set, or, if it is a store, its read set (IV-C); AccumDP goes
// to core 1's fence.
#[test]
fn a_fence_waits_for_a_fence() {
    let mut both = both();
    both.store_value(ZERO, X, 1);
    fence(&mut both, ZERO);
    loads(&mut both, ZERO, FLAG);
    holds(&mut both, ZERO, &["0:0 X=1 Y DP[] sent", "0:1 F R{AL} W{} DP[]"], "");
    // A load conflicts with no load.
    assert_eq!(noted(both.asks(ZERO, ONE, FLAG, Access::Read)), []);
    assert_eq!(noted(both.ask(ZERO, ONE, FLAG)), [(0, 1)]);
    both.store_value(ONE, FLAG, 1);
    fence(&mut both, ONE);
    holds(&mut both, ONE, &["1:0 F R{} W{} DP[0:1]"], "");
    let write = both.hw.sent[0];
    both.acknowledge();
    both.deliver();
    holds(&mut both, ZERO, &[], "");
    // The write queue has one separator at a time.
    holds(&mut both, ONE, &["1:0 F R{} W{} DP[]"], "");
    both.design.reached_media(&mut both.hw, ControllerId(0), &write);
    holds(&mut both, ONE, &["1:0 F R{} W{} DP[] sent"], "");
    both.deliver();
    holds(&mut both, ONE, &[], "");
    assert_eq!(both.design.epochs.current(), 1, "nothing is between the two fences");
}

#[test]
fn dependences_are_counted_by_kind_and_by_memory() {
    let mut both = both();
    both.store(ZERO, X);
    both.ask(ZERO, ONE, X);
    both.store(ONE, X);
    fence(&mut both, ONE);
    both.store(ONE, FLAG);
    both.asks(ONE, TWO, FLAG, Access::Read);
    fence(&mut both, TWO);
    let counters = both.counters();
    let own = |name: &str| {
        let found = counters.own.0.iter().find(|(counter, _)| counter.name == name);
        found.expect("a counter").1
    };
    // Core 2 inherits core 1's dependence on core 0 with the fence's.
    assert_eq!((own("persist_persist"), own("epoch_persist")), (1, 0));
    assert_eq!((own("persist_epoch"), own("epoch_epoch")), (1, 1));
    assert_eq!((own("volatile_dependences"), counters.cross_dependences), (2, Some(3)));
}

#[test]
fn accesses_are_recorded_with_the_last_fence_until_it_drains() {
    let mut both = both();
    hold_back_zero(&mut both);
    fence(&mut both, ZERO);
    both.store(ZERO, FLAG);
    fence(&mut both, ZERO);
    loads(&mut both, ZERO, X);
    let (entries, _) = state(&mut both, ZERO);
    assert_eq!(entries, ["0:0 F R{} W{AL} DP[2:0]", "0:1 F R{X} W{} DP[]"]);
    assert_eq!(noted(both.asks(ZERO, ONE, FLAG, Access::Read)).first(), Some(&(2, 0)));
}

/// Coalescing (IV-F): the first condition, the same cache block as the most recent entry.
#[test]
fn a_store_coalesces_with_the_most_recent_persist_only() {
    let mut both = both();
    hold_back_zero(&mut both);
    both.store_value(ZERO, X, 1);
    both.store_value(ZERO, X, 2);
    holds(&mut both, ZERO, &["0:0 X=2 Y DP[2:0]"], "");
    both.store_value(ZERO, Y, 3);
    both.store_value(ZERO, X, 4);
    let expected = ["0:0 X=2 DP[2:0]", "0:1 Y=3 Y DP[]", "0:2 X=4 Y DP[]"];
    holds(&mut both, ZERO, &expected, "");
    fence(&mut both, ZERO);
    both.store_value(ZERO, X, 5);
    assert_eq!(state(&mut both, ZERO).0.len(), 5, "no store joins one before a fence");
}

/// Coalescing: the second condition, an empty AccumDP.
#[test]
fn a_store_with_accumulated_dependences_does_not_coalesce() {
    let mut both = both();
    hold_back_zero(&mut both);
    both.store_value(ZERO, X, 1);
    both.store(ONE, Y);
    assert_eq!(noted(both.asks(ONE, ZERO, Y, Access::Read)), [(1, 0)]);
    both.store_value(ZERO, X, 2);
    holds(&mut both, ZERO, &["0:0 X=1 DP[2:0]", "0:1 X=2 Y DP[1:0]"], "");
}

/// Coalescing: the third condition, the Youngest bit.
#[test]
fn a_store_does_not_coalesce_with_a_persist_that_another_core_has_overwritten() {
    let mut both = both();
    hold_back_zero(&mut both);
    both.store_value(ZERO, X, 1);
    // The requester takes the line, and gives it back without a store.
    both.ask(ZERO, ONE, X);
    both.ask(ONE, ZERO, X);
    both.store_value(ZERO, X, 2);
    holds(&mut both, ZERO, &["0:0 X=1 DP[2:0]", "0:1 X=2 Y DP[]"], "");
}

#[test]
fn what_is_on_its_way_does_not_change() {
    let mut both = both();
    both.store_value(ZERO, X, 1);
    both.store_value(ZERO, X, 2);
    holds(&mut both, ZERO, &["0:0 X=1 DP[] sent", "0:1 X=2 Y DP[]"], "");
    both.store_value(ZERO, X, 3);
    holds(&mut both, ZERO, &["0:0 X=1 DP[] sent", "0:1 X=3 Y DP[]"], "");
}

#[test]
fn a_full_buffer_blocks_its_l1_until_an_entry_drains() {
    let mut both = both().with(&[("entries", 1)]);
    both.store(ZERO, X);
    let until = Until::Open(Gate::Unblocked(ZERO));
    assert_eq!(both.stores(ZERO, Y), Departure::Wait(until));
    assert_eq!(both.stores(ZERO, FLAG), Departure::Wait(until), "volatile stores, too");
    assert_eq!(both.departs(ZERO, Primitive::StoreBarrier), Departure::Wait(until));
    let load = Load { addr: FLAG, size: 8 };
    assert_eq!(both.design.load(&mut both.hw, ZERO, load), Forward::Wait(until));
    assert_eq!(both.stores(ONE, X), Departure::Go, "other L1s are not blocked");
    assert!(!both.has_opened(Gate::Unblocked(ZERO)));
    both.acknowledge();
    assert!(both.has_opened(Gate::Unblocked(ZERO)));
    assert_eq!(both.stores(ZERO, Y), Departure::Go);
}

#[test]
fn as_many_fences_as_fit_block_the_l1() {
    let mut both = both().with(&[("fences", 1)]);
    both.store(ZERO, X);
    fence(&mut both, ZERO);
    let until = Until::Open(Gate::Unblocked(ZERO));
    assert_eq!(both.stores(ZERO, Y), Departure::Wait(until));
}

#[test]
fn the_youngest_persist_supplies_a_line_that_the_caches_have_dropped() {
    let mut both = both();
    hold_back_zero(&mut both);
    assert_eq!(both.evict(Level::Private, X.line()), Eviction::WriteBack);
    assert_eq!(both.evict(Level::Llc, X.line()), Eviction::Drop);
    both.store_value(ZERO, X, 1);
    fence(&mut both, ZERO);
    both.store_value(ZERO, X, 2);
    assert!(matches!(both.missed(X), Supply::Bytes(_, data) if data[0] == 2));
    assert_eq!(both.missed(Y), Supply::Memory);
}

#[test]
fn who_takes_a_line_before_the_next_owner_has_stored_depends_on_the_same_persist() {
    let mut both = both();
    both.store_value(ZERO, X, 1);
    both.ask(ZERO, ONE, X);
    assert_eq!(both.missed(X), Supply::Wait(Until::Open(Gate::Drained(X.line()))));
    // Core 1 has permission and has stored nothing.
    assert_eq!(noted(both.ask(ZERO, TWO, X)), []);
    assert_eq!(noted(both.ask(ONE, TWO, X)), [(0, 0)]);
    both.acknowledge();
    assert!(both.has_opened(Gate::Drained(X.line())));
    assert_eq!(both.missed(X), Supply::Memory);
}

/// Equation 6 with a core between that has neither a persist nor a fence: ISA2 of Figure 1, with a
/// third core.
#[test]
fn dependences_pass_through_a_core_without_persists() {
    let through = |published| {
        let mut both = both().with(&[("published", published)]);
        both.store(ZERO, X);
        fence(&mut both, ZERO);
        both.store(ZERO, FLAG);
        both.asks(ZERO, ONE, FLAG, Access::Read);
        both.store(ONE, Addr(256));
        noted(both.asks(ONE, TWO, Addr(256), Access::Read))
    };
    assert_eq!(through(0), [(0, 1)]);
    assert_eq!(through(1), [], "as in the paper");
}

#[test]
fn a_core_inherits_nothing_by_a_line_that_was_not_touched_since_the_dependence() {
    let mut both = both();
    both.store(ONE, FLAG);
    both.store(ZERO, X);
    both.asks(ZERO, ONE, X, Access::Read);
    assert_eq!(noted(both.asks(ONE, TWO, FLAG, Access::Read)), []);
    both.acknowledge();
    both.store(ONE, FLAG);
    assert_eq!(noted(both.asks(ONE, TWO, FLAG, Access::Read)), [], "it is resolved");
}

#[test]
fn a_dfence_waits_until_its_epoch_is_on_the_media() {
    let mut both = both();
    both.store(ZERO, X);
    both.executes(ZERO, Primitive::Dfence);
    let write = both.hw.sent[0];
    both.acknowledge();
    both.deliver();
    both.deliver();
    assert!(
        !both.has_opened(Gate::Durable((ZERO, 0))),
        "accepted is not durable here"
    );
    both.design.reached_media(&mut both.hw, ControllerId(0), &write);
    both.deliver();
    assert!(both.has_opened(Gate::Durable((ZERO, 0))));
}

#[test]
fn with_a_durable_queue_a_dfence_waits_until_it_has_drained_and_separators_bind_nothing() {
    let mut both = both();
    both.hw.adr = true;
    both.store(ZERO, X);
    both.executes(ZERO, Primitive::Dfence);
    both.store(ZERO, Y);
    both.acknowledge();
    assert!(!both.has_opened(Gate::Durable((ZERO, 0))));
    both.deliver();
    both.deliver();
    assert!(both.has_opened(Gate::Durable((ZERO, 0))));
    let late = both.hw.sent[0];
    both.acknowledge();
    assert!(both.design.may_issue(ControllerId(0), &late));
}

/// IV-B: "epochs from different persist buffers that are unordered with respect to one another join
/// a single epoch at the PM controller's write queue".
#[test]
fn unordered_epochs_join() {
    let mut both = both();
    both.store(ZERO, X);
    fence(&mut both, ZERO);
    let first = both.hw.sent[0];
    both.acknowledge();
    both.deliver();
    // While the first epoch is on its way to the media, two cores end theirs, and begin others.
    for (core, addr, next) in [(ZERO, Y, 1024), (ONE, Z, 2048)] {
        both.store(core, addr);
        fence(&mut both, core);
        both.store(core, Addr(Y.0 + next));
    }
    assert_eq!(both.lines_sent(), [(ZERO, Y.line()), (ONE, Z.line())]);
    let second = [both.hw.sent[0], both.hw.sent[1]];
    both.acknowledge();
    both.acknowledge();
    both.design.reached_media(&mut both.hw, ControllerId(0), &first);
    both.deliver();
    assert_eq!(both.design.epochs.current(), 2, "one separator for both fences");
    assert!(second.iter().all(|write| both.design.may_issue(ControllerId(0), write)));
    let third = [both.hw.sent[0], both.hw.sent[1]];
    both.acknowledge();
    both.acknowledge();
    assert!(!third.iter().any(|write| both.design.may_issue(ControllerId(0), write)));
}

#[test]
fn controllers_agree_on_epochs() {
    let mut both = both();
    both.hw.controllers = 2;
    // X and Y lie on different controllers.
    both.store(ZERO, X);
    fence(&mut both, ZERO);
    both.store(ZERO, Y);
    let early = both.hw.sent[0];
    both.acknowledge();
    both.deliver();
    let late = both.hw.sent[0];
    both.acknowledge();
    let [of_early, of_late] = [&early, &late].map(|write| both.hw.controller_of(write.line));
    assert_ne!(of_early, of_late);
    assert!(both.design.may_issue(of_early, &early));
    assert!(
        !both.design.may_issue(of_late, &late),
        "the other epoch is not complete"
    );
    both.design.reached_media(&mut both.hw, of_early, &early);
    assert!(!both.design.may_issue(of_late, &late), "it has not been told");
    both.deliver();
    assert!(both.design.may_issue(of_late, &late));
    assert!(both.hw.looked_at.contains(&of_late));
}

#[test]
fn queued_writes_coalesce_within_an_epoch() {
    let mut both = both();
    both.store(ZERO, X);
    let first = both.hw.sent[0];
    both.acknowledge();
    both.store(ONE, X);
    let second = both.hw.sent[0];
    assert!(
        both.design.may_coalesce(ControllerId(0), &first, &second),
        "of two cores"
    );
    fence(&mut both, TWO);
    both.deliver();
    assert!(!both.design.may_coalesce(ControllerId(0), &first, &second));
}

#[test]
fn a_directory_announces_drains_by_messages() {
    let mut both = both();
    both.hw.broadcasts = false;
    both.store(ZERO, X);
    both.ask(ZERO, ONE, X);
    both.store_value(ONE, X, 1);
    both.acknowledge();
    holds(&mut both, ONE, &["1:0 X=1 Y DP[0:0]"], "");
    both.deliver();
    holds(&mut both, ONE, &["1:0 X=1 Y DP[] sent"], "");
}

#[test]
fn persists_are_held_back_until_somebody_waits_for_them_or_for_a_time() {
    let held = |then: fn(&mut Both<Dpo>)| {
        let mut both = both().with(&[("delay", 100)]);
        both.store(ZERO, X);
        both.store(ZERO, X);
        assert_eq!(both.lines_sent(), []);
        then(&mut both);
        both.lines_sent()
    };
    let drains = [(ZERO, X.line())];
    assert_eq!(held(|both| fence(both, ZERO)), drains);
    assert_eq!(held(|both| _ = both.asks(ZERO, ONE, X, Access::Read)), drains);
    assert_eq!(held(|both| _ = both.deliver()), drains);
    let full = held(|both| {
        for line in 1..8 {
            both.store(ZERO, Addr(X.0 + 64 * line));
        }
    });
    assert_eq!(full, drains);
}

/// DPO IV-D: "8 entries x 72 B, 8 bloom filters of 32 B, one AccumDP of 64 B: 896 B a core".
#[test]
fn a_core_has_896_bytes() {
    let machine = Sizes {
        cores: 8,
        ..Sizes::default()
    };
    let bytes = |dpo: &Dpo| -> u64 { dpo.storage(&machine).iter().map(|(_, bytes)| bytes).sum() };
    let published = both().with(&[("published", 1)]).design;
    assert_eq!(bytes(&published), 8 * 896);
    assert_eq!(bytes(&Dpo::default()), 8 * (896 + 64), "and a pair of filters");
}
