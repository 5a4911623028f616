//! Gates, messages and tags of persist buffers.

use crate::parts::epochs::EpochId;
use crate::parts::persist_buffer::Sent;
use strandline_design::Types;
use strandline_isa::CoreId;

/// The types of persist buffers.
#[derive(Clone, Copy, Debug)]
pub struct Own;

impl Types for Own {
    type Gate = Gate;
    type Message = Message;
    type Tag = Sent;
    type Note = EpochId;
}

/// A gate of a core's persist buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gate {
    /// A store waits for room in the buffer.
    Room(CoreId),
    /// A fence waits for its epochs to be durable.
    Fence(CoreId),
    /// A primitive or request waits for room in the epoch table.
    Epoch(CoreId),
    /// An eviction waits for the entries up to this one to be acknowledged.
    Drained(CoreId, u64),
}

/// A message to a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// An epoch, on which one of the core's depends, is durable.
    Resolved(CoreId, EpochId),
    /// The core's entries up to this one have waited long enough for stores that coalesce with
    /// them.
    Gathered(CoreId, u64),
}

/// The types of a design with persist buffers, and maybe gates, messages and tags of its own.
pub trait Wraps: Types<Gate: From<Gate>, Message: From<Message>, Note = EpochId> {}

impl<T> Wraps for T where T: Types<Gate: From<Gate>, Message: From<Message>, Note = EpochId> {}
