//! What a recording ends with.

use super::lines::put_lines;
use super::seal::FileBlockKind;
use super::summary::{add, put_block};
use super::sync::{merge, put_syncs};
use super::writer::{misuse, State};
use super::{Ending, Writer, END, MAX_RAW};
use crate::code;
use crate::error::RecordError;
use crate::lines::Lines;
use crate::recording::{Region, Thread};
use std::io::Write;

/// Bytes after which a block of definitions is full.
const CODE_BYTES: usize = 1 << 20;

/// Fences, or turns, links and waits, of a block of the file.
const LIST: usize = 1 << 16;

impl<W: Write> Writer<W> {
    pub(super) fn write_code(&mut self) -> Result<(), RecordError> {
        self.raw.clear();
        let mut items = 0;
        for block in &self.blocks {
            put_block(&mut self.raw, block);
            items += 1;
            if self.raw.len() >= CODE_BYTES {
                self.file.block(FileBlockKind::Code, 0, items, &self.raw)?;
                self.raw.clear();
                items = 0;
            }
        }
        match items {
            0 => Ok(()),
            _ => self.file.block(FileBlockKind::Code, 0, items, &self.raw),
        }
    }

    /// Every list of the ending matches the written steps.
    pub(super) fn check(&self, ending: &Ending) -> Result<(), RecordError> {
        let known = self.threads.len();
        let most = [
            ending.turns.len(),
            ending.links.len(),
            ending.waits.len(),
            ending.fences.len(),
        ];
        if most.iter().any(|threads| *threads > known) {
            return Err(misuse("the recording's end names a thread without steps"));
        }
        for (thread, state) in self.threads.iter().enumerate() {
            let fences = ending.fences.get(thread).map_or(0, Vec::len) as u64;
            if fences != 0 && fences != state.fences {
                return Err(misuse(format!(
                    "thread {thread} has {} fences and {fences} classes",
                    state.fences
                )));
            }
            let turns = ending.turns.get(thread).map_or(&[][..], |turns| turns);
            let links = ending.links.get(thread).map_or(&[][..], |links| links);
            let waits = ending.waits.get(thread).map_or(&[][..], |waits| waits);
            let late =
                turns.iter().any(|turn| turn.step >= state.steps) || links.iter().any(|link| link.step >= state.steps);
            let later = waits.iter().any(|wait| wait.step > state.steps);
            let sorted = turns.is_sorted_by(|a, b| (a.step, a.turn.access) < (b.step, b.turn.access));
            let linked = links.is_sorted_by_key(|at| (at.step, at.link.access));
            if late || later || !sorted || !linked || !waits.is_sorted_by_key(|wait| wait.step) {
                return Err(misuse(format!(
                    "the turns or waits of thread {thread} are out of order"
                )));
            }
        }
        Ok(())
    }

    pub(super) fn write_lists(&mut self, ending: &Ending) -> Result<(), RecordError> {
        for thread in 0..self.threads.len() {
            for classes in ending.fences.get(thread).map_or(&[][..], |fences| fences).chunks(LIST) {
                self.raw.clear();
                self.raw.extend(classes.iter().map(|class| *class as u8));
                self.file
                    .block(FileBlockKind::Fences, thread, classes.len(), &self.raw)?;
            }
            let turns = ending.turns.get(thread).map_or(&[][..], |turns| turns);
            let links = ending.links.get(thread).map_or(&[][..], |links| links);
            let waits = ending.waits.get(thread).map_or(&[][..], |waits| waits);
            for syncs in merge(turns, links, waits).chunks(LIST) {
                self.raw.clear();
                put_syncs(&mut self.raw, syncs);
                self.file.block(FileBlockKind::Sync, thread, syncs.len(), &self.raw)?;
            }
            self.threads[thread].steps += waits.len() as u64;
        }
        Ok(())
    }

    /// Writes the places in the source, if there are any and they fit.
    pub(super) fn write_lines(&mut self, lines: &Lines) -> Result<(), RecordError> {
        self.raw.clear();
        put_lines(&mut self.raw, lines);
        match lines.is_empty() || self.raw.len() > MAX_RAW {
            true => Ok(()),
            false => self.file.block(FileBlockKind::Lines, 0, lines.of.len(), &self.raw),
        }
    }

    pub(super) fn write_index(&mut self, ending: Ending) -> Result<(), RecordError> {
        let mut index = std::mem::take(&mut self.index);
        for (block, count) in self.blocks.iter().zip(&self.counts) {
            if *count > 0 {
                let totals = code::totals(block, block.instructions, block.accesses.len());
                add(&mut index.totals, &totals, *count);
            }
        }
        let thread = |state: &State| Thread {
            instructions: state.instructions,
            steps: state.steps,
        };
        index.status = ending.status;
        index.warnings = ending.warnings;
        index.threads = self.threads.iter().map(thread).collect();
        index.regions = merged(index.regions);
        index.volatile = self.touched.outside(&self.regions).into_vec();
        index.places = std::mem::take(&mut self.file.places);
        self.raw.clear();
        index.put(&mut self.raw);
        let place = self.file.offset;
        self.file.block(FileBlockKind::Index, 0, 1, &self.raw)?;
        self.file.write(&place.to_le_bytes())?;
        self.file.write(&END)
    }
}

/// Regions sorted by address; adjacent ones with contiguous file offsets are merged.
fn merged(mut regions: Vec<Region>) -> Vec<Region> {
    regions.sort_by(|a, b| (a.start, a.bytes, a.offset, &a.path).cmp(&(b.start, b.bytes, b.offset, &b.path)));
    let mut merged: Vec<Region> = Vec::new();
    for region in regions {
        let shift = |region: &Region| region.start.wrapping_sub(region.offset);
        let same = |other: &&mut Region| {
            other.path == region.path && shift(other) == shift(&region) && region.start <= other.start + other.bytes
        };
        match merged.iter_mut().rev().find(same) {
            Some(other) => other.bytes = other.bytes.max(region.start + region.bytes - other.start),
            None => merged.push(region),
        }
    }
    merged
}
