//! The parts of a block's code that affect persistence, in program order.

use super::op::{Fence, Flush};
use crate::code::{instructions, Sign};
use crate::stack::Frame;
use crate::{Access, AccessKind, Block, Edit, Edits, Marker};
use iced_x86::Instruction;

/// A part of a block that may affect persistence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// The index of its instruction.
    pub instruction: u16,
    /// The address of its instruction.
    pub pc: u64,
    /// What it is.
    pub kind: PointKind,
}

/// Kinds of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointKind {
    /// An access of this number, which writes or may have a turn; and the position of its bytes among the
    /// values.
    Access(u16, usize),
    /// A flush, by the access of this number.
    Flush(u16, Flush),
    /// A fence.
    Fence(Fence),
    /// A marker.
    Marker(Marker),
    /// A call, which stores its return address by the access of this number.
    Call(u16),
    /// A return, which loads its address by the access of this number.
    Return(u16),
}

/// The points of a block, with these changes. Loads are included only with `turns`: accesses may then have turns.
#[must_use]
pub fn points(block: &Block, turns: bool, edits: &Edits) -> Vec<Point> {
    let points = recorded(block, turns);
    match edits.code.is_empty() {
        true => points,
        false => points.into_iter().filter_map(|point| edited(point, edits)).collect(),
    }
}

/// A point with the changes of its instruction; `None` if that is left out.
fn edited(point: Point, edits: &Edits) -> Option<Point> {
    let kind = match (point.kind, edits.of(point.pc)) {
        (PointKind::Fence(_) | PointKind::Flush(..), Some(Edit::Drop)) => return None,
        (PointKind::Fence(Fence::Mfence), Some(Edit::Weaken)) => PointKind::Fence(Fence::Sfence),
        (PointKind::Flush(access, Flush::Clflush), Some(Edit::Weaken)) => PointKind::Flush(access, Flush::Clwb),
        (kind, _) => kind,
    };
    Some(Point { kind, ..point })
}

fn recorded(block: &Block, turns: bool) -> Vec<Point> {
    let mut points = Vec::new();
    let instructions = instructions(block);
    let pc = |index: u16| instructions.get(usize::from(index)).map_or(block.pc, Instruction::ip);
    for (index, instruction) in (0..=u16::MAX).zip(&instructions) {
        if let Some(kind) = speaks(instruction) {
            points.push(Point {
                instruction: index,
                pc: pc(index),
                kind,
            });
        }
        let frame = frame(instruction, index, &block.accesses);
        points.extend(frame.map(|kind| Point {
            instruction: index,
            pc: pc(index),
            kind,
        }));
    }
    let mut words = 0;
    for (index, access) in (0..=u16::MAX).zip(&block.accesses) {
        if turns || access.kind != AccessKind::Load {
            points.push(Point {
                instruction: access.instruction,
                pc: pc(access.instruction),
                kind: flush(access.kind)
                    .map_or(PointKind::Access(index, words), |flush| PointKind::Flush(index, flush)),
            });
        }
        words += access.value_words();
    }
    // An instruction is a fence, a marker, or has accesses, which stay in order, perhaps behind a call or return.
    points.sort_by_key(|point| point.instruction);
    points
}

fn flush(kind: AccessKind) -> Option<Flush> {
    match kind {
        AccessKind::Clwb => Some(Flush::Clwb),
        AccessKind::ClflushOpt => Some(Flush::ClflushOpt),
        AccessKind::Clflush => Some(Flush::Clflush),
        _ => None,
    }
}

/// What an instruction does to the stack of frames.
fn frame(instruction: &Instruction, index: u16, accesses: &[Access]) -> Option<PointKind> {
    let frame = Frame::of(instruction)?;
    let is_it = |access: &Access| access.instruction == index && access.kind == frame.access();
    let access = accesses.iter().position(is_it)? as u16;
    Some(match frame {
        Frame::Calls => PointKind::Call(access),
        Frame::Returns => PointKind::Return(access),
    })
}

fn speaks(instruction: &Instruction) -> Option<PointKind> {
    Some(match Sign::of(instruction)? {
        Sign::Sfence => PointKind::Fence(Fence::Sfence),
        Sign::Mfence => PointKind::Fence(Fence::Mfence),
        Sign::Marker(marker) => PointKind::Marker(marker),
    })
}
