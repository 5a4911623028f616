//! The kinds of answers that a design can give, as the table of the seam names them.

use strandline_design::{Acceptance, Admission, Claim, Departure, Eviction, Forward, Passing, Snoop, Supply, Until};

/// An answer to the machine.
pub trait Answer {
    /// Its kind.
    fn kind(&self) -> &'static str;
}

impl<G> Answer for Claim<G> {
    fn kind(&self) -> &'static str {
        match self {
            Claim::No => "no",
            Claim::Yes => "yes",
            Claim::Wait(_) => "wait",
        }
    }
}

impl<G> Answer for Admission<G> {
    fn kind(&self) -> &'static str {
        match self {
            Admission::Pass => "pass",
            Admission::Hold(_) => "hold",
            Admission::HoldLoads(_) => "hold loads",
            Admission::Enter => "enter",
            Admission::EnterHeld { .. } => "enter held",
            Admission::Claim { .. } => "claim",
        }
    }
}

impl<G> Answer for Departure<G> {
    fn kind(&self) -> &'static str {
        match self {
            Departure::Go => "go",
            Departure::Keep => "keep",
            Departure::Wait(_) => "wait",
        }
    }
}

impl<G> Answer for Forward<G> {
    fn kind(&self) -> &'static str {
        match self {
            Forward::Caches { .. } => "caches",
            Forward::Bytes { .. } => "bytes",
            Forward::Wait(_) => "wait",
        }
    }
}

impl<G, N> Answer for Snoop<G, N> {
    fn kind(&self) -> &'static str {
        match self {
            Snoop::Grant(None) => "grant",
            Snoop::Grant(Some(_)) => "grant with a note",
            Snoop::Wait(_) => "wait",
            Snoop::RollBack(_) => "roll back",
        }
    }
}

impl<G> Answer for Eviction<G> {
    fn kind(&self) -> &'static str {
        match self {
            Eviction::WriteBack => "write back",
            Eviction::Drop => "drop",
            Eviction::Hold(_) => "hold",
        }
    }
}

impl Answer for Passing {
    fn kind(&self) -> &'static str {
        match self {
            Passing::GoOn => "go on",
            Passing::Take => "take",
            Passing::Wait => "wait",
        }
    }
}

impl<G> Answer for Acceptance<G> {
    fn kind(&self) -> &'static str {
        match self {
            Acceptance::Queue => "queue",
            Acceptance::Wait(_) => "wait",
            Acceptance::Absorb => "absorb",
            Acceptance::Refuse => "refuse",
        }
    }
}

impl<G> Answer for Supply<G> {
    fn kind(&self) -> &'static str {
        match self {
            Supply::Memory => "memory",
            Supply::Durable => "durable bytes",
            Supply::Design(_) => "after its own time",
            Supply::Bytes(..) => "its own bytes",
            Supply::Stop(..) => "bytes on the way",
            Supply::Wait(_) => "wait",
        }
    }
}

impl<G> Answer for Option<Until<G>> {
    fn kind(&self) -> &'static str {
        match self {
            None => "nothing",
            Some(_) => "wait",
        }
    }
}

impl Answer for bool {
    fn kind(&self) -> &'static str {
        match self {
            true => "yes",
            false => "no",
        }
    }
}
