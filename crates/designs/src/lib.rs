//! The designs, one file each. No design uses another; what two need lives in `strandline-design`.

mod eadr;
mod non_atomic;
mod registry;
mod unordered;
mod volatile;
mod x86;
mod x86_pcommit;

pub use eadr::Eadr;
pub use non_atomic::NonAtomic;
pub use registry::{abouts, with_design, DesignVisitor};
pub use unordered::Unordered;
pub use volatile::Volatile;
pub use x86::X86;
pub use x86_pcommit::X86Pcommit;
