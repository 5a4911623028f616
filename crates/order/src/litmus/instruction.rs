//! The instructions of litmus tests.

use super::test::LocationId;
use std::fmt;
use strandline_isa::{Flush, Intent, Primitive};

/// A register of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Register(pub u8);

/// The registers' names.
pub const REGISTERS: [&str; 14] = [
    "EAX", "EBX", "ECX", "EDX", "ESI", "EDI", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15",
];

/// What is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operand {
    /// A number.
    Number(u8),
    /// What a register holds.
    Register(Register),
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Instruction {
    /// A load; whether it acquires.
    Load(Register, LocationId, bool),
    /// A store; whether it releases.
    Store(LocationId, Operand, bool),
    /// A non-temporal store.
    StoreNt(LocationId, Operand),
    /// A load through an index register, the last one: the address depends on it, and it holds 0.
    LoadAt(Register, LocationId, Register),
    /// A store through an index register: as for [`Instruction::LoadAt`].
    StoreAt(LocationId, Register, Operand),
    /// A constant in a register: no event.
    Set(Register, u8),
    /// A register exclusive-or itself: 0, which still depends on what the register held. No event.
    Clear(Register),
    /// A comparison of a register with a number: no event.
    Compare(Register, u8),
    /// A jump to the label of this number, which comes next, if the last comparison found a difference: no event. It
    /// leads to the same instructions either way, but what follows waits for it.
    Jump(u8),
    /// The label of this number: no event.
    Label(u8),
    /// A locked exchange of a location and a register.
    Exchange(LocationId, Register),
    /// A locked addition of a register, which receives the old value.
    Add(LocationId, Register),
    /// The outside world observes a value.
    Out(LocationId, Operand),
    /// A flush of a location's line.
    Flush(LocationId, FlushKind),
    /// A store of CXL0, of the class that says how far the value goes.
    StoreTo(LocationId, Operand, Class),
    /// A flush of CXL0, of the class that says what it waits for.
    FlushTo(LocationId, Class),
    /// The intent to flush a location's line, if the design flushes.
    Persist(LocationId),
    /// Selects a context for later instructions: no event.
    SetContext(u8),
    /// A fence for one context.
    ContextFence(u8),
    /// A fence, barrier or intent without a location.
    Fence(Class),
}

/// A flush instruction. This enum exists to define an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FlushKind {
    /// `clwb`.
    Clwb,
    /// `clflushopt`.
    ClflushOpt,
    /// `clflush`.
    Clflush,
}

impl From<FlushKind> for Flush {
    fn from(kind: FlushKind) -> Flush {
        match kind {
            FlushKind::Clwb => Flush::Clwb,
            FlushKind::ClflushOpt => Flush::ClflushOpt,
            FlushKind::Clflush => Flush::Clflush,
        }
    }
}

impl From<Flush> for FlushKind {
    fn from(kind: Flush) -> FlushKind {
        match kind {
            Flush::Clwb => FlushKind::Clwb,
            Flush::ClflushOpt => FlushKind::ClflushOpt,
            Flush::Clflush => FlushKind::Clflush,
        }
    }
}

/// The meaning of an instruction without operands: a machine instruction, or an intent that a design lowers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alone {
    /// A fence or a barrier.
    Primitive(Primitive),
    /// An intent.
    Intent(Intent),
}

const fn intent(intent: Intent) -> Option<Alone> {
    Some(Alone::Intent(intent))
}

macro_rules! classes {
    (
        accesses: $($access:ident $access_name:literal,)*;
        intents: $($intent:ident $intent_name:literal $alone:expr,)*;
    ) => {
        /// A set of events that models may name, defined by the instruction.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs)]
        pub enum Class {
            $($access,)*
            /// Events of a primitive in any context; the context here is 0.
            Primitive(Primitive),
            $($intent,)*
        }

        impl Class {
            /// All of them.
            pub fn all() -> impl Iterator<Item = Class> {
                let events = Primitive::ALL.iter().filter(|primitive| primitive.event().is_some());
                [$(Class::$access,)*]
                    .into_iter()
                    .chain(events.map(|primitive| Class::Primitive(*primitive)))
                    .chain([$(Class::$intent,)*])
            }

            /// The set's name, and the instruction's if it has no operand.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Class::$access => $access_name,)*
                    Class::Primitive(primitive) => primitive.event().expect("a class is of events"),
                    $(Class::$intent => $intent_name,)*
                }
            }

            /// The instruction of this class, if it has no location or number.
            #[must_use]
            pub fn alone(self) -> Option<Alone> {
                match self {
                    $(Class::$access => None,)*
                    Class::Primitive(primitive) => (!primitive.takes_context()).then_some(Alone::Primitive(primitive)),
                    $(Class::$intent => $alone,)*
                }
            }
        }
    };
}

classes! {
    accesses:
        Nt "NT",
        Acquiring "ACQ",
        Releasing "REL",
        Clwb "CLWB",
        ClflushOpt "CLFLUSHOPT",
        Clflush "CLFLUSH",
        Lstore "LSTORE",
        Rstore "RSTORE",
        Mstore "MSTORE",
        Lflush "LFLUSH",
        Rflush "RFLUSH",
    ;
    intents:
        Persist "PERSIST" None,
        Order "ORDER" intent(Intent::LogBeforeUpdate),
        Commit "COMMIT" intent(Intent::Commit),
        Durable "DURABLE" intent(Intent::Durable),
        Acquire "ACQUIRE" intent(Intent::Acquire),
        Release "RELEASE" intent(Intent::Release),
        Strand "STRAND" intent(Intent::NewStrand),
    ;
}

impl Class {
    /// The stores of CXL0.
    pub const STORES_TO: [Class; 3] = [Class::Lstore, Class::Rstore, Class::Mstore];
    /// The flushes of CXL0.
    pub const FLUSHES_TO: [Class; 2] = [Class::Lflush, Class::Rflush];

    /// The class of a flush instruction.
    #[must_use]
    pub fn of_flush(kind: FlushKind) -> Class {
        match kind {
            FlushKind::Clwb => Class::Clwb,
            FlushKind::ClflushOpt => Class::ClflushOpt,
            FlushKind::Clflush => Class::Clflush,
        }
    }
}

impl Instruction {
    /// The set of its events, beyond reads, writes and outputs; a model of the test must define it.
    #[must_use]
    pub fn class(self) -> Option<Class> {
        match self {
            Instruction::Load(_, _, true) => Some(Class::Acquiring),
            Instruction::Store(_, _, true) => Some(Class::Releasing),
            Instruction::StoreNt(..) => Some(Class::Nt),
            Instruction::Flush(_, kind) => Some(Class::of_flush(kind)),
            Instruction::StoreTo(_, _, class) | Instruction::FlushTo(_, class) => Some(class),
            Instruction::Persist(_) => Some(Class::Persist),
            Instruction::ContextFence(_) => Some(Class::Primitive(Primitive::Cfence(0))),
            Instruction::Fence(class) => Some(class),
            _ => None,
        }
    }

    /// The location that it names.
    #[must_use]
    pub fn location(mut self) -> Option<LocationId> {
        self.location_mut().copied()
    }

    /// The location that it names, mutable.
    pub fn location_mut(&mut self) -> Option<&mut LocationId> {
        match self {
            Instruction::Load(_, at, _)
            | Instruction::Store(at, ..)
            | Instruction::StoreNt(at, _)
            | Instruction::LoadAt(_, at, _)
            | Instruction::StoreAt(at, ..)
            | Instruction::Exchange(at, _)
            | Instruction::Add(at, _)
            | Instruction::Out(at, _)
            | Instruction::Flush(at, _)
            | Instruction::StoreTo(at, ..)
            | Instruction::FlushTo(at, _)
            | Instruction::Persist(at) => Some(at),
            Instruction::Set(..)
            | Instruction::Clear(_)
            | Instruction::Compare(..)
            | Instruction::Jump(_)
            | Instruction::Label(_)
            | Instruction::SetContext(_)
            | Instruction::ContextFence(_)
            | Instruction::Fence(_) => None,
        }
    }

    /// Whether it writes a location.
    #[must_use]
    pub fn stores(self) -> bool {
        matches!(
            self,
            Instruction::Store(..)
                | Instruction::StoreNt(..)
                | Instruction::StoreAt(..)
                | Instruction::StoreTo(..)
                | Instruction::Exchange(..)
                | Instruction::Add(..)
        )
    }

    /// How many events it is.
    #[must_use]
    pub fn events(self) -> usize {
        match self {
            Instruction::Set(..)
            | Instruction::Clear(_)
            | Instruction::Compare(..)
            | Instruction::Jump(_)
            | Instruction::Label(_)
            | Instruction::SetContext(_) => 0,
            Instruction::Exchange(..) | Instruction::Add(..) => 2,
            _ => 1,
        }
    }
}

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REGISTERS[self.0 as usize])
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Number(n) => write!(f, "${n}"),
            Operand::Register(register) => write!(f, "{register}"),
        }
    }
}
