//! The replay of a recorded fence under a design.

use crate::FenceClass;
use strandline_isa::{Intent, Lowering, Primitive};

/// The replay policy of fences and flushes: the design's lowering.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    lowering: Lowering,
    exact: bool,
    sfences: bool,
}

/// The policy's name in records.
pub const NAME: &str = "fence-classes";

impl Policy {
    /// The policy under this lowering.
    #[must_use]
    pub fn of(lowering: &Lowering) -> Policy {
        let alone = [Primitive::Sfence];
        let intents = [lowering.log_before_update, lowering.commit, lowering.durable];
        Policy {
            lowering: *lowering,
            exact: intents.iter().all(|primitives| *primitives == alone),
            sfences: intents.iter().any(|primitives| primitives.contains(&Primitive::Sfence)),
        }
    }

    /// Whether fences are replayed as recorded, because the design's only fence is `sfence`.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// Whether flushes are replayed, each as recorded.
    #[must_use]
    pub fn flushes(&self) -> bool {
        self.lowering.flush.is_some()
    }

    /// The primitives of a fence of this class; an `sfence` among them is an `mfence` if an `mfence` was recorded.
    #[must_use]
    pub fn fence(&self, class: FenceClass, recorded: Primitive) -> &'static [Primitive] {
        let itself = match recorded {
            Primitive::Mfence => &[Primitive::Mfence],
            _ => const { &[Primitive::Sfence] },
        };
        match class {
            _ if self.exact => itself,
            FenceClass::Idle if recorded == Primitive::Mfence || self.sfences => itself,
            FenceClass::Idle => &[],
            FenceClass::Order => self.lowering.of(Intent::LogBeforeUpdate),
            FenceClass::Durable => self.lowering.of(Intent::Durable),
        }
    }
}
