//! Converts a thread's trace into steps of the recording.

use super::accesses::{cut_of, Reach};
use super::links::Touch;
use super::locks::{Fences, Held};
use super::packets::{number, Wrong};
use super::spins::{Fate, Lap, Role, Spins};
use super::threads::Shared;
use super::turns::Turns;
use crate::code::{instructions, signs, stores_to_stack, Sign};
use crate::error::RecordError;
use crate::format::Writer;
use crate::ranges::Ranges;
use crate::recording::{Block, Event};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::Write;
use strandline_capture::{Access, AccessKind, Control, Passed};

/// The collector's data on a block.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub instructions: u32,
    pub accesses: Box<[Access]>,
    /// Fences and markers, with their instructions.
    pub signs: Box<[(u16, Sign)]>,
    /// It has a fence, a flush, a non-temporal store, an atomic instruction or a load that takes a ticket.
    special: bool,
    /// It has a store that may release a lock.
    pub stores: bool,
    /// What a whole execution may be to a wait, if its locked instructions change nothing.
    pub role: Role,
}

impl Known {
    /// Words of a whole execution, with the control word.
    pub fn words(&self) -> usize {
        1 + self.accesses.iter().map(|access| access.words()).sum::<usize>()
    }

    /// The data of a block; stores the fences in the block, and makes its accesses those of recordings.
    pub fn new(block: &mut Block) -> Known {
        let inside = |(instruction, _): &(u16, Sign)| u32::from(*instruction) < block.instructions;
        let signs: Box<[_]> = signs(block.pc, &block.code).into_iter().filter(inside).collect();
        block.fences = signs
            .iter()
            .filter(|(_, sign)| sign.fences())
            .map(|(index, _)| *index)
            .collect();
        let orders = |access: &Access| {
            access.kind.flushes()
                || access.kind.is_nt()
                || matches!(access.kind, AccessKind::Atomic | AccessKind::LoadSeen)
        };
        let stores = |access: &Access| access.kind.writes() && access.kind != AccessKind::Atomic;
        let role = role(block, &signs);
        let accesses: Box<[Access]> = block.accesses.clone().into();
        for access in &mut block.accesses {
            if access.kind == AccessKind::LoadSeen {
                access.kind = AccessKind::Load;
            }
        }
        Known {
            instructions: block.instructions,
            special: !signs.is_empty() || accesses.iter().any(orders),
            stores: accesses.iter().any(stores),
            accesses,
            signs,
            role,
        }
    }
}

/// A block has an effect if it marks, flushes, or stores but to the stack.
fn role(block: &Block, signs: &[(u16, Sign)]) -> Role {
    let instructions = instructions(block);
    let acts = |access: &Access| match access.kind {
        AccessKind::Load | AccessKind::LoadSeen | AccessKind::Atomic => false,
        AccessKind::Store | AccessKind::Update => !instructions
            .get(usize::from(access.instruction))
            .is_some_and(stores_to_stack),
        _ => true,
    };
    let watches = |access: &Access| matches!(access.kind, AccessKind::LoadSeen | AccessKind::Atomic);
    if block.repeats || signs.iter().any(|(_, sign)| !sign.fences()) || block.accesses.iter().any(acts) {
        return Role::Acts;
    }
    match block.accesses.iter().any(watches) {
        true => Role::Watches,
        false => Role::Passes,
    }
}

/// What traces are read with.
pub(super) struct Trace<'t, W: Write> {
    pub writer: &'t mut Writer<W>,
    pub known: &'t [Known],
    pub persistent: &'t Ranges,
}

/// A thread.
#[derive(Debug, Default)]
pub(super) struct Thread {
    pub number: u32,
    /// The address that is cleared when it ends.
    pub clears: u64,
    pub ended: bool,
    /// Words that arrived but cannot be read yet.
    words: Vec<u64>,
    /// How accesses whose words have arrived passed the recorder's gate: the position of the address, and the word.
    passing: VecDeque<(usize, Passed)>,
    /// Accesses to persistent memory that several threads access.
    pub touched: Vec<Touch>,
    pub fences: Fences,
    pub held: Held,
    pub turns: Turns,
    pub spins: Spins,
    /// Of which lap the item is that is recorded.
    pub lap: Lap,
    syscall: Option<(u64, u64)>,
    /// The futex address on which the thread waits.
    pub waits: Option<u64>,
    pub instructions: u64,
    // State of the current block:
    pub addresses: Vec<u64>,
    pub values: Vec<u64>,
    pub present: Vec<bool>,
    /// The position of each access's address among the words.
    pub places: Vec<usize>,
    /// How its accesses passed the gate ([`Passed`], with the access).
    pub passed: Vec<u64>,
}

impl Thread {
    /// The thread of this number; the kernel clears this address when it ends.
    pub fn new(number: u32, clears: u64) -> Thread {
        Thread {
            number,
            clears,
            ..Thread::default()
        }
    }

    /// How accesses of the next words passed the gate.
    pub fn pass(&mut self, passed: impl Iterator<Item = u64>) {
        let before = self.words.len();
        let passed = passed.map(Passed::unpack);
        self.passing
            .extend(passed.map(|passed| (before + usize::from(passed.at), passed)));
    }

    /// How the accesses of the block that has been read up to this word passed the gate.
    fn take_passed(&mut self, next: usize) -> Vec<u64> {
        let mut passed = Vec::new();
        while let Some((place, found)) = self.passing.front().copied().filter(|(place, _)| *place < next) {
            self.passing.pop_front();
            if let Ok(access) = self.places.binary_search(&place) {
                let at = access as u16;
                passed.push(Passed { at, ..found }.pack());
            }
        }
        passed
    }

    /// Reads further words, the first at this offset of the stream. At the end of the trace all must be read.
    pub fn read<W: Write>(
        &mut self,
        bytes: &[u8],
        place: u64,
        last: bool,
        trace: &mut Trace<'_, W>,
        shared: &mut Shared,
    ) -> Result<(), RecordError> {
        self.turns.search(&shared.awaited);
        let mut words = std::mem::take(&mut self.words);
        let carried = words.len() as u64;
        words.extend(bytes.chunks_exact(8).map(number));
        let mut next = 0;
        while next < words.len() {
            let at = |wrong: Wrong| wrong.at(place + (next as u64).saturating_sub(carried) * 8);
            let reached = self.item(&words, next, last, trace, shared).map_err(at)?;
            match reached {
                Some(reached) => next = reached,
                None => break,
            }
        }
        words.drain(..next);
        self.passing.retain(|(place, _)| *place >= next);
        self.passing.iter_mut().for_each(|(place, _)| *place -= next);
        self.words = words;
        if last {
            self.words.clear();
            let mut spins = std::mem::take(&mut self.spins);
            let finished = spins.finish(trace.known, &mut |item, lap| self.take(item, lap, trace, shared));
            self.spins = spins;
            return finished.map_err(|wrong| wrong.at(place));
        }
        Ok(())
    }

    /// Reads a control word with its operands; returns the position of the next word, `None` if words are missing.
    #[inline]
    fn item<W: Write>(
        &mut self,
        words: &[u64],
        at: usize,
        last: bool,
        trace: &mut Trace<'_, W>,
        shared: &mut Shared,
    ) -> Result<Option<usize>, Wrong> {
        match Control::of(words[at]) {
            Some((Control::Block, block)) => self.block(words, at, block, last, trace, shared),
            Some((control, payload)) => {
                let more = match control {
                    Control::Syscall | Control::Futex => 1,
                    Control::Returned | Control::Sync => 2,
                    Control::Block | Control::Cut => 0,
                };
                let Some(item) = words.get(at..at + 1 + more) else {
                    return Ok(None);
                };
                if self.offer(item, Role::of_control(control, payload), trace, shared)? != Fate::Held {
                    self.control(control, payload, &item[1..], trace, shared)?;
                }
                Ok(Some(at + item.len()))
            }
            None => Err(format!("{:#x} in place of a control word", words[at]).into()),
        }
    }

    /// Decides whether to record the next item, and records those before it that are.
    #[inline]
    fn offer<W: Write>(
        &mut self,
        item: &[u64],
        role: Role,
        trace: &mut Trace<'_, W>,
        shared: &mut Shared,
    ) -> Result<Fate, Wrong> {
        if !shared.several || self.spins.pass(role) {
            return Ok(Fate::Taken { after: false });
        }
        let mut spins = std::mem::take(&mut self.spins);
        let known = trace.known;
        let fate = spins.offer(item, role, known, &mut |item, lap| self.take(item, lap, trace, shared));
        if spins.begins() {
            spins.awaited(known, &mut |address| shared.awaited(address));
        }
        self.spins = spins;
        fate
    }

    /// Records a whole item that was held.
    fn take<W: Write>(
        &mut self,
        item: &[u64],
        lap: Lap,
        trace: &mut Trace<'_, W>,
        shared: &mut Shared,
    ) -> Result<(), Wrong> {
        self.lap = lap;
        match Control::of(item[0]) {
            Some((Control::Block, block)) => {
                let known = &trace.known[block as usize];
                self.accesses(item, 1, known, trace.persistent)?;
                self.passed = item[known.words()..].to_vec();
                self.execute(item, block, known.instructions, trace, shared)?;
            }
            Some((control, payload)) => self.control(control, payload, &item[1..], trace, shared)?,
            None => {}
        }
        self.lap = Lap::Kept;
        Ok(())
    }

    fn control<W: Write>(
        &mut self,
        control: Control,
        payload: u64,
        more: &[u64],
        trace: &mut Trace<'_, W>,
        shared: &mut Shared,
    ) -> Result<(), Wrong> {
        match (control, more) {
            (Control::Syscall, [ticket]) => {
                self.turns.ticket(*ticket)?;
                self.syscall = Some((payload, *ticket));
                shared.called(payload);
                self.event(Event::Syscall(payload), trace)
            }
            (Control::Returned, [result, ticket]) => {
                self.turns.ticket(*ticket)?;
                let called = self.syscall.take().map_or(0, |(_, called)| called);
                let place = (self.number, trace.writer.steps(self.number));
                if let Some(number) = shared.started(payload, *result, called, place) {
                    self.event(Event::Signal { number }, trace)?;
                }
                if let Some(address) = self.waits.take() {
                    let step = trace.writer.steps(self.number);
                    shared.waited(self.number, step, address, *result, *ticket);
                }
                Ok(())
            }
            (Control::Futex, [address]) => {
                let (_, ticket) = self.syscall.ok_or("a futex without a system call")?;
                match payload {
                    0 => self.waits = Some(*address),
                    1 => {
                        let place = (self.number, trace.writer.steps(self.number));
                        let number = shared.woken(*address, ticket, place);
                        self.event(Event::Signal { number }, trace)?;
                    }
                    _ => return Err(format!("a futex is used in the unknown way {payload}").into()),
                }
                Ok(())
            }
            (Control::Sync, [start, bytes]) => self.event(
                Event::Sync {
                    start: *start,
                    bytes: *bytes,
                },
                trace,
            ),
            _ => Err("a block is cut short where none is executed".into()),
        }
    }

    /// Records accesses to the words of ended threads. From the next step on, the thread waits for their ends. It does
    /// not wait in this step, because the ended threads may have waited for an operation in it.
    #[cold]
    fn joins(&mut self, shared: &Shared) {
        for address in &self.addresses {
            if let Some(ticket) = shared.ended.get(*address) {
                self.turns.accessed_ended(self.turns.step + 1, *address, ticket);
            }
        }
    }

    /// Something that is no code.
    pub fn event<W: Write>(&mut self, event: Event, trace: &mut Trace<'_, W>) -> Result<(), Wrong> {
        Ok(trace.writer.event(self.number, event)?)
    }

    fn block<W: Write>(
        &mut self,
        words: &[u64],
        at: usize,
        block: u64,
        last: bool,
        trace: &mut Trace<'_, W>,
        shared: &mut Shared,
    ) -> Result<Option<usize>, Wrong> {
        let known = usize::try_from(block).ok().and_then(|block| trace.known.get(block));
        let known = known.ok_or_else(|| format!("block {block} was not defined"))?;
        let reach = self.accesses(words, at + 1, known, trace.persistent)?;
        let (next, cut) = match reach {
            Reach::Beyond if !last => return Ok(None),
            // The last words of a killed thread.
            Reach::Beyond => (words.len(), Some(self.complete(known))),
            Reach::To(next, cut) => (next, cut),
        };
        // A cut may follow.
        let (next, cut) = match (cut, words.get(next).copied().map(Control::of)) {
            (None, None) if !last => return Ok(None),
            (None, Some(Some((Control::Cut, instructions)))) => (next + 1, Some(cut_of(instructions, known)?)),
            (cut, _) => (next, cut),
        };
        let role = match cut {
            Some(_) => Role::Acts,
            None if !shared.several => Role::Acts,
            None => {
                let matters = |address| trace.persistent.contains(address) || shared.atomics.contains(address & !7);
                Role::of_block(known, &words[at..next], matters)
            }
        };
        let passed = self.take_passed(next);
        // What may be a wait keeps both.
        let item = match passed.is_empty() {
            true => Cow::Borrowed(&words[at..next]),
            false => Cow::Owned([&words[at..next], &passed].concat()),
        };
        match self.offer(&item, role, trace, shared)? {
            Fate::Held => return Ok(Some(next)),
            Fate::Taken { after: true } => {
                // What was held has been read in between.
                self.accesses(words, at + 1, known, trace.persistent)?;
            }
            Fate::Taken { after: false } => {}
        }
        self.passed = passed;
        self.execute(words, block, cut.unwrap_or(known.instructions), trace, shared)?;
        Ok(Some(next))
    }

    /// Records the execution of a block whose accesses have been read from these words.
    fn execute<W: Write>(
        &mut self,
        words: &[u64],
        block: u64,
        instructions: u32,
        trace: &mut Trace<'_, W>,
        shared: &mut Shared,
    ) -> Result<(), Wrong> {
        let known = &trace.known[block as usize];
        if instructions < known.instructions {
            self.keep(known, instructions);
        }
        self.turns.step = trace.writer.steps(self.number);
        let orders = known.special || !self.passed.is_empty();
        if orders || known.stores && (!self.held.is_empty() || shared.several) {
            self.order(known, instructions, words, trace.persistent, shared)?;
        }
        if !shared.ended.is_empty() {
            self.joins(shared);
        }
        self.instructions += u64::from(instructions);
        let (addresses, values) = (&self.addresses, &self.values);
        let writer = &mut trace.writer;
        writer.execute(
            self.number,
            block as u32,
            instructions,
            addresses,
            values,
            &self.present,
        )?;
        Ok(())
    }
}
