//! Addresses, persist primitives, ordering intents, and the interface between programs and back ends.
//!
//! A program is a function over a [`Cpu`], its back end: the simulator, plain memory, or real hardware. It computes
//! on [`W`] values. So its micro-ops and their register dependences are those of the program's own code.

mod addr;
mod code;
mod cpu;
mod intent;
mod memory;
mod primitive;
mod site;
mod sparse;
mod thread;
mod value;

pub use addr::{Addr, CoreId, Line, LineData, LINE_BYTES, PM_BASE};
pub use code::{Code, Scope, Scoped};
pub use cpu::{Alu, Call, Cpu, Note, Replay, Rmw, Running};
pub use intent::{Flush, Intent, Lowering, Tasking};
pub use memory::{Image, Memory, SharedMemory};
pub use primitive::{Plain, Primitive};
pub use site::Site;
pub use thread::Thread;
pub use value::{Cond, W};
