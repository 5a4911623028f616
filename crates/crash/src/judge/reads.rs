//! What recovery and the checks read of a crash image.

use serde::Serialize;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use strandline_isa::{Addr, Image};

/// A step after a crash, in the order of the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PostCrashStep {
    /// The program makes its failure-atomic regions complete or absent.
    Recovery,
    /// The words that regions write are judged.
    Regions,
    /// The program continues what was interrupted between two regions.
    Repair,
    /// The structure's invariant is checked.
    Invariant,
    /// The structure's contents are compared with the operations that had returned.
    Operations,
}

/// The first read of a word, and who else read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The word.
    pub addr: Addr,
    /// What it held.
    pub value: u64,
    /// Who read it first.
    pub by: PostCrashStep,
    /// All steps that read it.
    pub steps: BTreeSet<PostCrashStep>,
    /// Recovery had written it before.
    pub rewritten: bool,
}

/// An image that notes the first read of each word.
pub struct Watched<'i> {
    image: &'i dyn Image,
    step: Cell<PostCrashStep>,
    written: RefCell<BTreeSet<Addr>>,
    reads: RefCell<Vec<Read>>,
    /// The read of each word.
    places: RefCell<BTreeMap<Addr, usize>>,
}

impl<'i> Watched<'i> {
    /// Notes the reads of this image.
    pub fn new(image: &'i dyn Image) -> Watched<'i> {
        Watched {
            image,
            step: Cell::new(PostCrashStep::Recovery),
            written: RefCell::default(),
            reads: RefCell::default(),
            places: RefCell::default(),
        }
    }

    /// The next step begins.
    pub fn begins(&self, step: PostCrashStep) {
        self.step.set(step);
    }

    /// The first read of each word, in order.
    pub fn reads(self) -> Vec<Read> {
        self.reads.into_inner()
    }
}

impl Image for Watched<'_> {
    fn word(&self, addr: Addr) -> u64 {
        let value = self.image.word(addr);
        let mut reads = self.reads.borrow_mut();
        let place = *self.places.borrow_mut().entry(addr).or_insert(reads.len());
        if place == reads.len() {
            reads.push(Read {
                addr,
                value,
                by: self.step.get(),
                steps: BTreeSet::new(),
                rewritten: self.written.borrow().contains(&addr),
            });
        }
        reads[place].steps.insert(self.step.get());
        value
    }

    fn set_word(&self, addr: Addr, value: u64) {
        self.written.borrow_mut().insert(addr);
        self.image.set_word(addr, value);
    }

    fn was_dirty(&self) -> bool {
        self.image.was_dirty()
    }
}
