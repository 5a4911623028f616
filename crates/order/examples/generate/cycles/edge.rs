//! What orders two accesses of a thread, if anything.

use super::shape::Direction;

/// How an access is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// With `MOV` or `OUT`.
    Plain,
    /// With `MOVNTI`.
    NonTemporal,
    /// With a locked instruction.
    Locked,
    /// With `LDAR` or `STLR`.
    Synchronising,
}

/// How the second access needs the loaded value, other than by storing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Not at all.
    Nothing,
    /// For its address.
    Address,
    /// Through a branch before it.
    Branch,
}

/// An edge: the instructions between two accesses.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// Its part of a test's name.
    pub name: &'static str,
    /// The permitted kinds of its accesses, each `W`, `R`, `O` (output) or `_` (any), or a store `N` (non-temporal),
    /// `L` (locked), `S` (release), a load `A` (acquire).
    pub ends: (char, char),
    /// The instructions, separated by `;`. `a` and `b` are the locations of the two accesses, `n` is a neighbour of `a`
    /// in its line.
    pub between: &'static str,
    /// Instructions before the first access.
    pub before: &'static str,
    /// Whether a store after a load stores the loaded value.
    pub data: bool,
    /// What else the second access needs the loaded value for.
    pub needs: Needs,
}

impl Edge {
    /// Between any two accesses.
    pub const fn any(name: &'static str, between: &'static str) -> Edge {
        Edge::of(name, ('_', '_'), between)
    }

    /// After a store.
    pub const fn after_store(name: &'static str, between: &'static str) -> Edge {
        Edge::of(name, ('W', '_'), between)
    }

    /// Between accesses of these kinds and forms.
    pub const fn of(name: &'static str, ends: (char, char), between: &'static str) -> Edge {
        Edge {
            name,
            ends,
            between,
            before: "",
            data: true,
            needs: Needs::Nothing,
        }
    }

    /// This edge with additional instructions before the first access.
    pub const fn before(self, before: &'static str) -> Edge {
        Edge { before, ..self }
    }

    /// This edge without a dependence through a register.
    pub const fn independent(self) -> Edge {
        Edge { data: false, ..self }
    }

    /// From a load, with no other dependence than this one.
    pub const fn through(name: &'static str, last: char, needs: Needs) -> Edge {
        let edge = Edge::of(name, ('R', last), "").independent();
        Edge { needs, ..edge }
    }

    /// Whether it is permitted between accesses of these kinds.
    pub fn fits(&self, first: Direction, last: Direction) -> bool {
        takes(self.ends.0, first) && takes(self.ends.1, last)
    }

    /// The forms of its two accesses.
    pub fn forms(&self) -> (Form, Form) {
        (form(self.ends.0), form(self.ends.1))
    }

    /// Whether it is only program order.
    pub fn is_bare(&self) -> bool {
        self.needs == Needs::Nothing
            && self.between.is_empty()
            && self.before.is_empty()
            && self.forms() == (Form::Plain, Form::Plain)
    }
}

fn takes(end: char, direction: Direction) -> bool {
    match end {
        '_' => true,
        'R' | 'A' => direction == Direction::Load,
        'O' => direction == Direction::Output,
        _ => direction == Direction::Store,
    }
}

fn form(end: char) -> Form {
    match end {
        'N' => Form::NonTemporal,
        'L' => Form::Locked,
        'S' | 'A' => Form::Synchronising,
        _ => Form::Plain,
    }
}
