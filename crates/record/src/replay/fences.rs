//! How a replay reads the fences and flushes that other designs replace.
//!
//! Programs written before `clwb` order by `mfence` and flush by `clflush`. Both cost what no design can save: an `mfence`
//! stops younger loads, and a `clflush` is ordered with all stores. Read as `sfence` and `clwb`, they are what a design
//! replaces. That changes no order of persists that a fence makes.

use super::marks::Synced;
use crate::code::{signs, Sign};
use crate::micro::MicroKind;
use crate::order::Places;
use crate::{Block, Executed, RecordError, Recording, ThreadStep};
use strandline_capture::AccessKind;

/// What is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fences {
    /// As flushes where that is sound, else as recorded.
    #[default]
    Auto,
    /// As recorded.
    Recorded,
    /// `mfence` as `sfence`, and `clflush` as `clwb`.
    Flush,
}

impl Fences {
    /// All, in the order of [`Fences::WORDS`].
    pub const ALL: [Fences; 3] = [Fences::Auto, Fences::Recorded, Fences::Flush];

    /// Their names, as `recording.fences` takes them.
    pub const WORDS: &'static [&'static str] = &["auto", "recorded", "flush"];
}

/// How a recording is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// `mfence` is read as `sfence`.
    pub mfence: bool,
    /// `clflush` is read as `clwb`.
    pub clflush: bool,
    /// Why one of them is not.
    pub kept: Option<&'static str>,
}

const LOADED: &str = "a load of a synchronisation word follows an mfence";
const STORED: &str = "a store to persistent memory follows a clflush before any fence";
const UNFENCED: &str = "a thread ends with a clflush that no fence follows";

impl Reading {
    const RECORDED: Reading = Reading {
        mfence: false,
        clflush: false,
        kept: None,
    };

    /// How this recording is read.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn of(fences: Fences, recording: &Recording, synced: &Synced) -> Result<Reading, RecordError> {
        let totals = recording.totals();
        let all = Reading {
            mfence: totals.mfences > 0,
            clflush: totals.clflushes > 0,
            kept: None,
        };
        match fences {
            Fences::Recorded => Ok(Reading::RECORDED),
            Fences::Flush => Ok(all),
            Fences::Auto if all == Reading::RECORDED => Ok(all),
            Fences::Auto => sound(all, recording, synced),
        }
    }

    /// The kinds of micro-ops that are read as weaker ones.
    pub(super) fn weakened(self) -> Vec<MicroKind> {
        let kinds = [
            self.mfence.then_some(MicroKind::Mfence),
            self.clflush.then_some(MicroKind::Clflush),
        ];
        kinds.into_iter().flatten().collect()
    }

    /// In words, for records: what is read otherwise.
    #[must_use]
    pub fn text(self) -> String {
        let parts = [
            self.mfence.then(|| "mfence as sfence".to_owned()),
            self.clflush.then(|| "clflush as clwb".to_owned()),
            self.kept.map(|why| format!("else as recorded: {why}")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        match parts.is_empty() {
            true => "as recorded".to_owned(),
            false => parts.join(", "),
        }
    }
}

/// An event of a block's code.
#[derive(Clone, Copy)]
enum What {
    Fence { loads: bool },
    Access(usize),
}

/// What a thread has pending.
#[derive(Default)]
struct Pending {
    /// A `clflush`, and no fence since.
    clflush: bool,
    /// An `mfence`, and no other fence since.
    mfence: bool,
}

/// Drops from `reading` what a thread of the recording contradicts.
fn sound(mut reading: Reading, recording: &Recording, synced: &Synced) -> Result<Reading, RecordError> {
    let places = Places::of(recording.regions());
    let blocks: Vec<Vec<What>> = recording.blocks().iter().map(events).collect();
    let starts: Vec<bool> = recording
        .blocks()
        .iter()
        .zip(&blocks)
        .map(|(block, events)| begins(block, events))
        .collect();
    for thread in 0..recording.threads().len() {
        let (mut stream, mut pending) = (recording.stream(thread)?, Pending::default());
        while let Some(step) = stream.next()? {
            let ThreadStep::Block(executed) = step else { continue };
            let number = executed.block as usize;
            if pending.clflush || pending.mfence || starts[number] {
                pending.block(
                    &recording.blocks()[number],
                    &blocks[number],
                    &executed,
                    &places,
                    synced,
                    &mut reading,
                );
            }
        }
        if pending.clflush {
            reading.keep_clflush(UNFENCED);
        }
        if !reading.mfence && !reading.clflush {
            break;
        }
    }
    Ok(reading)
}

impl Reading {
    fn keep_clflush(&mut self, why: &'static str) {
        if std::mem::take(&mut self.clflush) {
            self.kept = Some(why);
        }
    }

    fn keep_mfence(&mut self, why: &'static str) {
        if std::mem::take(&mut self.mfence) {
            self.kept = Some(why);
        }
    }
}

impl Pending {
    fn block(
        &mut self,
        block: &Block,
        events: &[What],
        executed: &Executed<'_>,
        places: &Places,
        synced: &Synced,
        reading: &mut Reading,
    ) {
        for event in events {
            let index = match *event {
                What::Fence { loads } => {
                    (self.clflush, self.mfence) = (false, loads);
                    continue;
                }
                What::Access(index) => index,
            };
            let Some(address) = executed.addresses.get(index) else {
                return;
            };
            let is_loaded = || self.mfence && synced.contains(*address);
            match block.accesses[index].kind {
                AccessKind::Clflush => self.clflush = true,
                AccessKind::Atomic => (self.clflush, self.mfence) = (false, false),
                AccessKind::Load if is_loaded() => reading.keep_mfence(LOADED),
                kind if kind.writes() => {
                    if kind == AccessKind::Update && is_loaded() {
                        reading.keep_mfence(LOADED);
                    }
                    if self.clflush && places.of_address(*address).is_some() {
                        reading.keep_clflush(STORED);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Whether something begins to be pending in a block.
fn begins(block: &Block, events: &[What]) -> bool {
    events.iter().any(|event| match event {
        What::Fence { loads } => *loads,
        What::Access(index) => block.accesses[*index].kind == AccessKind::Clflush,
    })
}

/// The fences and accesses of a block, in order.
fn events(block: &Block) -> Vec<What> {
    let fences = signs(block.pc, &block.code).into_iter().filter_map(|(index, sign)| {
        let loads = sign == Sign::Mfence;
        sign.fences().then_some((index, What::Fence { loads }))
    });
    let accesses = block.accesses.iter().enumerate();
    let accesses = accesses.map(|(index, access)| (access.instruction, What::Access(index)));
    let mut all: Vec<(u16, What)> = fences.chain(accesses).collect();
    all.sort_by_key(|(instruction, _)| *instruction);
    all.into_iter().map(|(_, what)| what).collect()
}
