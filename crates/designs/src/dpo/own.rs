//! The types of Delegated Persist Ordering.

use super::dependences::{Dependence, Id};
use strandline_design::{ControllerId, Types};
use strandline_isa::{CoreId, Line};

/// The types of Delegated Persist Ordering.
#[derive(Clone, Copy, Debug)]
pub struct Own;

/// A `dfence`: its core, and its number among those of the core.
pub type Dfence = (CoreId, u64);

/// A gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gate {
    /// A core's L1 is not blocked.
    Unblocked(CoreId),
    /// A core's fence is in its persist buffer.
    Entered(CoreId),
    /// What precedes a `dfence` is durable.
    Durable(Dfence),
    /// A persist of the line has drained.
    Drained(Line),
}

/// A message.
#[derive(Clone, Copy, Debug)]
pub enum Message {
    /// A core's fence has reached a controller.
    Fence(CoreId),
    /// Other cores learn that an entry, and all its core's older ones, have drained.
    Drained(Id),
    /// A core learns that what precedes its `dfence` is durable.
    Durable(Dfence),
    /// The other controllers learn that every epoch before this one is complete in a controller.
    Complete(ControllerId, u64),
    /// A persist has been held back long enough.
    Late(CoreId),
}

/// The annotation of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The dependences of the requester's next entry.
    pub dependences: Vec<Dependence>,
    /// The line is handed over: the persist that was its youngest.
    pub hands_over: Option<Id>,
}

impl Types for Own {
    type Gate = Gate;
    type Message = Message;
    type Tag = Id;
    type Note = Note;
}
