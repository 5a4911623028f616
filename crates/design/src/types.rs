//! The types that are a design's own.

use std::fmt::Debug;

/// The types of a design's gates, messages, tags and notes.
///
/// The machine never looks into them: [`crate::boxed`] hands it keys and keeps the values.
pub trait Types: 'static {
    /// A condition that the design opens by [`crate::Services::open`].
    type Gate: Copy + Eq + Ord + Debug;
    /// A message or timer of its own ([`crate::Services::send`]).
    type Message: Clone + Debug;
    /// The tag of a write, flush or commit that it sends.
    type Tag: Clone + Debug;
    /// A note on a coherence reply ([`crate::Snoop::Grant`]).
    type Note: Clone + Debug;
}

/// The type of what a design does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Never {}

/// The types of a design that has no gates, messages, tags or notes.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

impl Types for Plain {
    type Gate = Never;
    type Message = Never;
    type Tag = Never;
    type Note = Never;
}

/// The types as the machine sees them, whatever the design: keys of values that [`crate::boxed`]
/// keeps.
#[derive(Clone, Copy, Debug)]
pub struct Keys;

/// A value of a design's own, as the machine sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub u64);

impl Types for Keys {
    type Gate = Key;
    type Message = Key;
    type Tag = Key;
    type Note = Key;
}
