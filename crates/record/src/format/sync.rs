//! Data at a recording's end on earlier steps: turns, waits and classes of fences.

use super::bytes::{put, unzigzag, zigzag, Bad, Cursor, Parsed};
use super::{TurnAt, WaitAt};
use crate::recording::{FenceClass, Turn};

/// A turn or a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sync {
    /// Before its step.
    Wait(WaitAt),
    /// Of its step.
    Turn(TurnAt),
}

impl Sync {
    /// Its step.
    pub fn step(&self) -> u64 {
        match self {
            Sync::Turn(turn) => turn.step,
            Sync::Wait(wait) => wait.step,
        }
    }
}

/// Turns and waits of a thread in the order of their steps, waits first.
pub(crate) fn merge(turns: &[TurnAt], waits: &[WaitAt]) -> Vec<Sync> {
    let waits = waits.iter().map(|wait| Sync::Wait(*wait));
    let mut all: Vec<Sync> = waits.chain(turns.iter().map(|turn| Sync::Turn(*turn))).collect();
    all.sort_by_key(Sync::step);
    all
}

/// Appends turns and waits, which are in order.
pub(crate) fn put_syncs(out: &mut Vec<u8>, syncs: &[Sync]) {
    let (mut step, mut before) = (0, 0);
    for sync in syncs {
        let ahead = sync.step() - step;
        step = sync.step();
        match sync {
            Sync::Turn(TurnAt { turn, .. }) => {
                put(out, ahead << 1);
                put(out, u64::from(turn.access));
                put(out, zigzag(i64::from(turn.before) - before));
                before = i64::from(turn.before);
            }
            Sync::Wait(wait) => {
                put(out, ahead << 1 | 1);
                put(out, u64::from(wait.number));
                put(out, u64::from(wait.times));
            }
        }
    }
}

/// Reads this many turns and waits, which are in order.
pub(crate) fn syncs(raw: &[u8], items: u32) -> Parsed<Vec<Sync>> {
    const LARGE: Bad = Bad("a turn is out of range");
    let mut cursor = Cursor::new(raw);
    let (mut step, mut before) = (0u64, 0i64);
    let mut syncs = Vec::new();
    for _ in 0..items {
        let ahead = cursor.number()?;
        step = step.checked_add(ahead >> 1).ok_or(LARGE)?;
        if ahead & 1 == 1 {
            let (number, times) = (cursor.small()?, cursor.small()?);
            syncs.push(Sync::Wait(WaitAt { step, number, times }));
            continue;
        }
        let access = cursor.small()?;
        before = before.checked_add(unzigzag(cursor.number()?)).ok_or(LARGE)?;
        let before = u32::try_from(before).map_err(|_| LARGE)?;
        let turn = Turn { access, before };
        syncs.push(Sync::Turn(TurnAt { step, turn }));
    }
    cursor.end()?;
    Ok(syncs)
}

/// Reads this many classes of fences, one byte each.
pub(crate) fn fences(raw: &[u8], items: u32) -> Parsed<Vec<FenceClass>> {
    if raw.len() != items as usize {
        return Err(Bad(
            "a block of fences has another number of fences than its header says",
        ));
    }
    let class = |byte: &u8| match byte {
        0 => Ok(FenceClass::Idle),
        1 => Ok(FenceClass::Order),
        2 => Ok(FenceClass::Durable),
        _ => Err(Bad("a fence is of an unknown class")),
    };
    raw.iter().map(class).collect()
}
