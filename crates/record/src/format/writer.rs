//! Writes a recording.

use super::encode::{Encoder, Execution};
use super::output::File;
use super::pages::Pages;
use super::seal::FileBlockKind;
use super::shapes::{Shape, Shapes};
use super::summary::{add, put_meta, Index};
use super::{Ending, FILE_VERSION, MAGIC, MAX_THREADS, PREFIX_BYTES};
use crate::code;
use crate::error::{RecordError, RECORD_AGAIN};
use crate::lines::Lines;
use crate::ranges::Ranges;
use crate::recording::{Block, Event, Module, Region};
use std::collections::HashSet;
use std::io::Write;
use strandline_capture::PAGE_BYTES;

/// Pages in a block of the file.
const PAGES: usize = 64;

/// Writes a recording sequentially.
///
/// Its memory holds the block definitions, a block of the file and predictions for each thread, and a bit for each
/// accessed page.
pub struct Writer<W: Write> {
    pub(super) file: File<W>,
    pub(super) shapes: Shapes,
    pub(super) blocks: Vec<Block>,
    /// Number of whole executions of each block.
    pub(super) counts: Vec<u64>,
    pub(super) threads: Vec<State>,
    pub(super) index: Index,
    pub(super) regions: Ranges,
    pub(super) touched: Pages,
    seen: HashSet<u64>,
    pages: Vec<(u64, [u8; PAGE_BYTES as usize])>,
    pub(super) raw: Vec<u8>,
    /// The first error in a call that cannot fail.
    failed: Option<RecordError>,
}

/// A thread.
pub(crate) struct State {
    encoder: Encoder,
    pub steps: u64,
    pub instructions: u64,
    pub fences: u64,
}

/// A call that no recording can represent: a mistake of the caller or of its input.
pub(super) fn misuse(what: impl Into<String>) -> RecordError {
    RecordError::new(what, RECORD_AGAIN)
}

impl<W: Write> Writer<W> {
    /// Begins a recording.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn new(out: W, program: &[String]) -> Result<Writer<W>, RecordError> {
        let mut file = File::new(out)?;
        file.write(&MAGIC)?;
        file.write(&FILE_VERSION.to_le_bytes())?;
        file.write(&[0; 4])?;
        debug_assert_eq!(file.offset, PREFIX_BYTES);
        let mut raw = Vec::new();
        put_meta(&mut raw, program);
        file.block(FileBlockKind::Meta, 0, 1, &raw)?;
        Ok(Writer {
            file,
            shapes: Shapes::default(),
            blocks: Vec::new(),
            counts: Vec::new(),
            threads: Vec::new(),
            index: Index::default(),
            regions: Ranges::default(),
            touched: Pages::new(),
            seen: HashSet::new(),
            pages: Vec::new(),
            raw,
            failed: None,
        })
    }

    /// Defines a block of code and returns its number; numbers count from 0. The next call that can fail returns an
    /// error in the definition.
    pub fn block(&mut self, block: Block) -> u32 {
        if let Err(wrong) = self.shapes.add(&block) {
            self.fail(misuse(format!(
                "{wrong} (block {}, at {:#x})",
                self.blocks.len(),
                block.pc
            )));
            // Keeps numbers consistent; nothing more is written.
            self.shapes.blocks.push(Shape::default());
        }
        self.blocks.push(block);
        self.counts.push(0);
        self.blocks.len() as u32 - 1
    }

    /// The places in the source of what was defined and mapped so far.
    #[must_use]
    pub fn lines(&self) -> Lines {
        Lines::of(&self.blocks, &self.index.modules)
    }

    /// A file was mapped as code.
    pub fn module(&mut self, module: Module) {
        self.index.modules.push(module);
    }

    /// Persistent memory was mapped. Adjacent or overlapping regions of the same file with the same offsets are merged.
    pub fn region(&mut self, region: Region) {
        match region.start.checked_add(region.bytes) {
            Some(end) if end < 1 << 63 => self.regions.add(region.start..end),
            _ => self.fail(misuse(format!(
                "the persistent memory at {:#x} has no end",
                region.start
            ))),
        }
        if !self.index.regions.contains(&region) {
            self.index.regions.push(region);
        }
    }

    /// The initial contents of a page of persistent memory. The first call for a page counts. The next call that can
    /// fail returns an error.
    pub fn page(&mut self, address: u64, bytes: &[u8; PAGE_BYTES as usize]) {
        if address % PAGE_BYTES != 0 || address >= 1 << 63 {
            self.fail(misuse(format!("{address:#x} is not the address of a page")));
        } else if self.seen.insert(address / PAGE_BYTES) && bytes.iter().any(|byte| *byte != 0) {
            self.pages.push((address, *bytes));
            if self.pages.len() == PAGES {
                let written = self.write_pages();
                written.unwrap_or_else(|error| self.fail(error));
            }
        }
    }

    /// Number of steps written for this thread, which is the number of its next step.
    #[must_use]
    pub fn steps(&self, thread: u32) -> u64 {
        self.threads.get(thread as usize).map_or(0, |state| state.steps)
    }

    /// Creates this thread and all lower ones, with or without steps.
    ///
    /// # Errors
    /// There are too many threads.
    pub fn thread(&mut self, thread: u32) -> Result<(), RecordError> {
        state(&mut self.threads, thread).map(|_| ())
    }

    /// A thread executed this many instructions of a block.
    ///
    /// `addresses` has an entry for each access (fewer only if the block was cut short). `values` has
    /// [`strandline_capture::Access::value_words`] words for each access in `addresses`. `present` has an entry for
    /// each of these accesses with a value: whether the value is present.
    ///
    /// # Errors
    /// The lengths do not match the block's definition, an address has its highest bit set, or the recording cannot be
    /// written.
    #[inline]
    pub fn execute(
        &mut self,
        thread: u32,
        block: u32,
        instructions: u32,
        addresses: &[u64],
        values: &[u64],
        present: &[bool],
    ) -> Result<(), RecordError> {
        let Some(shape) = self.shapes.blocks.get(block as usize).copied() else {
            return Err(misuse(format!("block {block} was never defined")));
        };
        let whole = instructions == shape.instructions && addresses.len() == shape.accesses as usize;
        let fits = whole && values.len() == shape.values as usize && present.len() == shape.valued as usize;
        if self.failed.is_some() || !fits {
            self.check_cut(&shape, block, instructions, addresses, values.len(), present.len())?;
        }
        let persistent = self.touch(&shape, addresses)?;
        let cut = (!whole).then_some(instructions);
        let execution = Execution {
            block,
            cut,
            addresses,
            values,
            present,
        };
        match whole {
            true => self.counts[block as usize] += 1,
            false => self.count_cut(block, instructions, addresses.len()),
        }
        self.index.totals.persistent_stores += persistent;
        let fences = match whole {
            true => shape.fences,
            false => self.fences_before(block, instructions),
        };
        let state = state(&mut self.threads, thread)?;
        state.instructions += u64::from(instructions);
        state.fences += u64::from(fences);
        state.steps += 1;
        state.encoder.execute(&self.shapes, execution);
        self.write_if_full(thread as usize)
    }

    /// An event of a thread other than code.
    ///
    /// # Errors
    /// The recording cannot be written.
    pub fn event(&mut self, thread: u32, event: Event) -> Result<(), RecordError> {
        self.failed.clone().map_or(Ok(()), Err)?;
        let state = state(&mut self.threads, thread)?;
        state.steps += 1;
        state.encoder.event(event);
        self.write_if_full(thread as usize)
    }

    /// Ends the recording and returns its output.
    ///
    /// # Errors
    /// The recording cannot be written, or `ending` does not match the steps.
    pub fn finish(mut self, ending: Ending) -> Result<W, RecordError> {
        self.failed.clone().map_or(Ok(()), Err)?;
        self.check(&ending)?;
        for thread in 0..self.threads.len() {
            self.write_steps(thread)?;
        }
        self.write_pages()?;
        self.write_code()?;
        self.write_lists(&ending)?;
        self.write_lines(&ending.lines)?;
        self.write_index(ending)?;
        self.file
            .out
            .flush()
            .map_err(|error| misuse(format!("the recording cannot be written: {error}")))?;
        Ok(self.file.out)
    }

    fn fail(&mut self, error: RecordError) {
        self.failed.get_or_insert(error);
    }

    /// Anything but a whole block with all its accesses is a cut block, or a mistake.
    #[cold]
    #[allow(clippy::too_many_arguments, reason = "those of execute")]
    fn check_cut(
        &self,
        shape: &Shape,
        block: u32,
        instructions: u32,
        addresses: &[u64],
        values: usize,
        present: usize,
    ) -> Result<(), RecordError> {
        self.failed.clone().map_or(Ok(()), Err)?;
        let short = addresses.len() <= shape.accesses as usize && instructions <= shape.instructions;
        if !short || instructions == shape.instructions && addresses.len() < shape.accesses as usize {
            return Err(misuse(format!(
                "block {block} was executed with {} addresses",
                addresses.len()
            )));
        }
        let words = self
            .shapes
            .words(shape, addresses.len())
            .iter()
            .map(|words| usize::from(*words));
        let valued = words.clone().filter(|words| *words > 0).count();
        match values == words.sum::<usize>() && present == valued {
            true => Ok(()),
            false => Err(misuse(format!(
                "block {block} was executed with {values} words of values"
            ))),
        }
    }

    /// Records the accessed pages; returns the number of stores to persistent memory.
    #[inline]
    fn touch(&mut self, shape: &Shape, addresses: &[u64]) -> Result<u64, RecordError> {
        let first = shape.slot as usize;
        let extents = &self.shapes.extents[first..first + addresses.len()];
        let mut persistent = 0;
        for (address, (bytes, writes)) in addresses.iter().zip(extents) {
            if address >> 63 != 0 {
                return Err(misuse(format!("{address:#x} is not an address of a program")));
            }
            self.touched.touch(*address, *bytes);
            persistent += u64::from(*writes && self.regions.contains(*address));
        }
        Ok(persistent)
    }

    #[cold]
    fn count_cut(&mut self, block: u32, instructions: u32, accesses: usize) {
        let totals = code::totals(&self.blocks[block as usize], instructions, accesses);
        add(&mut self.index.totals, &totals, 1);
    }

    #[cold]
    fn fences_before(&self, block: u32, instructions: u32) -> u32 {
        let fences = &self.blocks[block as usize].fences;
        fences.iter().filter(|fence| u32::from(**fence) < instructions).count() as u32
    }

    fn write_if_full(&mut self, thread: usize) -> Result<(), RecordError> {
        match self.threads[thread].encoder.full() {
            true => self.write_steps(thread),
            false => Ok(()),
        }
    }

    fn write_steps(&mut self, thread: usize) -> Result<(), RecordError> {
        let encoder = &mut self.threads[thread].encoder;
        if encoder.steps() == 0 {
            return Ok(());
        }
        let steps = encoder.take(&mut self.raw);
        self.file.block(FileBlockKind::Steps, thread, steps, &self.raw)
    }

    fn write_pages(&mut self) -> Result<(), RecordError> {
        if self.pages.is_empty() {
            return Ok(());
        }
        self.raw.clear();
        for (address, _) in &self.pages {
            self.raw.extend_from_slice(&address.to_le_bytes());
        }
        for (_, bytes) in &self.pages {
            self.raw.extend_from_slice(bytes);
        }
        let pages = self.pages.len();
        self.pages.clear();
        self.file.block(FileBlockKind::Pages, 0, pages, &self.raw)
    }
}

/// The state of a thread, created on first use.
#[inline]
fn state(threads: &mut Vec<State>, thread: u32) -> Result<&mut State, RecordError> {
    if thread as usize >= threads.len() {
        if thread >= MAX_THREADS {
            return Err(misuse(format!("there are more than {MAX_THREADS} threads")));
        }
        let new = || State {
            encoder: Encoder::new(),
            steps: 0,
            instructions: 0,
            fences: 0,
        };
        threads.resize_with(thread as usize + 1, new);
    }
    Ok(&mut threads[thread as usize])
}
