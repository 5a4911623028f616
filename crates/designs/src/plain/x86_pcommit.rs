//! x86 with `pcommit`: synchronous ordering that waits for the media.
//!
//! What: `sfence; pcommit; sfence` at every ordering point (a *sync barrier*). A `pcommit`
//! completes when every write that the controllers have accepted, from any core, has reached the
//! media; each controller replies for itself.
//! Source: Delegated Persist Ordering (MICRO 2016), section II-A; Speculative Persistence (ISCA 2017), section 2.2.
//! Simplified: nothing. It runs with and without ADR; with ADR the wait is longer than recovery needs.

use crate::parts::pcommits::{CommitId, Pcommits, SYNC_BARRIER};
use strandline_design::{About, Departure, Design, Hosts, Needs, Never, Ordering, Services, Types};
use strandline_isa::{CoreId, Lowering, Primitive};

/// Synchronous ordering with `pcommit`.
#[derive(Clone, Debug, Default)]
pub struct X86Pcommit(Pcommits);

/// The types of x86 with `pcommit`.
#[derive(Clone, Copy, Debug)]
pub struct Own;

impl Types for Own {
    type Gate = Never;
    type Message = Never;
    type Tag = CommitId;
    type Note = Never;
}

impl Design for X86Pcommit {
    type Own = Own;

    fn about(&self) -> About {
        About {
            name: "x86-pcommit",
            paper: "Delegated Persist Ordering II-A",
            summary: "clwb, sfence and pcommit; durable at the media, with or without ADR",
            needs: Needs {
                hosts: Hosts::Any,
                ..Needs::default()
            },
            promises_recovery: true,
            model: "so",
            intents: Some("intents"),
            window: None,
        }
    }

    fn lowering(&self) -> Lowering {
        Lowering::clwb_and(SYNC_BARRIER)
    }

    fn departs(
        &mut self,
        hw: &mut dyn Services<Own>,
        core: CoreId,
        ordering: Ordering,
        context: u8,
    ) -> Departure<Never> {
        if ordering != Ordering::Primitive(Primitive::Pcommit) {
            return Departure::Go;
        }
        self.0.send(hw, core, context, |commit| commit);
        Departure::Keep
    }

    fn committed(&mut self, hw: &mut dyn Services<Own>, core: CoreId, tag: CommitId) {
        if let Some(context) = self.0.replied(tag, false) {
            hw.acknowledge(core, context);
        }
    }
}
