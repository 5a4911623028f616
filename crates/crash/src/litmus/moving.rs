//! Threads that move to another core in the middle of their program (ASAP V-F).
//!
//! The operating system executes [`Intent::HandOver`] on the old core and the rest of the program on another one. It tells
//! the new core by what no program reads, so that nothing but the hand-over orders the two halves. (Under epoch
//! persistency any line that both cores use does.) The model sees one thread.

use super::layout::Layout;
use super::registers::COUNT;
use std::cell::Cell;
use std::rc::Rc;
use strandline_isa::{Addr, CoreId, Cpu, Intent, Primitive, Replay};
use strandline_kernel::Rng;
use strandline_machine::{Journal, OpId, Seen, SimCpu, TraceOp};
use strandline_order::litmus::Instruction;
use strandline_order::Test;

/// Where a thread goes on.
#[derive(Clone, Copy, Debug)]
pub struct Move {
    /// The number of instructions that it executes on its first core.
    pub after: usize,
    /// The second core.
    pub to: CoreId,
    /// A volatile word of the operating system's. Its write interrupts the second core.
    mailbox: Addr,
}

/// Which threads of a test move: two in three. Each moves to a core of its own.
pub fn moves(test: &Test, layout: &Layout, rng: &mut Rng) -> Vec<Option<Move>> {
    let mut free = (test.threads.len() as u16..).map(CoreId).zip(layout.spare_volatile());
    let mut of_thread = |instructions: &Vec<Instruction>| {
        let between = (instructions.len() as u64)
            .checked_sub(1)
            .filter(|between| *between > 0)?;
        if rng.one_in(3) {
            return None;
        }
        let (to, mailbox) = free.next()?;
        Some(Move {
            after: 1 + rng.below(between) as usize,
            to,
            mailbox,
        })
    };
    test.threads.iter().map(&mut of_thread).collect()
}

/// A thread's way from one core to another, with what it takes along.
#[derive(Clone)]
pub struct Journey {
    mailbox: Addr,
    /// The contexts that it has used, the current one last.
    contexts: Vec<u8>,
    registers: Rc<Cell<[u64; COUNT]>>,
}

impl Journey {
    /// That of a thread that has executed these instructions.
    pub fn behind<'i>(instructions: impl Iterator<Item = &'i Instruction>, moves: Move) -> Journey {
        let mut contexts = vec![0];
        for instruction in instructions {
            if let Instruction::SetContext(context) = *instruction {
                contexts.retain(|used| *used != context);
                contexts.push(context);
            }
        }
        Journey {
            mailbox: moves.mailbox,
            contexts,
            registers: Rc::default(),
        }
    }

    /// The thread leaves its core. A fence may wait for the writes of the current context alone, so there is one for each
    /// context.
    pub fn leaves(&self, cpu: &SimCpu<'_>, registers: [u64; COUNT]) {
        for context in &self.contexts {
            if self.contexts.len() > 1 {
                cpu.primitive(Primitive::Setctx(*context));
            }
            cpu.intent(Intent::HandOver);
        }
        self.registers.set(registers);
        cpu.count_next();
        cpu.word(self.mailbox.0).store(cpu.word(1));
    }

    /// The thread arrives at its new core, in the context in which it left: its registers.
    pub fn arrives(&self, cpu: &SimCpu<'_>) -> [u64; COUNT] {
        cpu.written(self.mailbox, 1);
        // The interrupt's handler: the wait itself is no instruction, and an output behind it would be told before it.
        _ = cpu.word(0) ^ cpu.word(1);
        if let [_, .., current] = self.contexts[..] {
            cpu.primitive(Primitive::Setctx(current));
        }
        self.registers.get()
    }
}

/// The run as its threads see it: what a thread did on its second core (`to`) follows what it did on its first (`from`).
#[must_use]
pub fn joined(mut journal: Journal, from: CoreId, to: CoreId) -> Journal {
    let programs = &mut journal.trace.programs;
    let (ops, notes) = (
        programs[from.index()].len() as u32,
        journal.notes[from.index()].len() as u32,
    );
    let later = std::mem::take(&mut programs[to.index()]);
    programs[from.index()].extend(later.into_iter().map(|op| behind(op, ops, notes)));
    let later = std::mem::take(&mut journal.notes[to.index()]);
    journal.notes[from.index()].extend(later);
    for op in journal.trace.visible.iter_mut().filter(|op| op.core == to) {
        *op = OpId {
            core: from,
            index: op.index + ops,
        };
    }
    journal
}

/// An operation behind so many others, and so many notes, of its thread.
fn behind(mut op: TraceOp, ops: u32, notes: u32) -> TraceOp {
    match &mut op {
        TraceOp::Load { from, .. } | TraceOp::Rmw { from, .. } => {
            if let Seen::Own(index) = from {
                *index += ops;
            }
        }
        TraceOp::Note(note) => *note += notes,
        TraceOp::Store { .. } | TraceOp::StoreNt { .. } | TraceOp::Flush { .. } | TraceOp::Primitive(_) => {}
    }
    op
}

#[cfg(test)]
#[path = "moving_tests.rs"]
mod tests;
