//! The order in which threads accessed persistent memory, as links of the recording.
//!
//! The recorder lets one access to persistent memory happen at a time, with tickets that grow along each thread and each line. So
//! which store each load read is known. A line belongs to its first thread, whose accesses have no tickets: all of them precede
//! the first ticket of the line.
//!
//! A link says that an access comes behind another thread's. Those that follow from other links, from turns and from signals are
//! left out: each thread has a clock, which is how far it knows each other thread to have come.

use super::turns::Timed;
use crate::format::{LinkAt, WaitAt};
use crate::recording::{Link, LinkEvent};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::rc::Rc;
use strandline_capture::{Access, LINE_BYTES};
use strandline_kernel::NumberHasher;

type Numbers<T> = HashMap<u64, T, BuildHasherDefault<NumberHasher>>;

/// A place in a thread: its step, and its access in that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub step: u64,
    pub access: u16,
}

/// How far a thread has come: behind this place, or nowhere.
type Reached = Option<Place>;

/// The last accesses of a line's first thread, while it was the only one.
#[derive(Debug)]
struct Owner {
    thread: u32,
    written: Reached,
    last: Place,
}

/// The lines of persistent memory that one thread has accessed alone.
#[derive(Debug, Default)]
pub(super) struct Lines {
    owners: Numbers<Owner>,
}

impl Lines {
    /// A thread has accessed lines that no other one has accessed yet.
    pub fn own(&mut self, thread: u32, place: Place, address: u64, access: Access) {
        let end = address.saturating_add(u64::from(access.size.max(1)) - 1);
        for line in address / LINE_BYTES..=end / LINE_BYTES {
            let first = || Owner {
                thread,
                written: None,
                last: place,
            };
            let owner = self.owners.entry(line).or_insert_with(first);
            // Another thread's, which the recorder was not sure of.
            if owner.thread == thread {
                owner.last = place;
                owner.written = if access.kind.writes() {
                    Some(place)
                } else {
                    owner.written
                };
            }
        }
    }
}

/// An access to persistent memory that several threads access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    ticket: u64,
    place: Place,
    /// Its first and its last word: addresses divided by 8.
    first: u64,
    last: u64,
    writes: bool,
}

impl Touch {
    /// Of this access.
    pub fn new(ticket: u64, place: Place, address: u64, access: Access) -> Touch {
        let end = address.saturating_add(u64::from(access.size.max(1)) - 1);
        Touch {
            ticket,
            place,
            first: address / 8,
            last: end / 8,
            writes: access.kind.writes(),
        }
    }
}

/// How many of these accesses, of which the recorder is not sure that no other came in between, are to words that another thread
/// stores to. The others have no order to lose.
pub(super) fn contended<'t>(
    unsure: &[(u32, Touch)],
    touched: impl Iterator<Item = (u32, &'t Touch)>,
    lines: &Lines,
) -> u64 {
    let mut writers: HashMap<u64, Vec<u32>> = HashMap::new();
    for (thread, touch) in touched.filter(|(_, touch)| touch.writes && !unsure.is_empty()) {
        for word in touch.first..=touch.last {
            writers.entry(word).or_default().push(thread);
        }
    }
    let is_contended = |(own, touch): &&(u32, Touch)| {
        (touch.first..=touch.last).any(|word| {
            let owner = lines.owners.get(&(word * 8 / LINE_BYTES));
            let owner = owner.filter(|owner| owner.written.is_some()).map(|owner| owner.thread);
            let others = writers.get(&word).into_iter().flatten().copied();
            others.chain(owner).any(|writer| writer != *own)
        })
    };
    unsure.iter().filter(is_contended).count() as u64
}

/// A signal that was given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given {
    /// When a wait for it may end: those with larger tickets.
    pub until: u64,
    /// A ticket of its thread before it, and its step.
    pub ticket: u64,
    pub thread: u32,
    pub step: u64,
}

/// What threads wait for, besides turns.
pub(super) struct Signals<'s> {
    /// For each signal, in the order of tickets.
    pub given: &'s [Vec<Given>],
    /// Of each thread, in the order of steps.
    pub waits: &'s [Vec<WaitAt>],
}

/// What one thread knows of the others.
type Clock = Rc<Vec<Reached>>;

/// An access by which others learn how far its thread has come.
#[derive(Clone, Debug)]
struct Mark {
    thread: u32,
    place: Place,
    clock: Clock,
}

/// The last accesses to a word.
#[derive(Debug, Default)]
struct Word {
    writer: Option<Mark>,
    /// The last of each thread since then.
    readers: Vec<Mark>,
}

/// Something that orders threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// An access with a turn at a word.
    Turn { word: u64, writes: bool },
    /// A signal of this number, and which one of its.
    Given(usize, usize),
    /// The touch of this number.
    Touch(usize),
}

/// When it happened: a store just before its ticket, everything else at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Moment {
    ticket: u64,
    at_ticket: bool,
    thread: u32,
    place: Place,
    what: What,
}

/// An access that follows another thread's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    thread: u32,
    place: Place,
    leads: (u32, Place),
}

struct Clocks<'s> {
    signals: Signals<'s>,
    /// The next wait of each thread.
    next: Vec<usize>,
    given: HashMap<(usize, usize), Mark>,
    of: Vec<Clock>,
    turns: Numbers<Mark>,
    edges: Vec<Edge>,
}

impl Clocks<'_> {
    fn new(signals: Signals<'_>, threads: usize) -> Clocks<'_> {
        let nothing = Rc::new(vec![None; threads]);
        Clocks {
            signals,
            next: vec![0; threads],
            given: HashMap::new(),
            of: vec![nothing; threads],
            turns: Numbers::default(),
            edges: Vec::new(),
        }
    }

    fn mark(&self, thread: u32, place: Place) -> Mark {
        let clock = Rc::clone(&self.of[thread as usize]);
        Mark { thread, place, clock }
    }

    fn knows(&self, thread: u32, mark: &Mark) -> bool {
        mark.thread == thread || self.of[thread as usize][mark.thread as usize] >= Some(mark.place)
    }

    /// A thread is behind another one's access.
    fn learn(&mut self, thread: u32, mark: &Mark) {
        if self.knows(thread, mark) {
            return;
        }
        let clock = Rc::make_mut(&mut self.of[thread as usize]);
        for (own, other) in clock.iter_mut().zip(mark.clock.iter()) {
            *own = (*own).max(*other);
        }
        let own = &mut clock[mark.thread as usize];
        *own = (*own).max(Some(mark.place));
    }

    /// The thread comes to this step: all its waits until there have ended.
    fn waits(&mut self, thread: u32, step: u64) {
        let waits = &self.signals.waits[thread as usize];
        while let Some(wait) = waits.get(self.next[thread as usize]).filter(|wait| wait.step <= step) {
            self.next[thread as usize] += 1;
            for number in 0..wait.times as usize {
                if let Some(mark) = self.given.get(&(wait.number as usize, number)).cloned() {
                    self.learn(thread, &mark);
                }
            }
        }
    }

    fn turn(&mut self, moment: &Moment, word: u64, writes: bool) {
        if let Some(mark) = self.turns.get(&word).cloned() {
            self.learn(moment.thread, &mark);
        }
        if writes {
            let mark = self.mark(moment.thread, moment.place);
            self.turns.insert(word, mark);
        }
    }

    fn touch(&mut self, moment: &Moment, touch: &Touch, words: &mut Numbers<Word>, lines: &Lines) {
        let mut found: Vec<Mark> = Vec::new();
        for number in touch.first..=touch.last {
            let word = words.entry(number).or_insert_with(|| self.first(number, lines));
            found.extend(word.writer.clone());
            if touch.writes {
                found.extend(word.readers.iter().cloned());
            }
        }
        // The latest of a thread says the most.
        found.sort_by_key(|mark| std::cmp::Reverse((mark.thread, mark.place)));
        for mark in &found {
            if !self.knows(moment.thread, mark) {
                self.edges.push(Edge {
                    thread: moment.thread,
                    place: moment.place,
                    leads: (mark.thread, mark.place),
                });
                self.learn(moment.thread, mark);
            }
        }
        let own = self.mark(moment.thread, moment.place);
        for number in touch.first..=touch.last {
            let word = words.entry(number).or_default();
            if touch.writes {
                word.readers.clear();
                word.writer = Some(own.clone());
            } else {
                word.readers.retain(|reader| reader.thread != moment.thread);
                word.readers.push(own.clone());
            }
        }
    }

    /// A word before its first ticket: what its line's first thread has done alone.
    fn first(&self, word: u64, lines: &Lines) -> Word {
        let Some(owner) = lines.owners.get(&(word * 8 / LINE_BYTES)) else {
            return Word::default();
        };
        let clock: Clock = Rc::new(vec![None; self.of.len()]);
        let mark = |place| Mark {
            thread: owner.thread,
            place,
            clock: Rc::clone(&clock),
        };
        Word {
            writer: owner.written.map(mark),
            readers: vec![mark(owner.last)],
        }
    }
}

/// The links of each thread, in order, with numbers of signals from `number` on.
pub(super) fn link(
    touched: &[Vec<Touch>],
    lines: &Lines,
    turns: &[Timed],
    signals: Signals<'_>,
    number: u32,
) -> Vec<Vec<LinkAt>> {
    let threads = touched.len();
    let mut moments: Vec<Moment> = turns.iter().map(of_turn).collect();
    for (index, given) in signals.given.iter().enumerate() {
        moments.extend(
            given
                .iter()
                .enumerate()
                .map(|(nth, given)| of_signal(given, index, nth)),
        );
    }
    for (thread, touches) in touched.iter().enumerate() {
        let touches = touches.iter().enumerate();
        moments.extend(touches.map(|(index, touch)| Moment {
            ticket: touch.ticket,
            at_ticket: true,
            thread: thread as u32,
            place: touch.place,
            what: What::Touch(index),
        }));
    }
    moments.sort_unstable();
    let mut clocks = Clocks::new(signals, threads);
    let mut words = Numbers::default();
    for moment in &moments {
        clocks.waits(moment.thread, moment.place.step);
        match moment.what {
            What::Turn { word, writes } => clocks.turn(moment, word, writes),
            What::Given(index, nth) => {
                let mark = clocks.mark(moment.thread, moment.place);
                clocks.given.insert((index, nth), mark);
            }
            What::Touch(index) => {
                let touch = &touched[moment.thread as usize][index];
                clocks.touch(moment, touch, &mut words, lines);
            }
        }
    }
    numbered(&clocks.edges, threads, number)
}

fn of_turn(turn: &Timed) -> Moment {
    Moment {
        ticket: turn.ticket,
        at_ticket: turn.at_ticket,
        thread: turn.thread,
        place: turn.place,
        what: What::Turn {
            word: turn.word,
            writes: turn.writes,
        },
    }
}

/// What is before the signal's step has come before it.
fn of_signal(given: &Given, index: usize, nth: usize) -> Moment {
    Moment {
        ticket: given.ticket,
        at_ticket: true,
        thread: given.thread,
        place: Place {
            step: given.step,
            access: 0,
        },
        what: What::Given(index, nth),
    }
}

/// Edges as waits for signals: each thread has one number, and gives its signal behind each access that leads.
fn numbered(edges: &[Edge], threads: usize, number: u32) -> Vec<Vec<LinkAt>> {
    let mut leads: Vec<Vec<Place>> = vec![Vec::new(); threads];
    for edge in edges {
        leads[edge.leads.0 as usize].push(edge.leads.1);
    }
    for places in &mut leads {
        places.sort_unstable();
        places.dedup();
    }
    let at = |place: Place, event| LinkAt {
        step: place.step,
        link: Link {
            access: place.access,
            event,
        },
    };
    let mut links: Vec<Vec<LinkAt>> = vec![Vec::new(); threads];
    for Edge {
        thread,
        place,
        leads: (leader, lead),
    } in edges
    {
        let times = leads[*leader as usize].partition_point(|other| other <= lead) as u32;
        let number = number + leader;
        links[*thread as usize].push(at(*place, LinkEvent::Wait { number, times }));
    }
    for (thread, places) in leads.iter().enumerate() {
        let number = number + thread as u32;
        links[thread].extend(places.iter().map(|place| at(*place, LinkEvent::Signal { number })));
        // Waits, which were added first, stay before the signal of their access.
        links[thread].sort_by_key(|at| (at.step, at.link.access));
    }
    links
}
