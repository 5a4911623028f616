//! The parts of a block's code that affect persistence, in program order.

use super::op::Fence;
use crate::code::Sign;
use crate::{AccessKind, Block, Marker};
use iced_x86::{Decoder, DecoderOptions, Instruction};

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
    /// An access of this number, which writes, flushes or may have a turn; and the position of its bytes among the
    /// values.
    Access(u16, usize),
    /// A fence.
    Fence(Fence),
    /// A marker.
    Marker(Marker),
}

/// The points of a block. Loads are included only with `turns`: accesses may then have turns.
#[must_use]
pub fn points(block: &Block, turns: bool) -> Vec<Point> {
    let mut points = Vec::new();
    let decoder = Decoder::with_ip(64, &block.code, block.pc, DecoderOptions::NONE);
    let instructions: Vec<Instruction> = decoder.into_iter().take(block.instructions as usize).collect();
    let pc = |index: u16| instructions.get(usize::from(index)).map_or(block.pc, Instruction::ip);
    for (index, instruction) in (0..=u16::MAX).zip(&instructions) {
        if let Some(kind) = speaks(instruction) {
            points.push(Point {
                instruction: index,
                pc: pc(index),
                kind,
            });
        }
    }
    let mut words = 0;
    for (index, access) in (0..=u16::MAX).zip(&block.accesses) {
        if turns || access.kind != AccessKind::Load {
            points.push(Point {
                instruction: access.instruction,
                pc: pc(access.instruction),
                kind: PointKind::Access(index, words),
            });
        }
        words += access.value_words();
    }
    // An instruction is a fence, a marker, or has accesses, which stay in order.
    points.sort_by_key(|point| point.instruction);
    points
}

fn speaks(instruction: &Instruction) -> Option<PointKind> {
    Some(match Sign::of(instruction)? {
        Sign::Sfence => PointKind::Fence(Fence::Sfence),
        Sign::Mfence => PointKind::Fence(Fence::Mfence),
        Sign::Marker(marker) => PointKind::Marker(marker),
    })
}
