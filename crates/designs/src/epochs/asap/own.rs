//! Gates, messages and tags of ASAP.

use super::super::buffers;
use crate::parts::epochs::{EpochId, Frontier};
use crate::parts::persist_buffer::Sent;
use strandline_design::{ControllerId, Types};
use strandline_isa::{CoreId, Line};

/// The types of ASAP.
#[derive(Clone, Copy, Debug)]
pub struct Own;

impl Types for Own {
    type Gate = Gate;
    type Message = Message;
    type Tag = Tag;
    type Note = EpochId;
}

/// A gate of ASAP's buffers or controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gate {
    /// The buffers'.
    Buffers(buffers::Gate),
    /// The eviction of a line waits until the controller has accepted a refused write.
    Accepted(ControllerId),
}

/// Messages between cores and controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// The buffers'.
    Buffers(buffers::Message),
    /// To a controller: the epoch commits. All of its core's epochs in the frontier are proved.
    Commit(ControllerId, EpochId, Frontier),
    /// To a core: a controller has refused the write of this entry (NACK).
    Refused(CoreId, u64),
    /// Within a controller: the value for an undo record has been read.
    Read(ControllerId, Line),
}

/// The tag of an ASAP write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// The write of a buffer's entry, with the frontier that it carries if it is safe.
    Entry(Sent, Option<Frontier>),
    /// The value of a delay record of this epoch.
    Delayed(EpochId),
}

impl From<buffers::Gate> for Gate {
    fn from(gate: buffers::Gate) -> Gate {
        Gate::Buffers(gate)
    }
}

impl From<buffers::Message> for Message {
    fn from(message: buffers::Message) -> Message {
        Message::Buffers(message)
    }
}
