//! The image that a crash would leave, from the journal: its changes, their order, and that they
//! yield the image that a design with undo records of its own computes beside the machine.

use crate::common::{as_plain, memory, preset, put, random_machine};
use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use strandline_design::{
    boxed, Acceptance, ControllerId, Design, Eviction, Level, Never, Place, Services, Store, Types, Wants, WriteRequest,
};
use strandline_isa::{Addr, CoreId, Cpu, Line, LineData, Memory, PM_BASE};
use strandline_kernel::{Cycles, Rng};
use strandline_machine::{Durable, Options, SimCpu, System};

fn line(number: u64) -> Line {
    Addr(PM_BASE + 64 * number).line()
}

/// A line whose first word is this.
fn holding(value: u64) -> LineData {
    [value, 0, 0, 0, 0, 0, 0, 0]
}

/// The line's number and its first word.
fn words(durable: &Durable) -> (u64, u64) {
    (durable.line.0 - line(0).0, durable.data[0])
}

/// A design's answers when it is asked, one list a moment: lines and their first words.
type Said = Vec<Vec<(u64, u64)>>;

/// Names the lists that it was given, one after the other, 10 cycles apart by a timer.
struct Scripted {
    said: Said,
    at: usize,
    seen: Rc<RefCell<Vec<LineData>>>,
}

/// When it names the first list.
const FIRST: u64 = 10_000;

/// Messages are numbers of lists.
struct Lists;

impl Types for Lists {
    type Gate = Never;
    type Message = usize;
    type Tag = ();
    type Note = Never;
}

impl Design for Scripted {
    type Own = Lists;

    as_plain!();

    fn visible(&mut self, hw: &mut dyn Services<Lists>, core: CoreId, store: Store) {
        let line = store.line();
        hw.write(core, line, hw.visible_line(line), ());
        self.seen.borrow_mut().push(hw.durable_line(line));
    }

    fn arrived(&mut self, hw: &mut dyn Services<Lists>, _: ControllerId, _: &WriteRequest<()>) -> Acceptance<Never> {
        for number in 1..self.said.len() {
            hw.send(Cycles(FIRST + 10 * (number as u64 - 1)), number);
        }
        Acceptance::Queue
    }

    fn message(&mut self, hw: &mut dyn Services<Lists>, number: usize) {
        self.at = number;
        hw.crash_state_changed();
    }

    fn power_fails(&self, image: &mut dyn FnMut(Line, LineData)) {
        for (number, value) in &self.said[self.at] {
            image(line(*number), holding(*value));
        }
    }
}

/// Stores a 5 to line 0, which is persisted while the first list is named. Returns the durable
/// events, and the persisted bytes of the line when the store was visible.
fn scripted(said: &[&[(u64, u64)]], journal: bool) -> (Vec<Durable>, LineData) {
    let seen = Rc::default();
    let design = Scripted {
        said: said.iter().map(|list| list.to_vec()).collect(),
        at: 0,
        seen: Rc::clone(&seen),
    };
    let options = Options {
        journal,
        ..Options::default()
    };
    let mut system = System::new(&preset("asap"), boxed(design), 1, memory(), options);
    put(&mut system, 0, |cpu| {
        cpu.word(PM_BASE).store(cpu.word(5));
    });
    let outcome = system.run().expect("the program ends");
    let persisted = seen.borrow()[0];
    (outcome.journal.unwrap_or_default().durable, persisted)
}

fn changes(said: &[&[(u64, u64)]]) -> Vec<(u64, u64)> {
    scripted(said, true).0.iter().map(words).collect()
}

#[test]
fn a_line_that_the_design_covers_changes_when_it_is_covered_no_more() {
    let (durable, _) = scripted(&[&[(0, 0)], &[]], true);
    assert_eq!(durable.iter().map(words).collect::<Vec<_>>(), [(0, 5)]);
    assert_eq!(durable[0].at, Cycles(FIRST), "at the cycle at which the design said so");
}

#[test]
fn what_is_covered_by_other_bytes_than_before_changes_at_once() {
    // Line 0 holds 0 at first.
    assert_eq!(changes(&[&[(0, 7)]]), [(0, 7)]);
    assert_eq!(
        changes(&[&[(0, 7)], &[(0, 7)], &[(0, 8)], &[]]),
        [(0, 7), (0, 8), (0, 5)]
    );
}

#[test]
fn an_overlay_equal_to_what_lies_below_changes_nothing() {
    assert_eq!(changes(&[&[], &[(0, 5)], &[]]), [(0, 5)]);
    assert_eq!(changes(&[&[(3, 0)], &[]]), [(0, 5)]);
}

#[test]
fn the_line_written_comes_first_then_lines_as_named_then_those_gone_by_address() {
    assert_eq!(changes(&[&[(3, 1), (2, 1)]]), [(0, 5), (3, 1), (2, 1)]);
    assert_eq!(
        changes(&[&[(3, 1), (2, 1)], &[(4, 1), (1, 1)]]),
        [(0, 5), (3, 1), (2, 1), (4, 1), (1, 1), (2, 0), (3, 0)]
    );
}

#[test]
fn a_line_named_twice_passes_through_both_bytes_from_what_a_crash_would_have_left() {
    assert_eq!(changes(&[&[(1, 6), (2, 7), (1, 8)]]), [(0, 5), (1, 6), (2, 7), (1, 8)]);
    assert_eq!(
        changes(&[&[(1, 6)], &[(1, 6), (2, 7), (1, 8)], &[(1, 6), (2, 7), (1, 8)]]),
        [(0, 5), (1, 6), (2, 7), (1, 8)]
    );
    assert_eq!(changes(&[&[(1, 8), (2, 7), (1, 8)]]), [(0, 5), (1, 8), (2, 7)]);
}

#[test]
fn what_is_persisted_is_known_where_crashes_are_looked_at_and_elsewhere_what_cores_see() {
    assert_eq!(
        scripted(&[&[]], true).1,
        holding(0),
        "the store is visible, and on its way"
    );
    let (durable, persisted) = scripted(&[&[]], false);
    assert_eq!((durable, persisted), (Vec::new(), holding(5)));
}

/// Lines that random programs store to.
const LINES: u64 = 5;

/// The test's own books: each change, and when it was.
#[derive(Default)]
struct Ledger {
    persisted: BTreeMap<Line, LineData>,
    changes: Vec<(Cycles, Change)>,
}

enum Change {
    Persisted(Line, LineData),
    /// All lines that the design names from now on.
    Named(Vec<(Line, LineData)>),
}

impl Ledger {
    fn persist(&mut self, at: Cycles, line: Line, data: LineData) {
        self.persisted.insert(line, data);
        self.changes.push((at, Change::Persisted(line, data)));
    }

    fn persisted(&self, line: Line) -> LineData {
        self.persisted.get(&line).copied().unwrap_or_default()
    }
}

/// Writes every store to memory by itself, sometimes speculatively: then it keeps the old bytes to
/// undo it, and drops them later. Names random other lines, too.
struct Undo {
    rng: Rng,
    saves: Option<Place>,
    adr: bool,
    /// Bytes in flight, by tag.
    sent: Vec<(Line, LineData)>,
    named: Vec<(Line, LineData)>,
    ledger: Rc<RefCell<Ledger>>,
}

/// It names other lines, or stops.
#[derive(Clone, Debug)]
struct Rename;

/// A tag is an index of [`Undo::sent`].
struct Undone;

impl Types for Undone {
    type Gate = Never;
    type Message = Rename;
    type Tag = usize;
    type Note = Never;
}

type Hw<'a> = dyn Services<Undone> + 'a;

impl Undo {
    fn line(&mut self) -> Line {
        line(self.rng.below(LINES))
    }

    /// Sets what it names from now on, and sometimes schedules a change.
    fn say(&mut self, hw: &mut Hw<'_>) {
        let named = Change::Named(self.named.clone());
        self.ledger.borrow_mut().changes.push((hw.now(), named));
        hw.crash_state_changed();
        if self.rng.one_in(2) {
            let after = Cycles(self.rng.below(500));
            hw.send(hw.now() + after, Rename);
        }
    }

    fn check_persisted(&self, hw: &Hw<'_>) {
        for number in 0..LINES {
            let persisted = self.ledger.borrow().persisted(line(number));
            assert_eq!(hw.durable_line(line(number)), persisted);
        }
    }
}

impl Design for Undo {
    type Own = Undone;

    as_plain!();

    fn wants(&self) -> Wants {
        Wants {
            saves: self.saves,
            ..Wants::default()
        }
    }

    /// Evicted bytes are in flight already.
    fn evicted(&mut self, _: &mut Hw<'_>, _: CoreId, _: Level, _: Line) -> Eviction<Never> {
        Eviction::Drop
    }

    fn visible(&mut self, hw: &mut Hw<'_>, core: CoreId, store: Store) {
        let (line, data) = (store.line(), hw.visible_line(store.line()));
        if self.saves.is_some() {
            self.ledger.borrow_mut().persist(hw.now(), line, data);
        }
        hw.write(core, line, data, self.sent.len());
        self.sent.push((line, data));
    }

    fn arrived(&mut self, hw: &mut Hw<'_>, _: ControllerId, write: &WriteRequest<usize>) -> Acceptance<Never> {
        self.check_persisted(hw);
        if self.rng.one_in(2) && self.named.iter().all(|(line, _)| *line != write.line) {
            self.named.push((write.line, hw.durable_line(write.line)));
            self.say(hw);
        }
        Acceptance::Queue
    }

    /// Accepted: with ADR it is persisted.
    fn acknowledged(&mut self, hw: &mut Hw<'_>, _: CoreId, tag: usize) {
        if self.adr && self.saves.is_none() {
            let (line, data) = self.sent[tag];
            self.ledger.borrow_mut().persist(hw.now(), line, data);
        }
    }

    fn reached_media(&mut self, hw: &mut Hw<'_>, _: ControllerId, write: &WriteRequest<usize>) {
        if !self.adr && self.saves.is_none() {
            self.ledger.borrow_mut().persist(hw.now(), write.line, write.data);
        }
    }

    fn message(&mut self, hw: &mut Hw<'_>, _: Rename) {
        self.check_persisted(hw);
        match self.rng.below(4) {
            0 => self.named.clear(),
            1 => self.named.truncate(1),
            2 if !self.named.is_empty() => {
                let first = self.rng.below(self.named.len() as u64) as usize;
                self.named.rotate_left(first);
                self.named[0].1 = holding(self.rng.below(4));
            }
            _ => {
                let line = self.line();
                self.named.push((line, holding(self.rng.below(4))));
            }
        }
        self.say(hw);
    }

    fn power_fails(&self, image: &mut dyn FnMut(Line, LineData)) {
        self.named.iter().for_each(|(line, data)| image(*line, *data));
    }
}

fn stores(cpu: &SimCpu<'_>, core: u16, seed: u64) {
    let mut rng = Rng::new(seed ^ u64::from(core));
    for value in 1..30 {
        let address = PM_BASE + rng.below(LINES) * 64 + u64::from(core) * 8;
        cpu.word(address).store(cpu.word(value));
        let mut x = cpu.word(1);
        for _ in 0..rng.below(200) {
            x = x + 1;
        }
    }
}

/// A run under [`Undo`]: where its persistence domain begins, its durable events and the test's own books.
fn run(seed: u64, cores: u16) -> (Option<Place>, Vec<Durable>, Ledger) {
    let mut rng = Rng::new(seed);
    let mut machine = random_machine(&mut rng);
    machine.simulation.slack = Cycles(0);
    machine.controllers.adr = rng.one_in(2);
    let ledger: Rc<RefCell<Ledger>> = Rc::default();
    let saves = [None, None, Some(Place::Private)][rng.below(3) as usize];
    let design = Undo {
        saves,
        adr: machine.controllers.adr,
        rng,
        sent: Vec::new(),
        named: Vec::new(),
        ledger: Rc::clone(&ledger),
    };
    let options = Options {
        seed,
        journal: true,
        patience: Cycles(u64::MAX),
        ..Options::default()
    };
    let mut system = System::new(
        &machine,
        boxed(design),
        usize::from(cores),
        Memory::new(4096, 4096),
        options,
    );
    for core in 0..cores {
        put(&mut system, core, move |cpu| stores(cpu, core, seed));
    }
    let outcome = system.run().unwrap_or_else(|stuck| panic!("seed {seed}: {stuck}"));
    (saves, outcome.journal.expect("kept").durable, ledger.take())
}

/// What is persisted, with what the design names over it.
#[derive(Default)]
struct Expected {
    persisted: BTreeMap<Line, LineData>,
    named: Vec<(Line, LineData)>,
}

impl Expected {
    fn change(&mut self, change: &Change) {
        match change {
            Change::Persisted(line, data) => _ = self.persisted.insert(*line, *data),
            Change::Named(named) => self.named.clone_from(named),
        }
    }

    fn left(&self, line: Line) -> LineData {
        let named = self.named.iter().rev().find(|(named, _)| *named == line);
        let persisted = || self.persisted.get(&line).copied().unwrap_or_default();
        named.map_or_else(persisted, |(_, data)| *data)
    }
}

/// After every cycle with an event, the journal's image equals the books.
fn check_cycles(seed: u64, durable: &[Durable], ledger: &Ledger) {
    let changed = ledger.changes.iter().map(|(at, _)| *at);
    let cycles: BTreeSet<Cycles> = durable.iter().map(|durable| durable.at).chain(changed).collect();
    let (image, mut expected) = (Memory::new(64, 4096), Expected::default());
    for cycle in cycles {
        for event in durable.iter().filter(|event| event.at == cycle) {
            image.set_line(event.line, &event.data);
        }
        for (_, change) in ledger.changes.iter().filter(|(at, _)| *at == cycle) {
            expected.change(change);
        }
        for number in 0..LINES {
            let (left, expected) = (image.line(line(number)), expected.left(line(number)));
            assert_eq!(left, expected, "seed {seed}: line {number} after cycle {cycle}");
        }
    }
}

/// The bytes of a line that is named several times, from those on that it held before.
fn passed_through(line: Line, before: LineData, change: &Change) -> Vec<LineData> {
    let Change::Named(named) = change else {
        return Vec::new();
    };
    let of_line = named.iter().filter(|(named, _)| *named == line);
    let mut bytes: Vec<LineData> = of_line.map(|(_, data)| *data).collect();
    let known = bytes.iter().rposition(|data| *data == before);
    bytes.split_off(known.map_or(0, |place| place + 1))
}

/// A line's contents are those of the books, one after the other, without others in between.
fn check_line(seed: u64, line: Line, durable: &[Durable], ledger: &Ledger) {
    let mut expected = Expected::default();
    let mut said = vec![expected.left(line)];
    for (_, change) in &ledger.changes {
        let before = expected.left(line);
        expected.change(change);
        said.extend(passed_through(line, before, change));
        said.push(expected.left(line));
    }
    let events = durable.iter().filter(|event| event.line == line);
    let mut named: Vec<LineData> = [LineData::default()]
        .into_iter()
        .chain(events.map(|event| event.data))
        .collect();
    said.dedup();
    named.dedup();
    assert_eq!(named, said, "seed {seed}: {line:?}");
}

fn check(seed: u64, cores: u16) {
    let (saves, durable, ledger) = run(seed, cores);
    assert!(durable.is_sorted_by_key(|durable| durable.at), "seed {seed}: in order");
    (0..LINES).for_each(|number| check_line(seed, line(number), &durable, &ledger));
    // When a store is visible `Services::now` may be ahead: then the books do not have the cycle.
    if saves.is_none() {
        check_cycles(seed, &durable, &ledger);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_journal_makes_what_is_persisted_and_what_the_design_would_undo(seed: u64, cores in 1u16..4) {
        check(seed, cores);
    }
}

#[test]
fn random_runs_have_undo_records_that_go_and_come() {
    let lists = (0..40).flat_map(|seed| run(seed, 2).2.changes);
    let lengths: Vec<usize> = lists
        .filter_map(|(_, change)| match change {
            Change::Named(named) => Some(named.len()),
            Change::Persisted(..) => None,
        })
        .collect();
    assert!(lengths.iter().any(|length| *length >= 3) && lengths.windows(2).any(|two| two[1] < two[0]));
}
