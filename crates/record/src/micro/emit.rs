//! Writing micro-ops down.

use super::op::{MicroKind, MicroOp};
use super::registers::Slot;
use strandline_isa::Alu;

/// The micro-ops of a block so far.
pub struct Emitter<'a> {
    ops: &'a mut Vec<MicroOp>,
}

impl<'a> Emitter<'a> {
    pub fn new(ops: &'a mut Vec<MicroOp>) -> Emitter<'a> {
        Emitter { ops }
    }

    /// Number of micro-ops of all blocks.
    pub fn count(&self) -> u32 {
        self.ops.len() as u32
    }

    /// An entry without dependences.
    pub fn entry(&mut self) {
        self.ops.push(MicroOp::new(MicroKind::Entry));
    }

    /// An entry whose target is ready when its source is.
    pub fn renamed(&mut self, source: Slot, targets: &[Slot]) {
        self.push(MicroOp::new(MicroKind::Entry), &[source], targets);
    }

    /// An op of this kind on any number of sources and targets, with helper ops for those beyond an op's limit.
    pub fn of(&mut self, kind: MicroKind, alu: Alu, sources: &[Slot], targets: &[Slot]) {
        let mut op = MicroOp::new(kind);
        op.alu = alu;
        self.push(op, sources, targets);
    }

    /// The given op, with these sources and targets.
    pub fn push(&mut self, mut op: MicroOp, sources: &[Slot], targets: &[Slot]) {
        op.sources = self.joined(sources);
        let direct = targets.len().min(3);
        op.targets[..direct].copy_from_slice(&targets[..direct]);
        self.ops.push(op);
        for more in targets[direct..].chunks(3) {
            self.push(MicroOp::new(MicroKind::Join), &targets[..1], more);
        }
    }

    /// Three sources that represent these.
    fn joined(&mut self, sources: &[Slot]) -> [Slot; 3] {
        let mut rest = sources.to_vec();
        while rest.len() > 3 {
            let mut join = MicroOp::new(MicroKind::Join);
            join.sources.copy_from_slice(&rest[..3]);
            join.targets[0] = Slot::JOINED;
            self.ops.push(join);
            rest.drain(..3);
            rest.insert(0, Slot::JOINED);
        }
        let mut three = [Slot::READY; 3];
        three[..rest.len()].copy_from_slice(&rest);
        three
    }
}
