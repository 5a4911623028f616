//! The steps of a thread, with one block of the file in memory at a time.

use super::decode::{Decoder, Read};
use super::reader::Contents;
use super::seal::FileBlockKind;
use super::summary::FileBlockPlace;
use super::sync::{fences, syncs, Sync};
use crate::error::RecordError;
use crate::recording::{Event, Executed, FenceClass, Link, ThreadStep, Turn};
use std::sync::Arc;

/// The steps of a thread, from start to end.
#[derive(Debug)]
pub struct Stream {
    contents: Arc<Contents>,
    thread: u32,
    decoder: Decoder,
    /// Number of blocks of the file that were read.
    chunks: usize,
    /// The offset of the last of them.
    offset: u64,
    /// The number of the next step, without inserted waits.
    step: u64,
    /// All steps that were given.
    given: u64,
    instructions: u64,
    syncs: List<Sync>,
    fences: List<FenceClass>,
    turns: Vec<Turn>,
    links: Vec<Link>,
    classes: Vec<FenceClass>,
}

/// A list of the thread, read on demand.
#[derive(Debug)]
struct List<T> {
    kind: FileBlockKind,
    parse: fn(&[u8], u32) -> super::bytes::Parsed<Vec<T>>,
    chunks: usize,
    items: std::vec::IntoIter<T>,
    next: Option<T>,
}

impl<T: Copy> List<T> {
    fn new(kind: FileBlockKind, parse: fn(&[u8], u32) -> super::bytes::Parsed<Vec<T>>) -> List<T> {
        List {
            kind,
            parse,
            chunks: 0,
            items: Vec::new().into_iter(),
            next: None,
        }
    }

    /// Moves the next item of the list into `next`.
    fn advance(&mut self, contents: &Contents, thread: u32) -> Result<(), RecordError> {
        self.next = self.items.next();
        while self.next.is_none() {
            let Some(place) = contents.places(self.kind, thread).get(self.chunks) else {
                break;
            };
            self.chunks += 1;
            let mut raw = Vec::new();
            contents.placed(place, &mut raw)?;
            let items = contents.at(place.offset, (self.parse)(&raw, place.items))?;
            self.items = items.into_iter();
            self.next = self.items.next();
        }
        Ok(())
    }
}

impl Stream {
    pub(crate) fn new(contents: Arc<Contents>, thread: usize) -> Stream {
        let decoder = Decoder::new(&contents.shapes);
        Stream {
            contents,
            thread: thread as u32,
            decoder,
            chunks: 0,
            offset: 0,
            step: 0,
            given: 0,
            instructions: 0,
            syncs: List::new(FileBlockKind::Sync, syncs),
            fences: List::new(FileBlockKind::Fences, fences),
            turns: Vec::new(),
            links: Vec::new(),
            classes: Vec::new(),
        }
    }

    /// The next step; `None` after the last.
    ///
    /// # Errors
    /// The recording cannot be read or is damaged. Do not call it again after an error.
    #[allow(
        clippy::should_implement_trait,
        reason = "a step borrows from the stream, which no iterator's item can"
    )]
    pub fn next(&mut self) -> Result<Option<ThreadStep<'_>>, RecordError> {
        if self.given == 0 {
            self.begin()?;
        }
        self.given += 1;
        if let Some(Sync::Wait(wait)) = self.syncs.next.filter(|sync| sync.step() == self.step) {
            self.syncs.advance(&self.contents, self.thread)?;
            return Ok(Some(ThreadStep::Event(Event::Wait {
                number: wait.number,
                times: wait.times,
            })));
        }
        let read = loop {
            let read = self.decoder.next(&self.contents.shapes);
            match read {
                Ok(Some(read)) => break read,
                Ok(None) if self.load()? => {}
                Ok(None) => return self.end(),
                Err(bad) => {
                    return self
                        .contents
                        .at(self.offset, Err(bad))
                        .map_err(|error| self.named(error))
                }
            }
        };
        let step = self.step;
        self.step += 1;
        match read {
            Read::Event(event) => Ok(Some(ThreadStep::Event(event))),
            Read::Block { block, instructions } => self.executed(step, block, instructions).map(Some),
        }
    }

    #[inline]
    fn executed(&mut self, step: u64, block: u32, instructions: u32) -> Result<ThreadStep<'_>, RecordError> {
        self.instructions += u64::from(instructions);
        self.turns.clear();
        self.links.clear();
        if self.syncs.next.is_some_and(|sync| sync.step() <= step) {
            self.take_turns(step, block, instructions)?;
        }
        self.classes.clear();
        if self.contents.shapes.blocks[block as usize].fences > 0 {
            self.take_fences(block, instructions)?;
        }
        Ok(ThreadStep::Block(Executed {
            block,
            instructions,
            addresses: &self.decoder.addresses,
            values: &self.decoder.values,
            fences: &self.classes,
            turns: &self.turns,
            links: &self.links,
        }))
    }

    fn begin(&mut self) -> Result<(), RecordError> {
        self.syncs.advance(&self.contents, self.thread)?;
        self.fences.advance(&self.contents, self.thread)
    }

    /// Reads the next block of steps; `false` if there is none.
    fn load(&mut self) -> Result<bool, RecordError> {
        let Some(place) = self.contents.places(FileBlockKind::Steps, self.thread).get(self.chunks) else {
            return Ok(false);
        };
        let FileBlockPlace { offset, items, .. } = *place;
        self.contents.placed(place, self.decoder.raw())?;
        self.contents.at(offset, self.decoder.begin(items))?;
        self.chunks += 1;
        self.offset = offset;
        Ok(true)
    }

    fn damaged<T>(&self, what: &'static str) -> Result<T, RecordError> {
        let damaged = self
            .contents
            .at(self.contents.index_offset(), Err(super::bytes::Bad(what)));
        damaged.map_err(|error| self.named(error))
    }

    /// Adds thread and step to the error.
    fn named(&self, error: RecordError) -> RecordError {
        error.within(&format!("thread {}, step {}", self.thread, self.step))
    }

    fn take_turns(&mut self, step: u64, block: u32, instructions: u32) -> Result<(), RecordError> {
        let contents = Arc::clone(&self.contents);
        let executed = &contents.blocks()[block as usize].accesses[..self.decoder.addresses.len()];
        let executed = executed.partition_point(|access| u32::from(access.instruction) < instructions);
        while let Some(sync) = self.syncs.next.filter(|sync| sync.step() <= step) {
            let (at, Some(access)) = sync.place() else {
                return self.damaged("a wait comes after its step");
            };
            let turn = self.turns.last().map(|turn| turn.access);
            let link = self.links.last().map(|link| link.access);
            // An access has one turn, and perhaps several links behind it.
            let in_order = turn.is_none_or(|last| last < access || last == access && matches!(sync, Sync::Link(_)))
                && link.is_none_or(|last| last < access || last == access && matches!(sync, Sync::Link(_)));
            if at != step || !in_order || usize::from(access) >= executed {
                return self.damaged("a turn is of no access");
            }
            match sync {
                Sync::Turn(at) => self.turns.push(at.turn),
                Sync::Link(at) => self.links.push(at.link),
                Sync::Wait(_) => {}
            }
            self.syncs.advance(&self.contents, self.thread)?;
        }
        Ok(())
    }

    fn take_fences(&mut self, block: u32, instructions: u32) -> Result<(), RecordError> {
        let fences = &self.contents.blocks()[block as usize].fences;
        let executed = fences.iter().filter(|fence| u32::from(**fence) < instructions).count();
        let listed = !self.contents.places(FileBlockKind::Fences, self.thread).is_empty();
        for _ in 0..executed {
            let class = match self.fences.next {
                Some(class) => class,
                None if listed => return self.damaged("a thread has more fences than classes of fences"),
                None => FenceClass::Idle,
            };
            self.classes.push(class);
            self.fences.advance(&self.contents, self.thread)?;
        }
        Ok(())
    }

    /// At the end, nothing may remain, and the sums must match.
    fn end(&mut self) -> Result<Option<ThreadStep<'static>>, RecordError> {
        self.given -= 1;
        let sums = self
            .contents
            .thread(self.thread as usize)
            .is_some_and(|thread| thread.steps == self.given && thread.instructions == self.instructions);
        match sums && self.syncs.next.is_none() && self.fences.next.is_none() {
            true => Ok(None),
            false => self.damaged("a thread's steps differ from the index"),
        }
    }
}
