//! Our own stackless library, as it is compiled: `crates/runtime/examples/lean`, whose instructions `docs/coroutines.md` lists.
//!
//! A task is a chain of segments, each a function of the task's frame, which returns the address of
//! the next one. The scheduler keeps it in the frame and calls the next frame's. Values that live
//! across a yield are kept in the frame. Their number depends on the task; here they are those of
//! `pc`'s update, on which the library was counted.
//!
//! Simplified: an instruction that does several things is as many micro-ops (`ret` loads and jumps, a call through memory
//! loads, stores and jumps).

use super::super::task::Why;
use super::SwitchPlace;
use crate::BLOCK_BYTES;
use strandline_isa::{sites, Alu, Cpu, W};

sites! {
    CALL = 0x5ced_0011;
    CALL_FIRST = 0x5ced_0012;
    RET = 0x5ced_0013;
    YIELD_SAYS_DONE = 0x3ef5_9a91;
    NO_TASK_IS_LEFT = 0x073d_d720;
    END_SAYS_DONE = 0x97af_e78b;
}

/// Words of a frame: the address at which the task resumes, and its values.
const RESUME_POINT: u64 = 0;
const KEPT: u64 = 8;
/// The place of the scheduler's return address on the one stack.
const RETURN: u64 = 256;

/// Values that the task keeps at its first yield, and that a segment takes up again: `docs/coroutines.md`.
const SAVED: u64 = 6;
const RELOADED: u64 = 3;

/// The first segment.
const FIRST: u64 = 16;
/// The scheduler's code behind a call.
const LOOP: u64 = 17;

/// `ret`: to the scheduler.
fn ret<C: Cpu>(cpu: &C, place: SwitchPlace) {
    let back = cpu.word(place.scheduler.0 + RETURN).load();
    cpu.jump(back.tag(), LOOP, RET);
}

pub(super) fn leave<C: Cpu>(cpu: &C, place: SwitchPlace, code: u64) {
    let frame = cpu.word(place.task.0);
    if code == Why::Order.code() {
        for value in 0..SAVED {
            frame.at(KEPT + 8 * value).store(cpu.word(0));
        }
    }
    let next = cpu.word(code) + 0;
    ret(cpu, place);
    _ = next.is(0).branch(YIELD_SAYS_DONE);
    frame.at(RESUME_POINT).store(next);
}

pub(super) fn next<C: Cpu>(cpu: &C, place: SwitchPlace, slots: u64) -> W<'_, C> {
    let first = place.task.0 - place.slot * BLOCK_BYTES;
    // Searches from the last slot's frame on, or from the first's.
    let before = if place.slot == 0 { slots } else { place.slot } - 1;
    let frame = cpu.word(first + before * BLOCK_BYTES) + BLOCK_BYTES;
    let wrapped = cpu.alu(Alu::Simple, frame.tag(), Default::default());
    let frame = W::new(cpu, place.task.0, cpu.alu(Alu::Simple, wrapped, frame.tag()));
    frame + 0
}

pub(super) fn resume<'c, C: Cpu>(cpu: &'c C, place: SwitchPlace, frame: W<'c, C>) {
    let code = frame.at(RESUME_POINT).load();
    cpu.word(place.scheduler.0 + RETURN).store(cpu.word(LOOP));
    cpu.jump(code.tag(), code.bits(), CALL);
    let values = if code.bits() == Why::Locked.code() {
        SAVED
    } else {
        RELOADED
    };
    for value in 0..values {
        frame.at(KEPT + 8 * value).load();
    }
}

pub(super) fn start<'c, C: Cpu>(cpu: &'c C, place: SwitchPlace, frame: W<'c, C>) {
    // Are tasks left? One less.
    let left = cpu.word(1);
    _ = left.is(0).branch(NO_TASK_IS_LEFT);
    let _ = left - 1;
    let _ = frame + 0;
    cpu.word(place.scheduler.0 + RETURN).store(cpu.word(LOOP));
    cpu.jump(Default::default(), FIRST, CALL_FIRST);
}

pub(super) fn end<C: Cpu>(cpu: &C, place: SwitchPlace) {
    let nothing = cpu.word(0) + 0;
    ret(cpu, place);
    _ = nothing.is(0).branch(END_SAYS_DONE);
}
