//! A design that implements every frequent hook, and answers as the plain machine.

use super::as_plain;
use strandline_design::{
    Acceptance, Admission, Claim, ControllerId, Departure, Design, Forward, Hook, Load, Never, Ordering, Plain,
    Services, Store, StoreId, Wants, Write, WriteRequest,
};
use strandline_isa::{CoreId, Primitive};
use strandline_kernel::Cycles;

/// Answers as the plain machine.
#[derive(Default)]
pub struct Attentive {
    /// It has each hook skipped when it is first called.
    pub skips: bool,
    pub wants: Wants,
}

type Hw<'a> = dyn Services<Plain> + 'a;

impl Attentive {
    fn asked(&self, hw: &mut Hw<'_>, hook: Hook) {
        if self.skips {
            hw.skip(hook);
        }
    }
}

impl Design for Attentive {
    type Own = Plain;

    as_plain!();

    fn wants(&self) -> Wants {
        self.wants
    }

    fn claim(&mut self, hw: &mut Hw<'_>, _: CoreId, _: Ordering) -> Claim<Never> {
        self.asked(hw, Hook::Claim);
        Claim::No
    }

    fn primitive(&mut self, hw: &mut Hw<'_>, _: CoreId, primitive: Primitive) -> Admission<Never> {
        self.asked(hw, Hook::Primitive);
        Admission::plain(primitive)
    }

    fn load(&mut self, hw: &mut Hw<'_>, _: CoreId, _: Load) -> Forward<Never> {
        self.asked(hw, Hook::Load);
        Forward::Caches { after: Cycles(0) }
    }

    fn keep(&mut self, hw: &mut Hw<'_>, _: CoreId, _: Write, _: StoreId) -> Departure<Never> {
        self.asked(hw, Hook::Keep);
        Departure::Go
    }

    fn store(&mut self, hw: &mut Hw<'_>, _: CoreId, _: Write) -> Departure<Never> {
        self.asked(hw, Hook::Store);
        Departure::Go
    }

    fn visible(&mut self, hw: &mut Hw<'_>, _: CoreId, _: Store) {
        self.asked(hw, Hook::Visible);
    }

    fn arrived(&mut self, hw: &mut Hw<'_>, _: ControllerId, _: &WriteRequest<Never>) -> Acceptance<Never> {
        self.asked(hw, Hook::Arrived);
        Acceptance::Queue
    }

    fn reached_media(&mut self, hw: &mut Hw<'_>, _: ControllerId, _: &WriteRequest<Never>) {
        self.asked(hw, Hook::ReachedMedia);
    }
}
