//! Stores and flushes that are right in themselves, and probably meant otherwise.

use super::audit::{Finding, Spot, NT_STORE, STORE};
use super::line::Item;
use super::process::Process;
use crate::order::{Piece, PmOp, PmPlace, What, LINE};
use crate::At;
use std::collections::BTreeMap;

/// Maximum number of remembered flushes of volatile memory of a thread.
const MOST_ASTRAY: usize = 1 << 16;

/// What was found, and what may become a finding.
#[derive(Debug)]
pub struct Lints {
    /// By line: words that hold addresses of volatile memory, stored behind the line's last flush.
    addresses: BTreeMap<PmPlace, Vec<(PmPlace, At)>>,
    threads: Vec<Epoch>,
    /// The findings with counts.
    pub found: BTreeMap<Spot, u64>,
}

/// What a thread did since its last fence.
#[derive(Clone, Debug, Default)]
struct Epoch {
    /// The position of that fence in the global order.
    since: u64,
    stores: u64,
    /// The parts of the last store.
    parts: Vec<(PmOp, Piece)>,
    flushes: bool,
    /// All its flushes of volatile memory: the position of the fence before each, its own, and what it is.
    astray: Vec<(u64, u64, Spot)>,
}

impl Epoch {
    /// The only store, if it has at most eight bytes in two words, and is flushed.
    fn torn(&self) -> Option<At> {
        let bytes: u32 = self.parts.iter().map(|(_, piece)| piece.mask.count_ones()).sum();
        let (op, _) = self.parts.first()?;
        let written = self.flushes || matches!(op.what, What::StoreNt(_));
        (self.stores == 1 && self.parts.len() == 2 && bytes <= 8 && written).then_some(op.at)
    }

    fn store(&mut self, op: &PmOp, piece: Piece) {
        if !op.rest {
            self.stores += 1;
            self.flushes = false;
            self.parts.clear();
        }
        self.parts.push((*op, piece));
    }
}

impl Lints {
    /// Of a program with this number of threads.
    pub fn new(threads: usize) -> Lints {
        Lints {
            addresses: BTreeMap::new(),
            threads: vec![Epoch::default(); threads],
            found: BTreeMap::new(),
        }
    }

    /// Sees the operation that follows this position in the global order.
    pub fn see(&mut self, op: &PmOp, position: u64, process: Option<&Process>) {
        let epoch = &mut self.threads[op.thread as usize];
        match op.what {
            What::Store(piece) | What::StoreNt(piece) => {
                epoch.store(op, piece);
                self.hold(op, piece, process);
            }
            What::Flush(_, Some(line)) => {
                epoch.flushes = true;
                self.flushed(line..line + LINE);
            }
            What::Flush(kind, None) if epoch.astray.len() < MOST_ASTRAY => {
                let spot = Spot::new(Finding::FlushVolatile, op.at, kind.name());
                epoch.astray.push((epoch.since, position, spot));
            }
            What::Fence(_) => {
                let torn = epoch.torn();
                let astray = std::mem::take(&mut epoch.astray);
                *epoch = Epoch {
                    since: position,
                    astray,
                    ..Epoch::default()
                };
                torn.into_iter()
                    .for_each(|at| self.note(Spot::new(Finding::TornWord, at, STORE)));
            }
            What::Sync { start, bytes } => self.flushed(start & !(LINE - 1)..start.saturating_add(bytes)),
            _ => {}
        }
    }

    /// A word has another value.
    fn hold(&mut self, op: &PmOp, piece: Piece, process: Option<&Process>) {
        if let Some(words) = self.addresses.get_mut(&piece.line()) {
            words.retain(|(word, _)| *word != piece.word);
        }
        let is_whole = piece.mask == u8::MAX;
        match process.is_some_and(|process| is_whole && process.is_volatile(u64::from_le_bytes(piece.bytes))) {
            false => {}
            true if matches!(op.what, What::StoreNt(_)) => {
                self.note(Spot::new(Finding::AddressDurable, op.at, NT_STORE))
            }
            true => self
                .addresses
                .entry(piece.line())
                .or_default()
                .push((piece.word, op.at)),
        }
    }

    fn flushed(&mut self, places: std::ops::Range<PmPlace>) {
        let lines: Vec<PmPlace> = self.addresses.range(places).map(|(line, _)| *line).collect();
        for line in lines {
            for (_, at) in self.addresses.remove(&line).unwrap_or_default() {
                self.note(Spot::new(Finding::AddressDurable, at, STORE));
            }
        }
    }

    fn note(&mut self, spot: Spot) {
        *self.found.entry(spot).or_default() += 1;
    }

    /// The flush of volatile memory that came behind a store that is never flushed, before a fence: its thread's number
    /// of it, and what it is.
    pub fn astray(&self, item: &Item) -> Option<((u32, usize), Spot)> {
        let all = &self.threads[item.thread as usize].astray;
        let next = all.partition_point(|(_, at, _)| *at < item.serial);
        let (since, _, spot) = all.get(next)?;
        (*since < item.serial).then_some(((item.thread, next), *spot))
    }
}
