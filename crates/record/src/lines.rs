//! The places of a program's own instructions in its source, as a recording keeps them: so it names lines on other machines,
//! and after the program was built again.

use crate::order::points;
use crate::stack::Libraries;
use crate::{Block, Edits, Module, Site, Source};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of instructions with a place.
pub(crate) const MOST_LINES: usize = 1 << 18;

/// A place in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The function; empty if it has no name.
    pub symbol: String,
    /// The source file.
    pub file: String,
    /// The line in it, from 1.
    pub line: u32,
    /// What that line said; empty if the file was not there.
    pub text: String,
    /// The functions into which the function was inlined, as [`Site::inlined_in`].
    pub inlined_in: Vec<String>,
}

/// Places by the addresses of instructions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// Each place once.
    pub(crate) places: Vec<Place>,
    /// Instructions, each with the number of its place.
    pub(crate) of: BTreeMap<u64, usize>,
}

impl Lines {
    /// The instructions of the program's own that access memory, fence or call, as far as their file has lines.
    #[must_use]
    pub fn of(blocks: &[Block], modules: &[Module]) -> Lines {
        let libraries = Libraries::of(modules);
        let own = blocks.iter().filter(|block| libraries.is_own(block.pc));
        let points = own.flat_map(|block| points(block, true, &Edits::default()));
        let addresses: BTreeSet<u64> = points.map(|point| point.pc).take(MOST_LINES).collect();
        let mut source = Source::new(modules);
        let places = addresses
            .into_iter()
            .filter_map(|pc| Some((pc, Place::of(source.site(pc))?)));
        Lines::new(places)
    }

    /// From instructions and their places.
    pub(crate) fn new(found: impl Iterator<Item = (u64, Place)>) -> Lines {
        let (mut lines, mut numbers) = (Lines::default(), BTreeMap::new());
        for (pc, place) in found {
            let number = *numbers.entry(place).or_insert_with_key(|place| {
                lines.places.push(place.clone());
                lines.places.len() - 1
            });
            lines.of.insert(pc, number);
        }
        lines
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// The place of an instruction.
    #[must_use]
    pub fn place(&self, pc: u64) -> Option<&Place> {
        self.places.get(*self.of.get(&pc)?)
    }
}

impl Place {
    fn of(site: &Site) -> Option<Place> {
        Some(Place {
            symbol: site.symbol.clone().unwrap_or_default(),
            file: site.file.clone()?,
            line: site.line?,
            text: site.text.clone().unwrap_or_default(),
            inlined_in: site.inlined_in.clone(),
        })
    }

    /// Tells a site what is known.
    pub(crate) fn fill(&self, site: &mut Site) {
        let said = |text: &String| (!text.is_empty()).then(|| text.clone());
        site.symbol = said(&self.symbol);
        site.file = said(&self.file);
        site.line = Some(self.line);
        site.text = said(&self.text);
        site.inlined_in.clone_from(&self.inlined_in);
    }
}
