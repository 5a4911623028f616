//! Gates, messages and tags of speculative persistence.

use crate::parts::pcommits::CommitId;
use strandline_design::{Never, Types};
use strandline_isa::CoreId;

/// What waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gate {
    /// The epoch of this number has committed: what came before it is done.
    Certain(CoreId, u64),
    /// A checkpoint is free for the epoch of this number.
    Granted(CoreId, u64),
    /// An epoch of the core has committed, or an entry has left its buffer.
    Progress(CoreId),
}

/// Messages of a core to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// All that came before the epoch of this number is done.
    Drained(CoreId, u64),
    /// The port of the cache is free again.
    Port(CoreId),
}

/// What a reply answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// A flush of this context that has left the buffer.
    Flush(u8),
    /// A `clflush` of this context that has left the buffer, which waits for it.
    Clflush(u8),
    /// One controller's part of a `pcommit`.
    Pcommit(CommitId),
}

/// The types of speculative persistence.
#[derive(Clone, Copy, Debug)]
pub struct Own;

impl Types for Own {
    type Gate = Gate;
    type Message = Message;
    type Tag = Tag;
    type Note = Never;
}
