//! What is wrong between hosts.

use crate::order::PmPlace;
use crate::At;

/// Why a cache may still hold what a line was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kept {
    /// The reader has not invalidated the line since it began.
    Always,
    /// Its last invalidate came before the line was handed over.
    Early,
    /// Its flush invalidates, but no `mfence` orders the read behind it.
    Unordered,
    /// It wrote the line back (`clwb`), which need not invalidate.
    WrittenBack,
    /// It has read the word before, at another place, and not invalidated the line since.
    Again,
    /// The same, at the same place: a loop that never sees the store.
    Spins,
}

/// Kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A store that another host reads is never flushed by its own host.
    NeverFlushed,
    /// It is flushed, and no fence follows.
    NeverFenced,
    /// It is flushed before it is handed over, but fenced behind that.
    FencedLate,
    /// It is flushed behind the hand-over.
    FlushedLate,
    /// A read may be of what the line was before the store.
    Stale(Kept),
    /// Two hosts store to one word, and the line was not handed over in between.
    LostUpdate,
    /// They store to different words of the line.
    FalseSharing,
    /// Two hosts use locked instructions on one word.
    Locked,
}

impl Kind {
    /// Its key in a report, and why, where a key has several reasons.
    #[must_use]
    pub fn key(self) -> (&'static str, Option<&'static str>) {
        match self {
            Kind::NeverFlushed => ("lost_publication", Some("never_flushed")),
            Kind::NeverFenced => ("lost_publication", Some("never_fenced")),
            Kind::FencedLate => ("torn_hand_over", Some("fenced_late")),
            Kind::FlushedLate => ("torn_hand_over", Some("flushed_late")),
            Kind::Stale(kept) => ("stale_read", Some(kept.key())),
            Kind::LostUpdate => ("lost_update", None),
            Kind::FalseSharing => ("false_sharing", None),
            Kind::Locked => ("locked_across_hosts", None),
        }
    }
}

impl Kept {
    fn key(self) -> &'static str {
        match self {
            Kept::Always => "never_invalidated",
            Kept::Early => "invalidated_early",
            Kept::Unordered => "invalidate_not_ordered",
            Kept::WrittenBack => "written_back_only",
            Kept::Again => "read_before",
            Kept::Spins => "spins",
        }
    }
}

/// A fault by its instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// What is wrong.
    pub kind: Kind,
    /// The store, or the first locked instruction.
    pub store: At,
    /// The read, or what the other host does to the line.
    pub other: At,
}

/// What was seen of a fault the first time, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Executions of what the other host does.
    pub times: u64,
    /// The storing thread, and the other one.
    pub hosts: (u32, u32),
    /// The word.
    pub word: PmPlace,
    /// The flush that came too early or is not ordered, or the read since which the line is kept.
    pub since: Option<At>,
    /// The store to persistent memory by which the other host learnt of this one.
    pub flag: Option<At>,
    /// The first store of the other host behind its read, which stays if the storing host fails.
    pub acts: Option<At>,
}

impl Seen {
    /// Of two hosts, at a word; not counted yet.
    #[must_use]
    pub fn new(hosts: (u32, u32), word: PmPlace) -> Seen {
        Seen {
            times: 0,
            hosts,
            word,
            since: None,
            flag: None,
            acts: None,
        }
    }
}
