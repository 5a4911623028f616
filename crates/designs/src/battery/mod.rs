//! Designs whose persistence domain a battery extends to the caches, or to buffers beside them.

mod bbb;
mod eadr;

pub use bbb::Bbb;
pub use eadr::Eadr;
