//! `pcommit`s in flight: each waits for the replies of all controllers.
//!
//! Source: Speculative Persistence (ISCA 2017), section 2.2: "each memory controller sends an acknowledgement back to the
//! core that executed the pcommit".

use std::collections::VecDeque;
use strandline_design::{ControllerId, Services, Types};
use strandline_isa::{CoreId, Primitive};

/// A `pcommit` of some core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommitId(u64);

/// What orders persists on machines whose controllers are not durable: a *sync barrier*.
pub const SYNC_BARRIER: &[Primitive] = &[Primitive::Sfence, Primitive::Pcommit, Primitive::Sfence];

/// Those of all cores.
#[derive(Clone, Debug, Default)]
pub struct Pcommits {
    /// Oldest first.
    waiting: VecDeque<Waiting>,
    next: CommitId,
}

/// A `pcommit` that waits for replies.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    commit: CommitId,
    /// The context to acknowledge.
    context: u8,
    /// Controllers without a reply.
    left: usize,
}

impl Pcommits {
    /// Sends a `pcommit` of this context to all controllers; `tag` makes the tag of its replies.
    pub fn send<T: Types>(
        &mut self,
        hw: &mut dyn Services<T>,
        core: CoreId,
        context: u8,
        tag: impl Fn(CommitId) -> T::Tag,
    ) {
        self.next.0 += 1;
        self.waiting.push_back(Waiting {
            commit: self.next,
            context,
            left: hw.controllers(),
        });
        for controller in 0..hw.controllers() {
            hw.commit(core, ControllerId(controller as u16), tag(self.next));
        }
    }

    /// A controller has replied. Returns the context to acknowledge if it was the last one, or if the
    /// design waits for `one` alone.
    pub fn replied(&mut self, commit: CommitId, one: bool) -> Option<u8> {
        let index = self.waiting.iter().position(|waiting| waiting.commit == commit)?;
        let waiting = &mut self.waiting[index];
        waiting.left -= 1;
        if waiting.left > 0 && !one {
            return None;
        }
        self.waiting.remove(index).map(|done| done.context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pcommit_is_done_when_its_last_controller_has_replied() {
        let mut commits = Pcommits::default();
        commits.waiting.push_back(Waiting {
            commit: CommitId(1),
            context: 7,
            left: 2,
        });
        let replies: Vec<Option<u8>> = (0..3).map(|_| commits.replied(CommitId(1), false)).collect();
        assert_eq!(replies, [None, Some(7), None]);
    }
}
