use super::*;
use crate::judge::regions::RegionName;
use std::collections::BTreeMap;
use strandline_isa::{Addr, Image, Note, PM_BASE};
use strandline_machine::{Durable, Noted};

/// Two cells, in lines 0 and 1, and a log in line 2: a valid mark, the old first cell, the old second cell.
struct Cells {
    recovers: bool,
}

fn cell(index: u64) -> Addr {
    Addr(PM_BASE + 64 * index)
}

fn log(word: u64) -> Addr {
    Addr(PM_BASE + 128 + 8 * word)
}

impl Recoverable for Cells {
    fn recover(&self, image: &dyn Image) {
        if self.recovers && image.word(log(0)) == 1 {
            image.set_word(cell(0), image.word(log(1)));
            image.set_word(cell(1), image.word(log(2)));
            image.set_word(log(0), 0);
        }
    }

    fn check(&self, image: &dyn Image) -> Result<(), String> {
        let (a, b) = (image.word(cell(0)), image.word(cell(1)));
        (a <= 2 && b <= 2)
            .then_some(())
            .ok_or_else(|| format!("cells hold {a} and {b}"))
    }
}

fn durable(at: u64, line: u64, data: &[u64]) -> Durable {
    let mut bytes = [0; 8];
    bytes[..data.len()].copy_from_slice(data);
    Durable {
        at: Cycles(at),
        line: cell(line).line(),
        data: bytes,
    }
}

/// Notes of a region that sets both cells to `value`.
fn region(begun: u64, value: u64, acknowledged: u64) -> Vec<Noted> {
    let write = |index| Note::RegionWrite {
        addr: cell(index),
        size: 8,
        value,
    };
    let notes = [
        (begun, Note::RegionBegin),
        (begun + 1, write(0)),
        (begun + 2, write(1)),
        (acknowledged, Note::RegionDurable),
    ];
    notes.map(|(at, note)| Noted { at: Cycles(at), note }).to_vec()
}

/// Region 1 sets both cells to 1, region 2 to 2; logged, ordered, and committed by clearing the log's mark.
fn sound() -> Journal {
    let events = [
        durable(10, 2, &[1, 0, 0]),
        durable(20, 0, &[1]),
        durable(21, 1, &[1]),
        durable(30, 2, &[0]),
        durable(50, 2, &[1, 1, 1]),
        durable(60, 1, &[2]),
        durable(60, 0, &[2]),
        durable(70, 2, &[0]),
    ];
    Journal {
        durable: events.to_vec(),
        notes: vec![[region(5, 1, 30), region(40, 2, 70)].concat()],
        ..Journal::default()
    }
}

fn findings(journal: &Journal, recovers: bool) -> Vec<Finding> {
    let (regions, program) = (Regions::of(&journal.notes), Cells { recovers });
    let initial = Memory::new(64, 192);
    let mut walk = Walk::new(journal, &regions, &initial, &program);
    (0..=journal.durable.len())
        .filter_map(|event| walk.point(event))
        .collect()
}

const FIRST: RegionName = RegionName { core: 0, number: 1 };
const SECOND: RegionName = RegionName { core: 0, number: 2 };

#[test]
fn a_sound_journal_is_clean() {
    assert_eq!(findings(&sound(), true), []);
}

#[test]
fn recovery_that_does_nothing_is_caught_wherever_a_region_is_half_done() {
    // After events 2 and 6, one of two cells is new.
    let found = findings(&sound(), false);
    assert_eq!(
        found.iter().map(|finding| finding.event).collect::<Vec<usize>>(),
        [2, 6]
    );
    let torn = Fault::Torn {
        region: FIRST,
        addr: cell(0),
        found: 1,
        expected: 0,
    };
    assert_eq!((&found[0].faults, found[0].at), (&vec![torn], Cycles(20)));
}

#[test]
fn a_lost_acknowledged_write_is_caught_from_its_acknowledgement_on() {
    let mut journal = sound();
    // The first cell's 1 never arrives, but the region is acknowledged at 30, by event 4.
    journal.durable[1].data[0] = 0;
    let found = findings(&journal, true);
    let lost = Fault::Lost {
        region: FIRST,
        acknowledged: Cycles(30),
        addr: cell(0),
        found: 0,
        expected: 1,
    };
    // From event 5 on, the log restores the cell.
    assert_eq!(
        found,
        [Finding {
            event: 4,
            at: Cycles(30),
            faults: vec![lost]
        }]
    );
}

#[test]
fn a_region_acknowledged_between_two_events_is_lost_from_that_cycle_on() {
    let mut journal = sound();
    // Acknowledged at 25, while the log's valid mark would still undo the cells.
    journal.notes = vec![[region(5, 1, 25), region(40, 2, 70)].concat()];
    let found = findings(&journal, true);
    assert_eq!((found.len(), found[0].event, found[0].at), (1, 3, Cycles(25)));
}

#[test]
fn an_acknowledgement_in_the_cycle_of_an_event_belongs_to_no_state_before_it() {
    let mut journal = sound();
    // Events 6 and 7 share cycle 60. An acknowledgement in that cycle may follow from either; event 8 comes later.
    journal.notes = vec![[region(5, 1, 30), region(40, 2, 60)].concat()];
    let events: Vec<usize> = findings(&journal, true).iter().map(|finding| finding.event).collect();
    assert_eq!(events, [7]);
}

#[test]
fn a_torn_region_is_caught() {
    let mut journal = sound();
    // The log of the second region becomes durable only after one of its cells.
    journal.durable.swap(4, 5);
    let found = findings(&journal, true);
    let torn = Fault::Torn {
        region: SECOND,
        addr: cell(1),
        found: 2,
        expected: 1,
    };
    assert_eq!((found[0].event, &found[0].faults[..]), (5, &[torn][..]));
}

#[test]
fn a_region_that_was_never_acknowledged_may_be_there_or_not_but_not_half() {
    let mut journal = sound();
    journal.notes = vec![[region(5, 1, 30), region(40, 2, Cycles::NEVER.0)].concat()];
    assert_eq!(findings(&journal, true), []);
    journal.durable.truncate(4);
    assert_eq!(findings(&journal, true), []);
    journal.durable.push(durable(60, 1, &[2]));
    assert_eq!(findings(&journal, true).len(), 1);
}

#[test]
fn a_broken_invariant_is_told_beside_the_write_that_broke_it() {
    let mut journal = sound();
    journal.durable[7] = durable(70, 1, &[9]);
    journal.durable.push(durable(80, 2, &[0]));
    let found = findings(&journal, true);
    let what = "cells hold 2 and 9".to_owned();
    let lost = Fault::Lost {
        region: SECOND,
        acknowledged: Cycles(70),
        addr: cell(1),
        found: 9,
        expected: 2,
    };
    assert_eq!(found.last().unwrap().faults, [Fault::Structure { what }, lost]);
}

#[test]
fn a_word_of_a_region_that_had_not_begun_is_foreign() {
    let mut journal = sound();
    journal.durable.insert(0, durable(1, 0, &[1]));
    let found = findings(&journal, true);
    assert_eq!(
        found[0].faults,
        [Fault::Foreign {
            addr: cell(0),
            found: 1,
            expected: 0
        }]
    );
}

/// A map of one key, in the first cell.
struct Map;

impl Recoverable for Map {
    fn recover(&self, _image: &dyn Image) {}

    fn check(&self, _image: &dyn Image) -> Result<(), String> {
        Ok(())
    }

    fn contents(&self, image: &dyn Image) -> BTreeMap<u64, u64> {
        let value = Some(image.word(cell(0))).filter(|value| *value != 0);
        value.map(|value| (1, value)).into_iter().collect()
    }
}

/// When a crash leaves an operation's value wrong that is durable in cycle 30, if ever.
fn wrong_operation(begun: u64, returned: u64) -> Option<(usize, Cycles)> {
    let begin = Note::OperationBegin { key: 1, value: Some(1) };
    let notes = [(begun, begin), (returned, Note::OperationDurable { changed: true })];
    let journal = Journal {
        durable: vec![durable(20, 2, &[1]), durable(30, 0, &[1]), durable(500, 2, &[0])],
        notes: vec![notes.map(|(at, note)| Noted { at: Cycles(at), note }).to_vec()],
        ..Journal::default()
    };
    let (regions, initial) = (Regions::of(&[]), Memory::new(64, 192));
    let mut walk = Walk::new(&journal, &regions, &initial, &Map);
    let mut findings = (0..=journal.durable.len()).filter_map(|event| walk.point(event));
    findings.next().map(|finding| (finding.event, finding.at))
}

#[test]
fn an_operation_is_judged_to_the_cycle() {
    assert_eq!(wrong_operation(10, 30), None);
    assert_eq!(
        wrong_operation(10, 29),
        Some((1, Cycles(29))),
        "it has returned, and is not there"
    );
    assert_eq!(wrong_operation(30, 40), None);
    assert_eq!(
        wrong_operation(31, 40),
        Some((2, Cycles(30))),
        "it is there, and has not begun"
    );
}

#[test]
fn a_region_is_judged_to_the_cycle() {
    let wrong = |begun, acknowledged| {
        let notes = vec![region(begun, 1, acknowledged)];
        let journal = Journal {
            durable: vec![durable(30, 0, &[1]), durable(30, 1, &[1]), durable(500, 2, &[0])],
            notes,
            ..Journal::default()
        };
        let found = findings(&journal, false).into_iter();
        found.map(|finding| finding.event).collect::<Vec<usize>>()
    };
    assert_eq!(wrong(10, 30), [1], "one of two cells is there, in its own cycle");
    assert_eq!(wrong(10, 29), [0, 1], "it is acknowledged, and not there");
    assert_eq!(wrong(30, 600), [1]);
    assert_eq!(wrong(31, 600), [1, 2], "it is there, and has not begun");
}

/// Recovery that follows a pointer beyond memory.
struct Lost;

impl Recoverable for Lost {
    fn recover(&self, image: &dyn Image) {
        image.set_word(Addr(PM_BASE + (1 << 30)), 1);
    }

    fn check(&self, _image: &dyn Image) -> Result<(), String> {
        Ok(())
    }
}

#[test]
fn recovery_that_goes_astray_is_a_fault_not_a_panic() {
    let journal = Journal::default();
    let (regions, initial) = (Regions::of(&[]), Memory::new(64, 64));
    let found = Walk::new(&journal, &regions, &initial, &Lost).point(0).unwrap();
    let addr = Addr(PM_BASE + (1 << 30));
    assert_eq!((found.at, found.faults), (Cycles::ZERO, vec![Fault::Stray { addr }]));
}

/// The last clear of the log's mark, which commits the second region, is on the media, but under an undo record.
#[test]
fn what_is_undone_until_its_region_is_acknowledged_is_lost_from_then_on() {
    let mut journal = sound();
    journal.notes = vec![[region(5, 1, 30), region(40, 2, 75)].concat()];
    journal.durable[7].at = Cycles(75);
    assert_eq!(findings(&journal, true), []);
    journal.durable[7].at = Cycles(76);
    let found = findings(&journal, true);
    assert_eq!((found.len(), found[0].event, found[0].at), (1, 7, Cycles(75)));
}

#[test]
fn what_was_there_and_is_undone_after_its_acknowledgement_is_lost() {
    let mut journal = sound();
    // An undo record for the first cell appears and disappears.
    journal.durable.push(durable(80, 0, &[1]));
    journal.durable.push(durable(90, 0, &[2]));
    let found = findings(&journal, true);
    assert_eq!((found.len(), found[0].event, found[0].at), (1, 9, Cycles(80)));
}

#[test]
fn regions_under_way_that_conflict_are_judged_together() {
    // Both regions wrote; the later one overwrote the first cell of the earlier: each ordered subset is a right state.
    let first = [
        (1, Note::RegionBegin),
        (2, write(0, 1)),
        (2, write(1, 1)),
        (90, Note::RegionDurable),
    ];
    let second = [(3, Note::RegionBegin), (4, write(0, 2)), (91, Note::RegionDurable)];
    let notes = |notes: &[(u64, Note)]| {
        notes
            .iter()
            .map(|(at, note)| Noted {
                at: Cycles(*at),
                note: *note,
            })
            .collect()
    };
    let judged = |a: u64, b: u64| {
        let journal = Journal {
            durable: vec![durable(10, 0, &[a]), durable(10, 1, &[b]), durable(80, 2, &[0])],
            notes: vec![notes(&first), notes(&second)],
            ..Journal::default()
        };
        let (regions, program) = (Regions::of(&journal.notes), Cells { recovers: false });
        let initial = Memory::new(64, 192);
        let mut walk = Walk::new(&journal, &regions, &initial, &program);
        walk.point(2).is_none()
    };
    assert!(judged(0, 0) && judged(1, 1) && judged(2, 1) && judged(2, 0));
    assert!(!judged(1, 0) && !judged(0, 1));
}

fn write(index: u64, value: u64) -> Note {
    Note::RegionWrite {
        addr: cell(index),
        size: 8,
        value,
    }
}
