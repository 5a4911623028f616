//! Designs that delegate the order of persists to persist buffers, by epochs: HOPS and ASAP.

mod asap;
mod delegated;
mod hops;

pub use asap::{asap_ep, asap_rp, asap_strand};
pub use hops::{hops_ep, hops_rp};
