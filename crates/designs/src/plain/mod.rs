//! Designs without hardware of their own: x86 as it is, as it was, ARM's `dc cvap`, and bounds that leave something out.

mod dccvap;
mod non_atomic;
pub(crate) mod rules;
mod unordered;
mod volatile;
mod x86;
mod x86_pcommit;

pub use dccvap::Dccvap;
pub use non_atomic::NonAtomic;
pub use unordered::Unordered;
pub use volatile::Volatile;
pub use x86::X86;
pub use x86_pcommit::X86Pcommit;
