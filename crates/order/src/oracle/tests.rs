//! Runs by hand.

use super::{Breach, History, Oracle};
use crate::cat::Evaluator;
use crate::litmus::Class;
use crate::model::Model;
use crate::relation::Set;
use crate::structure::{Cell, Event, EventKind};
use strandline_isa::Primitive;

/// A run, written in the order of its events.
#[derive(Default)]
struct Run {
    history: History,
    /// Whether each location is in persistent memory.
    persistent: Vec<bool>,
}

impl Run {
    fn push(&mut self, event: Event, content: u64) -> usize {
        let number = self.history.events.len();
        self.history.events.push(event);
        self.history.contents.push(content);
        self.history.stamps.push(number as u64);
        number
    }

    fn event(&self, thread: Option<usize>, kind: EventKind, class: Option<Class>, location: Option<usize>) -> Event {
        let cell = location.map(|location| Cell {
            location: Some(location),
            line: location,
            persistent: self.persistent[location],
        });
        Event {
            thread,
            kind,
            class,
            locked: false,
            cell,
            context: 0,
        }
    }

    /// A location with value 0 in its own line.
    fn location(&mut self, persistent: bool) -> usize {
        self.persistent.push(persistent);
        let location = self.persistent.len() - 1;
        let write = self.push(self.event(None, EventKind::Write, None, Some(location)), 0);
        self.history.orders.push(vec![write]);
        location
    }

    fn write(&mut self, thread: usize, location: usize, content: u64) -> usize {
        let event = self.event(Some(thread), EventKind::Write, None, Some(location));
        let write = self.push(event, content);
        self.history.orders[location].push(write);
        write
    }

    fn read(&mut self, thread: usize, location: usize, from: usize) {
        let event = self.event(Some(thread), EventKind::Read, None, Some(location));
        let read = self.push(event, 0);
        self.history.rf.push((from, read));
    }

    fn flush_and_fence(&mut self, thread: usize, location: usize) {
        let flush = self.event(Some(thread), EventKind::Other, Some(Class::Clwb), Some(location));
        self.push(flush, 0);
        let fence = self.event(
            Some(thread),
            EventKind::Other,
            Some(Class::Primitive(Primitive::Sfence)),
            None,
        );
        self.push(fence, 0);
    }

    fn output(&mut self, thread: usize) -> usize {
        let event = self.event(Some(thread), EventKind::Output, None, None);
        self.push(event, 0)
    }

    fn judged(self, model: &str) -> Option<Oracle> {
        let model = Model::named(model).unwrap_or_else(|fault| panic!("{fault}"));
        Oracle::new(&model, self.history)
    }

    fn oracle(self) -> Oracle {
        self.judged("px86").expect("an execution")
    }
}

/// A thread stores x, flushes, fences, and signals another thread through DRAM, which stores y.
struct Message {
    x: usize,
    y: usize,
    first: usize,
    second: usize,
    run: Run,
}

fn message(fenced: bool) -> Message {
    let mut run = Run::default();
    let (x, y, f) = (run.location(true), run.location(true), run.location(false));
    let first = run.write(0, x, 1);
    if fenced {
        run.flush_and_fence(0, x);
    }
    let told = run.write(0, f, 1);
    run.read(1, f, told);
    let second = run.write(1, y, 1);
    Message {
        x,
        y,
        first,
        second,
        run,
    }
}

#[test]
fn durable_in_order() {
    let Message { x, y, run, .. } = message(true);
    let mut oracle = run.oracle();
    assert_eq!(oracle.breach(), None, "the start is a cut");
    oracle.set(x, 1);
    assert_eq!(oracle.breach(), None);
    oracle.set(y, 1);
    assert_eq!(oracle.breach(), None);
}

#[test]
fn durable_out_of_order() {
    let Message {
        x,
        y,
        first,
        second,
        run,
    } = message(true);
    let mut oracle = run.oracle();
    oracle.set(y, 1);
    let breach = Breach::Order {
        present: second,
        missing: first,
    };
    assert_eq!(oracle.breach(), Some(breach));
    assert_eq!(oracle.breach(), None, "nothing has changed since");
    oracle.set(x, 1);
    assert_eq!(oracle.breach(), None, "mended");
    // A store that is lost again is seen from the other side.
    oracle.set(x, 0);
    assert_eq!(oracle.breach(), Some(breach));
}

#[test]
fn without_a_fence_there_is_no_order() {
    let Message { y, run, .. } = message(false);
    let mut oracle = run.oracle();
    oracle.set(y, 1);
    assert_eq!(oracle.breach(), None);
    // Under eADR, visibility order is persist order.
    let Message {
        y, first, second, run, ..
    } = message(false);
    let mut oracle = run.judged("eadr").expect("an execution");
    oracle.set(y, 1);
    let breach = Breach::Order {
        present: second,
        missing: first,
    };
    assert_eq!(oracle.breach(), Some(breach));
}

/// x=1, flushed and fenced, then y=1, then another store to x.
fn overwritten(content: u64) -> (Oracle, usize, usize, usize) {
    let mut run = Run::default();
    let (x, y) = (run.location(true), run.location(true));
    let first = run.write(0, x, 1);
    run.flush_and_fence(0, x);
    run.write(0, y, 1);
    run.write(0, x, content);
    (run.oracle(), x, y, first)
}

#[test]
fn ambiguous_contents_are_given_the_benefit_of_the_doubt() {
    // 0 may be the initial content of x, or the content of the last store.
    let (mut oracle, _, y, _) = overwritten(0);
    oracle.set(y, 1);
    assert_eq!(oracle.breach(), None);
    // If the last store leaves 2, a 0 is the initial content.
    let (mut oracle, x, y, first) = overwritten(2);
    oracle.set(y, 1);
    assert!(matches!(oracle.breach(), Some(Breach::Order { missing, .. }) if missing == first));
    // The last store counts like the first.
    oracle.set(x, 2);
    assert_eq!(oracle.breach(), None);
    // A 1 is from the first store or, if repeated, from the last. If it is from the first, y may be missing.
    let (mut oracle, x, _, _) = overwritten(1);
    oracle.set(x, 1);
    assert_eq!(oracle.breach(), None);
}

#[test]
fn foreign_content() {
    let Message { x, y, run, .. } = message(true);
    let mut oracle = run.oracle();
    oracle.set(x, 7);
    assert_eq!(oracle.breach(), Some(Breach::Foreign { location: x }));
    assert_eq!(
        oracle.breach(),
        Some(Breach::Foreign { location: x }),
        "as long as it is there"
    );
    oracle.set(x, 1);
    assert_eq!(oracle.breach(), None);
    // A content of another location is foreign, too.
    oracle.set(y, 2);
    oracle.set(x, 8);
    assert_eq!(
        oracle.breach(),
        Some(Breach::Foreign { location: x }),
        "the lowest is told"
    );
}

#[test]
fn outputs() {
    let run = || {
        let mut run = Run::default();
        let x = run.location(true);
        let write = run.write(0, x, 1);
        run.flush_and_fence(0, x);
        let output = run.output(0);
        (run.oracle(), x, write, output)
    };
    let (mut oracle, x, _, output) = run();
    oracle.set(x, 1);
    oracle.see(output);
    assert_eq!(oracle.breach(), None);
    let (mut oracle, _, write, output) = run();
    oracle.see(output);
    let breach = Breach::Order {
        present: output,
        missing: write,
    };
    assert_eq!(oracle.breach(), Some(breach));
}

/// Two threads take turns: each reads the other's flag, stores to its own location, flushes, fences, and sets the flag.
fn turns(count: usize) -> (Run, Vec<(usize, usize)>, usize) {
    let mut run = Run::default();
    let locations: Vec<usize> = (0..count).map(|_| run.location(true)).collect();
    let flag = run.location(false);
    let mut told = run.history.orders[flag][0];
    let mut stores = Vec::new();
    for (turn, location) in locations.into_iter().enumerate() {
        let thread = turn % 2;
        run.read(thread, flag, told);
        stores.push((location, run.write(thread, location, 1)));
        run.flush_and_fence(thread, location);
        told = run.write(thread, flag, turn as u64 + 1);
    }
    (run, stores, flag)
}

#[test]
fn a_history_longer_than_a_stretch() {
    let (run, stores, _) = turns(300);
    assert!(run.history.events.len() > 5 * super::MOST);
    let mut oracle = run.oracle();
    // At each turn, the second of two stores is durable first. Only the first store forbids that, wherever the windows
    // start and end.
    for pair in stores.chunks(2) {
        let ((first, missing), (second, present)) = (pair[0], pair[1]);
        oracle.set(second, 1);
        assert_eq!(oracle.breach(), Some(Breach::Order { present, missing }));
        oracle.set(first, 1);
        assert_eq!(oracle.breach(), None);
    }
}

#[test]
fn a_store_is_missed_from_half_a_stretch_away() {
    // A turn has five events, and half a window 128.
    let (run, stores, _) = turns(300);
    let mut oracle = run.oracle();
    for (turn, (location, _)) in stores.iter().enumerate() {
        if turn != 150 {
            oracle.set(*location, 1);
        }
        let breach = oracle.breach();
        match turn {
            0..=150 => assert_eq!(breach, None, "turn {turn}"),
            151..=175 => {
                let (present, missing) = (stores[turn].1, stores[150].1);
                assert_eq!(breach, Some(Breach::Order { present, missing }), "turn {turn}");
            }
            _ => {}
        }
    }
}

#[test]
fn what_is_no_execution_of_the_model() {
    // A thread that has stored 2 reads the older 1.
    let incoherent = |run: &mut Run, x: usize| {
        let older = run.write(0, x, 1);
        run.write(0, x, 2);
        run.read(0, x, older);
    };
    let mut run = Run::default();
    let x = run.location(true);
    incoherent(&mut run, x);
    assert!(run.judged("px86").is_none());
    // The same at the end of a long run.
    let (mut run, stores, _) = turns(300);
    incoherent(&mut run, stores[0].0);
    assert!(run.judged("px86").is_none());
    // Store buffering is an execution under total store order, but not under sequential consistency.
    let buffering = || {
        let mut run = Run::default();
        let (x, y) = (run.location(false), run.location(false));
        let (old_x, old_y) = (run.history.orders[x][0], run.history.orders[y][0]);
        run.write(0, x, 1);
        run.write(1, y, 1);
        run.read(0, y, old_y);
        run.read(1, x, old_x);
        run
    };
    assert!(buffering().judged("strict-tso").is_some());
    assert!(buffering().judged("strict-sc").is_none());
}

/// The oracle treats all older writes to a location as durable once a newer one is. That is right only if no model lets
/// a write persist before an older one to its location.
#[test]
fn in_every_model_writes_to_a_persistent_location_persist_in_their_order() {
    for name in Model::names() {
        let model = Model::named(&name).expect("a model");
        for entry in crate::shelf() {
            let test = entry.test().expect("a right test");
            // What a host loses that fails is persisted by none: runs without failures are judged, and none with owners.
            let is_judged = !model.wanted().owners && (!model.wanted().failure || test.hosts.fail.is_empty());
            if !model.takes(&test) || !is_judged {
                continue;
            }
            let unrolled = crate::unroll::Unrolled::of(&test, model.wanted());
            let persistent = Set::of(unrolled.events.len(), |event| {
                let event = &unrolled.events[event];
                event.thread.is_some()
                    && event.kind == EventKind::Write
                    && event.cell.is_some_and(|cell| cell.persistent)
            });
            let mut evaluator = Evaluator::new(model.program(), &unrolled.structure);
            let each = crate::execution::executions(&test, &unrolled, |execution| {
                if let Some(verdict) = evaluator.verdict(&execution.candidate) {
                    let co = execution.candidate.co.clone().from_set(&persistent).to_set(&persistent);
                    let missing = co.minus(&verdict.pmo.closure());
                    assert!(missing.is_empty(), "{name}, {}", entry.path);
                }
            });
            each.expect("few executions");
        }
    }
}
