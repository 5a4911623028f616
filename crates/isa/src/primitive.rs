//! What an ISA offers to order persists. A new primitive is an entry here.

use std::fmt;

/// What the plain machine, which has the fences of x86 and no more, executes for a primitive: something that orders no less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plain {
    /// Nothing.
    Nothing,
    /// Something that takes its turn in the store queue, behind older stores, and does no more.
    Queued,
    /// An `sfence`.
    Sfence,
    /// An `mfence`.
    Mfence,
}

/// What is to be known of a primitive.
struct About {
    /// The instruction, without its context.
    mnemonic: &'static str,
    /// The name of its events in litmus tests and models, if it is an event.
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
            /// All of them, for context 0 where they name one.
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

    /// x86 `mfence`: an `sfence` that younger loads wait for too.
    Mfence { mnemonic: "mfence", event: Some("MFENCE"), plain: Plain::Mfence, waits: true }

    /// x86 `pcommit` (withdrawn): done when every write that the controllers have accepted has reached the media.
    Pcommit { mnemonic: "pcommit", event: Some("PCOMMIT"), plain: Plain::Queued, waits: false }

    /// A barrier between older and younger stores of one core, for machines whose store queue drains out of order
    /// (Arm `dmb st`); it waits for no flush. Free where stores drain in order.
    StoreBarrier { mnemonic: "store barrier", event: Some("DMB"), plain: Plain::Queued, waits: false }

    /// `setctx`: stores and flushes from here on belong to this context, until the next one (COSPlay 4.1).
    Setctx(u8) { mnemonic: "setctx", event: None, plain: Plain::Nothing, waits: false }

    /// `cfence`: an [`Primitive::Sfence`] for the stores and flushes of this context alone (COSPlay 4.1).
    Cfence(u8) { mnemonic: "cfence", event: Some("CFENCE"), plain: Plain::Sfence, waits: true }

    /// A persist barrier: what its strand persisted before it persists before what its strand persists after it (StrandWeaver III).
    PersistBarrier { mnemonic: "persist barrier", event: Some("PB"), plain: Plain::Sfence, waits: false }

    /// A new strand begins: what follows is ordered after what came before by nothing but a [`Primitive::JoinStrand`]
    /// (StrandWeaver III).
    NewStrand { mnemonic: "new strand", event: Some("NS"), plain: Plain::Nothing, waits: false }

    /// Everything that all strands of the thread persisted is durable before anything that follows persists (StrandWeaver III).
    JoinStrand { mnemonic: "join strand", event: Some("JS"), plain: Plain::Sfence, waits: true }

    /// HOPS's `ofence`: what came before persists before what follows; the thread does not wait.
    Ofence { mnemonic: "ofence", event: Some("OFENCE"), plain: Plain::Sfence, waits: false }

    /// HOPS's `dfence`: what came before is durable when it is done.
    Dfence { mnemonic: "dfence", event: Some("DFENCE"), plain: Plain::Sfence, waits: true }

    /// An annotation: the next store or locked instruction of this core in program order releases (ASAP V). It waits for nothing.
    Release { mnemonic: "release", event: None, plain: Plain::Nothing, waits: false }

    /// An annotation: the last load or locked instruction of this core in program order acquires (ASAP V). It waits for nothing.
    Acquire { mnemonic: "acquire", event: None, plain: Plain::Nothing, waits: false }
}

impl Primitive {
    /// The same, where it names a context, for `context`: lowerings are written for context 0.
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

    /// The name of its events in litmus tests and models; `None` if it is no event.
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

    /// Whether it keeps anything in order: a change of context or strand does not, and what an annotation says is its access's.
    #[inline]
    #[must_use]
    pub fn is_fence(self) -> bool {
        self.plain() != Plain::Nothing
    }

    /// Whether it waits for flushes: worth letting another task go on first.
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
