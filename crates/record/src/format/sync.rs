//! Data at a recording's end on earlier steps: turns, links, waits and classes of fences.

use super::bytes::{put, unzigzag, zigzag, Bad, Cursor, Parsed};
use super::{LinkAt, TurnAt, WaitAt};
use crate::recording::{FenceClass, Link, LinkEvent, Turn};

/// A turn, a link or a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sync {
    /// Before its step.
    Wait(WaitAt),
    /// Of an access of its step.
    Turn(TurnAt),
    /// The same.
    Link(LinkAt),
}

/// The number of an access has its kind above these bits: a turn, a signal or a wait.
const ACCESS_BITS: u32 = 16;
const TURN: u32 = 0;
const SIGNAL: u32 = 1;
const WAIT: u32 = 2;

impl Sync {
    /// Its step.
    pub fn step(&self) -> u64 {
        self.place().0
    }

    /// Its place in its thread: the step, and the access if it is of one.
    pub fn place(&self) -> (u64, Option<u16>) {
        match self {
            Sync::Wait(at) => (at.step, None),
            Sync::Turn(at) => (at.step, Some(at.turn.access)),
            Sync::Link(at) => (at.step, Some(at.link.access)),
        }
    }
}

/// Turns, links and waits of a thread in their order.
pub(crate) fn merge(turns: &[TurnAt], links: &[LinkAt], waits: &[WaitAt]) -> Vec<Sync> {
    let waits = waits.iter().map(|wait| Sync::Wait(*wait));
    let turns = turns.iter().map(|turn| Sync::Turn(*turn));
    let links = links.iter().map(|link| Sync::Link(*link));
    let mut all: Vec<Sync> = waits.chain(turns).chain(links).collect();
    all.sort_by_key(Sync::place);
    all
}

/// Appends turns, links and waits, which are in order.
pub(crate) fn put_syncs(out: &mut Vec<u8>, syncs: &[Sync]) {
    let (mut step, mut before) = (0, 0);
    for sync in syncs {
        let ahead = sync.step() - step;
        step = sync.step();
        match sync {
            Sync::Turn(TurnAt { turn, .. }) => {
                put(out, ahead << 1);
                put(out, of_access(TURN, turn.access));
                put(out, zigzag(i64::from(turn.before) - before));
                before = i64::from(turn.before);
            }
            Sync::Link(LinkAt { link, .. }) => {
                put(out, ahead << 1);
                match link.event {
                    LinkEvent::Signal { number } => {
                        put(out, of_access(SIGNAL, link.access));
                        put(out, u64::from(number));
                    }
                    LinkEvent::Wait { number, times } => {
                        put(out, of_access(WAIT, link.access));
                        put(out, u64::from(number));
                        put(out, u64::from(times));
                    }
                }
            }
            Sync::Wait(wait) => {
                put(out, ahead << 1 | 1);
                put(out, u64::from(wait.number));
                put(out, u64::from(wait.times));
            }
        }
    }
}

fn of_access(kind: u32, access: u16) -> u64 {
    u64::from(kind << ACCESS_BITS | u32::from(access))
}

/// Reads this many turns, links and waits, which are in order.
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
        let which: u32 = cursor.small()?;
        let access = which as u16;
        let event = match which >> ACCESS_BITS {
            TURN => {
                before = before.checked_add(unzigzag(cursor.number()?)).ok_or(LARGE)?;
                let before = u32::try_from(before).map_err(|_| LARGE)?;
                let turn = Turn { access, before };
                syncs.push(Sync::Turn(TurnAt { step, turn }));
                continue;
            }
            SIGNAL => LinkEvent::Signal {
                number: cursor.small()?,
            },
            WAIT => LinkEvent::Wait {
                number: cursor.small()?,
                times: cursor.small()?,
            },
            _ => return Err(LARGE),
        };
        let link = Link { access, event };
        syncs.push(Sync::Link(LinkAt { step, link }));
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
