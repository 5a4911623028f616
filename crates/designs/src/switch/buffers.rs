//! The entries of the buffers, one buffer a port.

use super::rules::Rule;
use std::collections::VecDeque;
use strandline_design::{ByteMask, Occupancy};
use strandline_isa::{CoreId, Line, LineData};
use strandline_kernel::Cycles;
use strandline_rules::{broken, keeps};

/// Bytes of a line that have been taken.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// In the order in which they were taken.
    pub id: u64,
    /// The core that has flushed it; the first for an eviction.
    pub core: CoreId,
    pub line: Line,
    /// The whole line, as a crash would leave it.
    pub data: LineData,
    /// The bytes of it that are taken.
    pub bytes: ByteMask,
    is_sent: bool,
    /// A read waits for it.
    pub is_wanted: bool,
}

impl Entry {
    /// One that has not been sent.
    pub fn new(id: u64, core: CoreId, line: Line, (data, bytes): (LineData, ByteMask)) -> Entry {
        Entry {
            id,
            core,
            line,
            data,
            bytes,
            is_sent: false,
            is_wanted: false,
        }
    }
}

/// The buffer of a port.
#[derive(Clone, Debug, Default)]
pub struct Buffer {
    /// Oldest first.
    entries: VecDeque<Entry>,
    occupancy: Occupancy,
}

/// The buffers of all ports.
#[derive(Clone, Debug, Default)]
pub struct Buffers(Vec<Buffer>);

impl Buffers {
    /// The buffer of a port.
    pub fn port(&mut self, port: usize) -> &mut Buffer {
        if self.0.len() <= port {
            self.0.resize_with(port + 1, Buffer::default);
        }
        &mut self.0[port]
    }

    pub fn ports(&self) -> usize {
        self.0.len()
    }

    /// All entries, in the order in which they were taken.
    pub fn in_order(&self) -> Vec<Entry> {
        let mut all: Vec<Entry> = self.0.iter().flat_map(|buffer| &buffer.entries).copied().collect();
        all.sort_unstable_by_key(|entry| entry.id);
        all
    }

    /// The newest entry of each line, in the order in which they were taken.
    pub fn newest(&self) -> Vec<Entry> {
        let all = self.in_order();
        let is_newest =
            |(place, entry): &(usize, &Entry)| all[place + 1..].iter().all(|later| later.line != entry.line);
        all.iter()
            .enumerate()
            .filter(is_newest)
            .map(|(_, entry)| *entry)
            .collect()
    }

    /// The entries of a line, in the order in which they were taken.
    pub fn of_line(&self, line: Line) -> Vec<Entry> {
        let of_line = |entry: &&Entry| entry.line == line;
        let buffers = self.0.iter().flat_map(|buffer| &buffer.entries);
        let mut found: Vec<Entry> = buffers.filter(of_line).copied().collect();
        found.sort_unstable_by_key(|entry| entry.id);
        found
    }

    /// Has the entries of a line sent before others.
    pub fn want(&mut self, line: Line) {
        let entries = self.0.iter_mut().flat_map(|buffer| &mut buffer.entries);
        entries
            .filter(|entry| entry.line == line)
            .for_each(|entry| entry.is_wanted = true);
    }

    /// Takes the entry of a line that has not been sent, from whichever port.
    pub fn take_unsent(&mut self, line: Line, now: Cycles) -> Option<Entry> {
        for buffer in &mut self.0 {
            let mut places = buffer.entries.iter();
            if let Some(place) = places.position(|entry| entry.line == line && !entry.is_sent) {
                let taken = buffer.entries.remove(place);
                buffer.note(now);
                return taken;
            }
        }
        None
    }

    /// Marks the next entry of a port as sent, if one is to be sent: the oldest whose line is not on its way, while more than
    /// `keep` wait or a read does.
    pub fn next(&mut self, port: usize, keep: usize) -> Option<Entry> {
        let on_way: Vec<Line> = match broken(Rule::LineLeavesInOrder) {
            true => Vec::new(),
            false => self
                .in_order()
                .iter()
                .filter(|entry| entry.is_sent)
                .map(|entry| entry.line)
                .collect(),
        };
        let may = |entry: &Entry| !entry.is_sent && !on_way.contains(&entry.line);
        let entries = &mut self.port(port).entries;
        let is_over = entries.iter().filter(|entry| !entry.is_sent).count() > keep;
        let wanted = entries.iter().position(|entry| may(entry) && entry.is_wanted);
        let oldest = match broken(Rule::LineLeavesInOrder) {
            true => entries.iter().rposition(may),
            false => entries.iter().position(may),
        };
        let place = wanted.or(oldest.filter(|_| is_over))?;
        entries[place].is_sent = true;
        Some(entries[place])
    }
}

impl Buffer {
    /// Entries in use.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn push(&mut self, entry: Entry, now: Cycles) {
        self.entries.push_back(entry);
        self.note(now);
    }

    /// Adds bytes to the entry of a line that has not been sent; whether there is one.
    pub fn coalesce(&mut self, line: Line, (data, bytes): (&LineData, ByteMask)) -> bool {
        let found = self
            .entries
            .iter_mut()
            .find(|entry| entry.line == line && !entry.is_sent);
        let Some(entry) = found else { return false };
        keeps(Rule::CoalescingTakesNewer, || entry.data = *data);
        keeps(Rule::CoalescingKeepsOlder, || entry.bytes.0 |= bytes.0);
        if broken(Rule::CoalescingKeepsOlder) {
            entry.bytes = bytes;
        }
        true
    }

    pub fn remove(&mut self, id: u64, now: Cycles) -> Option<Entry> {
        let place = self.entries.iter().position(|entry| entry.id == id)?;
        let removed = self.entries.remove(place);
        self.note(now);
        removed
    }

    fn note(&mut self, now: Cycles) {
        self.occupancy.set(now, self.entries.len());
    }
}

impl Buffers {
    /// Cycles spent with so many entries in use, of all ports.
    pub fn occupancy(&self, now: Cycles) -> Vec<u64> {
        Occupancy::sum(self.0.iter().map(|buffer| &buffer.occupancy), now)
    }
}
