//! All threads, and what they wait for.

use super::links::{contended, link, Given, Lines, Signals, Touch};
use super::packets::{number, wrong, Packet};
use super::thread::{Thread, Trace};
use super::turns::{place, Join, Words};
use crate::error::RecordError;
use crate::format::{Ending, WaitAt};
use crate::recording::Event;
use std::collections::HashMap;
use std::io::Write;
use strandline_capture::{CONTROL, NOBODY};

/// System calls that start threads: `clone` and `clone3`.
const BEGINS: [u64; 2] = [56, 435];

/// A futex wait's result if the word had already changed.
const EAGAIN: u64 = -11i64 as u64;

/// What threads have in common.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Whether there are, or may soon be, several threads.
    pub several: bool,
    /// Words that atomic instructions have accessed, or for which threads have waited.
    pub atomics: Words,
    /// Words for which threads have waited and which no atomic instruction had accessed before.
    pub awaited: Vec<u64>,
    /// Words that the kernel cleared at the ends of threads.
    pub ended: Ended,
    /// Lines of persistent memory.
    pub lines: Lines,
    /// Accesses to it whose order the recorder was not sure of, with their threads.
    pub unsure: Vec<(u32, Touch)>,
    /// How many of these matter, once all threads have ended.
    assumed: u64,
    numbers: HashMap<Cause, u32>,
    /// For each signal, when it was given.
    given: Vec<Vec<Given>>,
    waits: Vec<Waited>,
    /// Number of threads started under each of the system's ids.
    begun: HashMap<u64, u32>,
}

/// The words that the kernel cleared at the ends of threads, with their last tickets.
#[derive(Debug)]
pub(super) struct Ended {
    tickets: HashMap<u64, u64>,
    /// The lowest and the highest word: most accesses are outside.
    bounds: (u64, u64),
}

impl Default for Ended {
    fn default() -> Ended {
        Ended {
            tickets: HashMap::new(),
            bounds: (u64::MAX, 0),
        }
    }
}

impl Ended {
    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.tickets.is_empty()
    }

    /// The ticket of the thread that owns this word.
    #[inline]
    pub fn get(&self, address: u64) -> Option<u64> {
        let inside = self.bounds.0 <= address && address <= self.bounds.1;
        inside.then(|| self.tickets.get(&address).copied()).flatten()
    }

    fn add(&mut self, address: u64, ticket: u64) {
        self.bounds = (self.bounds.0.min(address), self.bounds.1.max(address));
        self.tickets.insert(address, ticket);
    }
}

/// What a signal is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Cause {
    /// Start of a thread with this system id.
    Started(u64),
    /// Wake of a futex at this address.
    Woken(u64),
}

/// A wait that ended.
#[derive(Clone, Copy, Debug)]
struct Waited {
    thread: u32,
    step: u64,
    number: u32,
    until: Until,
}

#[derive(Clone, Copy, Debug)]
enum Until {
    /// Waits for all signals with smaller tickets.
    Ticket(u64),
    /// So many were given.
    Times(u32),
}

impl Shared {
    fn number(&mut self, cause: Cause) -> u32 {
        let next = self.given.len() as u32;
        let number = *self.numbers.entry(cause).or_insert(next);
        if number == next {
            self.given.push(Vec::new());
        }
        number
    }

    /// Somebody waits for a write to this word.
    #[cold]
    pub fn awaited(&mut self, address: u64) {
        if self.atomics.add(address & !7) {
            self.awaited.push(address & !7);
        }
    }

    /// A system call is made.
    pub fn called(&mut self, number: u64) {
        self.several |= BEGINS.contains(&number);
    }

    /// A system call, begun at this ticket, returned in this step; returns its signal if it started a thread.
    pub fn started(&mut self, call: u64, result: u64, ticket: u64, (thread, step): (u32, u64)) -> Option<u32> {
        let starts = BEGINS.contains(&call) && result != 0 && result & CONTROL == 0;
        starts.then(|| {
            let number = self.number(Cause::Started(result));
            self.given[number as usize].push(Given {
                until: 0,
                ticket,
                thread,
                step,
            });
            number
        })
    }

    /// A futex wake in this step; returns its signal.
    pub fn woken(&mut self, address: u64, ticket: u64, (thread, step): (u32, u64)) -> u32 {
        let number = self.number(Cause::Woken(address));
        self.given[number as usize].push(Given {
            until: ticket,
            ticket,
            thread,
            step,
        });
        number
    }

    /// The end of a wait on a futex.
    pub fn waited(&mut self, thread: u32, step: u64, address: u64, result: u64, ticket: u64) {
        // A wait that timed out or was interrupted waits for no signal.
        if result == 0 || result == EAGAIN {
            let number = self.number(Cause::Woken(address));
            self.waits.push(Waited {
                thread,
                step,
                number,
                until: Until::Ticket(ticket),
            });
        }
    }

    /// A thread observed that another had ended.
    fn joined(&mut self, thread: u32, join: &Join) {
        let number = self.number(Cause::Woken(join.address));
        self.waits.push(Waited {
            thread,
            step: join.step,
            number,
            until: Until::Ticket(join.ended + 1),
        });
    }

    /// The start of a thread by another one.
    fn begins(&mut self, thread: u32, own: u64) {
        let begun = self.begun.entry(own).or_default();
        *begun += 1;
        let until = Until::Times(*begun);
        let number = self.number(Cause::Started(own));
        self.waits.push(Waited {
            thread,
            step: 0,
            number,
            until,
        });
    }

    /// The waits of each thread.
    fn resolve(&mut self, threads: usize) -> Vec<Vec<WaitAt>> {
        self.given
            .iter_mut()
            .for_each(|given| given.sort_by_key(|given| given.until));
        let mut waits = vec![Vec::new(); threads];
        for wait in &self.waits {
            let given = &self.given[wait.number as usize];
            let times = match wait.until {
                Until::Ticket(ticket) => given.partition_point(|given| given.until < ticket),
                // If the signalling thread was killed first, the signal never comes.
                Until::Times(times) => given.len().min(times as usize),
            };
            if times > 0 {
                let (step, number, times) = (wait.step, wait.number, times as u32);
                waits[wait.thread as usize].push(WaitAt { step, number, times });
            }
        }
        waits
    }
}

/// The threads.
#[derive(Debug, Default)]
pub(super) struct Threads {
    threads: Vec<Option<Thread>>,
    shared: Shared,
}

impl Threads {
    /// Number of instructions of all threads.
    pub fn instructions(&self) -> u64 {
        self.threads.iter().flatten().map(|thread| thread.instructions).sum()
    }

    /// Number of instructions of waits that are left out.
    pub fn left_out(&self) -> u64 {
        self.threads.iter().flatten().map(|thread| thread.spins.left_out).sum()
    }

    /// Accesses whose order is assumed, and matters; of threads that have ended.
    pub fn assumed(&self) -> u64 {
        self.shared.assumed
    }

    /// Threads that began.
    pub fn count(&self) -> u32 {
        self.threads.iter().flatten().count() as u32
    }

    /// A thread begins.
    pub fn begin(&mut self, number: u32, own: u64, parent: u64, clears: u64) -> Result<(), &'static str> {
        if number >= 1 << 16 {
            return Err("too many threads");
        }
        let at = number as usize;
        if at >= self.threads.len() {
            self.threads.resize_with(at + 1, || None);
        }
        if self.threads[at].is_some() {
            return Err("a thread begins twice");
        }
        self.threads[at] = Some(Thread::new(number, clears));
        // Its memory may have belonged to another thread.
        self.shared.ended.tickets.remove(&clears);
        self.shared.several |= self.count() > 1;
        if parent != NOBODY {
            self.shared.begins(number, own);
        }
        Ok(())
    }

    fn running<'t>(
        threads: &'t mut [Option<Thread>],
        number: u32,
        packet: &Packet<'_>,
    ) -> Result<&'t mut Thread, RecordError> {
        match threads.get_mut(number as usize) {
            Some(Some(thread)) if !thread.ended => Ok(thread),
            _ => Err(packet.wrong(format!("thread {number} is not running"))),
        }
    }

    /// How accesses of the thread's next trace passed the recorder's gate.
    pub fn passed(&mut self, packet: &Packet<'_>) -> Result<(), RecordError> {
        let thread = Self::running(&mut self.threads, packet.thread, packet)?;
        thread.pass(packet.payload.chunks_exact(8).map(number));
        Ok(())
    }

    /// What a thread did.
    pub fn trace<W: Write>(
        &mut self,
        number: u32,
        packet: &Packet<'_>,
        trace: &mut Trace<'_, W>,
    ) -> Result<(), RecordError> {
        let thread = Self::running(&mut self.threads, number, packet)?;
        thread.read(packet.payload, packet.place, false, trace, &mut self.shared)
    }

    /// A thread ends.
    pub fn end<W: Write>(
        &mut self,
        number: u32,
        ticket: u64,
        packet: &Packet<'_>,
        trace: &mut Trace<'_, W>,
    ) -> Result<(), RecordError> {
        let thread = Self::running(&mut self.threads, number, packet)?;
        thread.read(&[], packet.place, true, trace, &mut self.shared)?;
        thread.turns.ticket(ticket).map_err(|wrong| wrong.at(packet.place))?;
        thread.ended = true;
        thread.fences.end();
        if thread.clears != 0 {
            // The kernel clears the word and wakes its waiters.
            let place = (thread.number, trace.writer.steps(thread.number));
            let number = self.shared.woken(thread.clears, ticket, place);
            self.shared.ended.add(thread.clears, ticket);
            thread
                .event(Event::Signal { number }, trace)
                .map_err(|wrong| wrong.at(packet.place))?;
        }
        Ok(())
    }

    /// The stream ends here.
    pub fn finish<W: Write>(&mut self, offset: u64, trace: &mut Trace<'_, W>) -> Result<Ending, RecordError> {
        for thread in self.threads.iter_mut().flatten().filter(|thread| !thread.ended) {
            thread.read(&[], offset, true, trace, &mut self.shared)?;
            thread.turns.join_before(u64::MAX);
            thread.fences.end();
        }
        for thread in self.threads.iter().flatten() {
            let joins = thread.turns.joins.iter();
            joins.for_each(|join| self.shared.joined(thread.number, join));
        }
        let count = self.threads.len();
        for number in 0..count as u32 {
            // Threads without steps have their number, too.
            trace
                .writer
                .thread(number)
                .map_err(|error| wrong(offset, error.what()))?;
        }
        let mut waits = self.shared.resolve(count);
        waits.iter_mut().for_each(|waits| waits.sort_by_key(|wait| wait.step));
        let (mut fences, mut turns, mut touched) = (Vec::new(), Vec::new(), Vec::new());
        for thread in &mut self.threads {
            let thread = thread.get_or_insert_with(Thread::default);
            fences.push(std::mem::take(&mut thread.fences.classes));
            thread.turns.search(&self.shared.awaited);
            thread.turns.insert_late();
            turns.push(std::mem::take(&mut thread.turns));
            touched.push(std::mem::take(&mut thread.touched));
        }
        let (turns, times) = place(&turns);
        let shared = &mut self.shared;
        let touches = (0..)
            .zip(&touched)
            .flat_map(|(thread, touched)| touched.iter().map(move |touch| (thread, touch)));
        shared.assumed = contended(&shared.unsure, touches, &shared.lines);
        let signals = Signals {
            given: &shared.given,
            waits: &waits,
        };
        let links = link(&touched, &shared.lines, &times, signals, shared.given.len() as u32);
        Ok(Ending {
            waits,
            fences,
            turns,
            links,
            ..Ending::default()
        })
    }
}
