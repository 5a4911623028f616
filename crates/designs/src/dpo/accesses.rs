//! The lines that a core has read and written since a moment.

use crate::dpo::rules::Rule;
use crate::parts::bloom::{Bloom, LookUps};
use strandline_design::Access;
use strandline_isa::Line;
use strandline_rules::{broken, kept};

/// Bytes of a Bloom filter (DPO IV-D).
pub const FILTER_BYTES: u64 = 32;

/// The lines that a core has read and written since a moment, approximately.
#[derive(Clone, Debug)]
pub struct Accesses {
    /// Those read.
    pub read: Bloom,
    /// Those written.
    pub written: Bloom,
}

impl Default for Accesses {
    fn default() -> Self {
        Accesses {
            read: Bloom::new(FILTER_BYTES),
            written: Bloom::new(FILTER_BYTES),
        }
    }
}

impl Accesses {
    /// Forgets all lines.
    pub fn clear(&mut self) {
        self.read.clear();
        self.written.clear();
    }

    /// Whether the line is in a set.
    pub fn holds(&self, line: Line) -> bool {
        let mut counts = LookUps::default();
        self.written.look_up(line, &mut counts) || self.read.look_up(line, &mut counts)
    }

    /// Whether another core's access to the line conflicts with one of these.
    pub fn conflict(&self, line: Line, access: Access, counts: &mut LookUps) -> bool {
        // Broken: a filter forgets the lines of every other address.
        if broken(Rule::FiltersNeverForget) && line.0 % 2 == 1 {
            return false;
        }
        let written = self.written.look_up(line, counts);
        let reads = kept(Rule::ReadsConflict, access == Access::Own, || false);
        written || reads && self.read.look_up(line, counts)
    }
}
