//! The types of LB++.

use strandline_design::{LineTag, Never, Types};
use strandline_isa::CoreId;

/// The types of LB++.
#[derive(Clone, Copy, Debug)]
pub struct Own;

/// An epoch of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EpochId {
    /// The core.
    pub core: CoreId,
    /// Its number on that core. Hardware has a few numbers, which it uses again.
    pub number: u64,
}

/// A gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gate {
    /// A store, request, eviction or `ofence` waits for epochs of this core to be durable.
    Durable(CoreId),
    /// A fence of this core waits for its epochs.
    Fence(CoreId),
}

/// A message between cores and the banks of the LLC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// All banks flush the lines of an epoch.
    Flush(EpochId),
    /// All banks have flushed them.
    Flushed(EpochId),
    /// A core learns that an epoch on which its own depend is durable.
    Resolved(CoreId, EpochId),
}

impl Types for Own {
    type Gate = Gate;
    type Message = Message;
    type Tag = EpochId;
    type Note = Never;
}

/// Bits of a tag for the epoch's number.
const NUMBER_BITS: u32 = 48;

impl EpochId {
    /// The tag of the lines that the epoch has written.
    pub fn tag(self) -> LineTag {
        LineTag(u64::from(self.core.0) << NUMBER_BITS | self.number)
    }

    /// The epoch of a tag.
    pub fn of(tag: LineTag) -> EpochId {
        EpochId {
            core: CoreId((tag.0 >> NUMBER_BITS) as u16),
            number: tag.0 & ((1 << NUMBER_BITS) - 1),
        }
    }
}
