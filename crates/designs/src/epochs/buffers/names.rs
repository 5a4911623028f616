//! Gates and messages of persist buffers.

use super::EpochId;
use strandline_design::{Gate, Message};
use strandline_isa::CoreId;

/// A core hears that another core's epoch is durable.
pub const RESOLVED: u32 = 0;
/// A core's entries have waited for long enough for stores that coalesce with them.
pub const GATHERED: u32 = 1;
/// The first kind of message that is the design's.
pub const FREE_KIND: u32 = 2;

/// The low bits of a message that names an epoch are its core.
const CORE_BITS: u32 = 16;

/// The gates of a core.
pub struct Gates(pub CoreId);

impl Gates {
    /// Room in the core's buffer.
    pub fn room(&self) -> Gate {
        Gate(4 * u64::from(self.0 .0))
    }

    /// The core's fence.
    pub fn fence(&self) -> Gate {
        Gate(4 * u64::from(self.0 .0) + 1)
    }

    /// Room in the core's epoch table.
    pub fn epoch(&self) -> Gate {
        Gate(4 * u64::from(self.0 .0) + 2)
    }

    /// The core's entries up to this one are acknowledged.
    pub fn drained(&self, entry: u64) -> Gate {
        Gate(1 << 62 | u64::from(self.0 .0) << 40 | (entry & ((1 << 40) - 1)))
    }
}

/// A message that names an epoch.
pub fn naming(kind: u32, to: u32, epoch: EpochId) -> Message {
    Message {
        kind,
        to,
        body: epoch.number << CORE_BITS | u64::from(epoch.core.0),
    }
}

/// The epoch that a message names.
pub fn named(message: Message) -> EpochId {
    let core = CoreId(message.body as u16);
    let number = message.body >> CORE_BITS;
    EpochId { core, number }
}
