//! Ordering primitives of an ISA. To add one, add an entry here.

use std::fmt;

/// What a machine with only the fences of x86 executes for a primitive. It orders at least as much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plain {
    /// Nothing.
    Nothing,
    /// It passes through the store queue behind older stores, and has no other effect.
    Queued,
    /// An `sfence`.
    Sfence,
    /// An `mfence`.
    Mfence,
    /// An Arm `dmb`, where stores drain out of order; elsewhere it is as [`Plain::Queued`]. Younger loads and stores wait
    /// until it has left the store queue, behind older stores.
    Dmb,
}

/// The properties of a primitive.
struct About {
    /// The instruction, without its context.
    mnemonic: &'static str,
    /// The name of its events in litmus tests and models, if it has events.
    event: Option<&'static str>,
    /// What the plain machine does.
    plain: Plain,
    /// Whether it waits for flushes.
    waits: bool,
}

macro_rules! primitives {
    ($($(#[$doc:meta])* $name:ident $(($context:ty))? { $($about:tt)* })*) => {
        /// An instruction that orders or completes persists.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Primitive {
            $($(#[$doc])* $name $(($context))?,)*
        }

        impl Primitive {
            /// All primitives, with context 0 for those that name one.
            pub const ALL: &'static [Primitive] = &[$(Primitive::$name $((<$context>::MIN))?,)*];

            #[inline(always)]
            const fn about(self) -> &'static About {
                match self {
                    $(Primitive::$name { .. } => &About { $($about)* },)*
                }
            }
        }
    };
}

primitives! {
    /// x86 `sfence`: no younger store or flush enters the store queue until older stores are visible and older
    /// flushes and non-temporal stores are acknowledged.
    Sfence { mnemonic: "sfence", event: Some("SFENCE"), plain: Plain::Sfence, waits: true }

    /// x86 `mfence`: an `sfence` that also blocks younger loads.
    Mfence { mnemonic: "mfence", event: Some("MFENCE"), plain: Plain::Mfence, waits: true }

    /// x86 `pcommit` (withdrawn): completes when every write that the controllers have accepted has reached the media.
    Pcommit { mnemonic: "pcommit", event: Some("PCOMMIT"), plain: Plain::Queued, waits: false }

    /// Orders older stores before younger loads and stores of one core, on machines whose store queue drains out of order
    /// (ARMv7 `dmb`, which its locks execute before they release). It waits for no flush. It is free where stores drain
    /// in order.
    StoreBarrier { mnemonic: "store barrier", event: Some("DMB"), plain: Plain::Dmb, waits: false }

    /// `setctx`: later stores and flushes belong to this context, until the next `setctx` (COSPlay 4.1).
    Setctx(u8) { mnemonic: "setctx", event: None, plain: Plain::Nothing, waits: false }

    /// `cfence`: an [`Primitive::Sfence`] for the stores and flushes of this context only (COSPlay 4.1).
    Cfence(u8) { mnemonic: "cfence", event: Some("CFENCE"), plain: Plain::Sfence, waits: true }

    /// A persist barrier: earlier persists of its strand precede later persists of its strand (StrandWeaver III).
    PersistBarrier { mnemonic: "persist barrier", event: Some("PB"), plain: Plain::Sfence, waits: false }

    /// A new strand: only a [`Primitive::JoinStrand`] orders later persists after earlier ones (StrandWeaver III).
    NewStrand { mnemonic: "new strand", event: Some("NS"), plain: Plain::Nothing, waits: false }

    /// All earlier persists, of all strands of the thread, are durable before any later persist (StrandWeaver III).
    JoinStrand { mnemonic: "join strand", event: Some("JS"), plain: Plain::Sfence, waits: true }

    /// HOPS's `ofence`: earlier writes persist before later ones; the thread does not stall.
    Ofence { mnemonic: "ofence", event: Some("OFENCE"), plain: Plain::Sfence, waits: false }

    /// HOPS's `dfence`: completes when all earlier writes are durable.
    Dfence { mnemonic: "dfence", event: Some("DFENCE"), plain: Plain::Sfence, waits: true }

    /// An annotation: the next store or locked instruction of this core in program order is a release (ASAP V). It does
    /// not wait.
    Release { mnemonic: "release", event: None, plain: Plain::Nothing, waits: false }

    /// An annotation: the last load or locked instruction of this core in program order is an acquire (ASAP V). It does
    /// not wait.
    Acquire { mnemonic: "acquire", event: None, plain: Plain::Nothing, waits: false }
}

impl Primitive {
    /// This primitive for `context`, if it names a context. Lowerings are written for context 0.
    #[must_use]
    pub fn in_context(self, context: u8) -> Primitive {
        match self {
            Primitive::Setctx(_) => Primitive::Setctx(context),
            Primitive::Cfence(_) => Primitive::Cfence(context),
            other => other,
        }
    }

    /// Whether it names a context.
    #[must_use]
    pub fn takes_context(self) -> bool {
        self.in_context(0) != self.in_context(1)
    }

    /// The name of its events in litmus tests and models; `None` if it has no events.
    #[must_use]
    pub fn event(self) -> Option<&'static str> {
        self.about().event
    }

    /// What the plain machine executes for it.
    #[inline]
    #[must_use]
    pub fn plain(self) -> Plain {
        self.about().plain
    }

    /// Whether it orders persists by strands.
    #[must_use]
    pub fn is_of_strands(self) -> bool {
        matches!(
            self,
            Primitive::PersistBarrier | Primitive::NewStrand | Primitive::JoinStrand
        )
    }

    /// Whether it orders anything. A change of context or strand does not; an annotation only affects its access.
    #[inline]
    #[must_use]
    pub fn is_fence(self) -> bool {
        self.plain() != Plain::Nothing
    }

    /// Whether it waits for flushes, so that it pays to yield to another task first.
    #[inline]
    #[must_use]
    pub fn waits(self) -> bool {
        self.about().waits
    }
}

impl fmt::Display for Primitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.about().mnemonic)?;
        match self {
            Primitive::Setctx(context) | Primitive::Cfence(context) => write!(f, " {context}"),
            _ => Ok(()),
        }
    }
}
