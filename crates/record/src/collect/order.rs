//! The effects of blocks on fences, locks and turns.

use super::links::{Place, Touch};
use super::packets::Wrong;
use super::spins::Lap;
use super::thread::{Known, Thread};
use super::threads::Shared;
use super::turns::part;
use crate::code::Sign;
use crate::ranges::Ranges;
use strandline_capture::{Access, AccessKind, Marker, Passed};

impl Thread {
    /// The effects of a block on fences, locks and turns, in the order of its instructions.
    pub(super) fn order(
        &mut self,
        known: &Known,
        instructions: u32,
        words: &[u64],
        persistent: &Ranges,
        shared: &mut Shared,
    ) -> Result<(), Wrong> {
        let mut signs = known
            .signs
            .iter()
            .filter(|(index, _)| u32::from(*index) < instructions)
            .peekable();
        for (index, access) in known.accesses[..self.addresses.len()].iter().enumerate() {
            while let Some((_, sign)) = signs.next_if(|(instruction, _)| *instruction < access.instruction) {
                self.sign(*sign);
            }
            let address = self.addresses[index];
            let after = &words[self.places[index] + 1..];
            let flushes = access.kind.flushes() || access.kind.is_nt();
            if flushes && persistent.contains(address) {
                self.fences.flushed();
            }
            let mut passed = self.passed.iter().map(|word| Passed::unpack(*word));
            let passed = passed.find(|passed| usize::from(passed.at) == index);
            match access.kind {
                AccessKind::Atomic => self.atomic(*access, index, after, shared)?,
                AccessKind::LoadSeen => self.seen(*access, index, after, passed.is_some(), shared)?,
                kind if kind.writes() => self.store(*access, index, after, passed.is_some(), shared),
                _ => {}
            }
            if let Some(passed) = passed {
                self.touch(*access, passed, shared)?;
            }
        }
        signs.for_each(|(_, sign)| self.sign(*sign));
        Ok(())
    }

    fn sign(&mut self, sign: Sign) {
        match sign {
            Sign::Sfence | Sign::Mfence => self.fences.fence(),
            Sign::Marker(Marker::TaskEnd) => self.fences.end(),
            Sign::Marker(_) => {}
        }
    }

    fn atomic(&mut self, access: Access, index: usize, after: &[u64], shared: &mut Shared) -> Result<(), Wrong> {
        let (address, values) = (self.addresses[index], access.value_words());
        let first = |words: &[u64]| words.first().map_or(0, |word| *word);
        let old = part(address, access.size, first(&after[..values]));
        let new = part(address, access.size, first(&after[values..2 * values]));
        let changed = after[..values] != after[values..2 * values];
        self.turns.atomic(index, address, old, new, after[2 * values], shared)?;
        if changed && self.held.changed(address & !7) {
            self.fences.end();
        }
        Ok(())
    }

    /// An access that has passed the recorder's gate.
    fn touch(&mut self, access: Access, passed: Passed, shared: &mut Shared) -> Result<(), Wrong> {
        let (step, index) = (self.turns.step, passed.at);
        let place = Place { step, access: index };
        let address = self.addresses[usize::from(index)];
        let touch = Touch::new(passed.ticket, place, address, access);
        if !passed.is_sure {
            shared.unsure.push((self.number, touch));
        }
        if passed.ticket == 0 {
            shared.lines.own(self.number, place, address, access);
            return Ok(());
        }
        self.turns.ticket(passed.ticket)?;
        self.touched.push(touch);
        Ok(())
    }

    fn store(&mut self, access: Access, index: usize, after: &[u64], has_passed: bool, shared: &mut Shared) {
        let address = self.addresses[index];
        if !self.held.is_empty() && self.held.stored(address & !7) {
            self.fences.end();
        }
        if shared.several && !has_passed && access.value_words() > 0 {
            let new = part(address, access.size, after[0]);
            match shared.atomics.contains(address & !7) {
                true => self.turns.store(index, address, new),
                false => self.turns.store_elsewhere(index, address, new),
            }
        }
    }

    /// A load by which the program may wait. If somebody has waited for the word, each such load has its turn: it may as well
    /// come when there is nothing to wait for.
    fn seen(
        &mut self,
        access: Access,
        index: usize,
        after: &[u64],
        has_passed: bool,
        shared: &mut Shared,
    ) -> Result<(), Wrong> {
        let (address, ticket) = (self.addresses[index], after[1]);
        self.turns.ticket(ticket)?;
        if shared.several && !has_passed && self.lap == Lap::Kept {
            let found = part(address, access.size, after[0]);
            // Another thread has written what this one looks for now and then.
            if self.turns.is_news(address, found) {
                shared.awaited(address);
            }
            let is_awaited = shared.atomics.contains(address & !7);
            self.turns.load(index, address, found, is_awaited);
        }
        Ok(())
    }
}
