//! Designs that delegate the order of persists to persist buffers: HOPS flushes epochs in order, ASAP eagerly.
//!
//! Both have the same [`buffers`]: stores enter them in epochs, and epochs depend on one another.
//! The designs decide when an entry is flushed, how an epoch commits, and how other cores learn of
//! it.

mod asap;
mod buffers;
mod hops;
mod persistency;
pub(crate) mod rules;

#[cfg(test)]
mod tests;

pub use asap::{asap_ep, asap_frontier_ep, asap_frontier_rp, asap_frontier_strand, asap_rp, asap_strand};
pub use hops::{hops_ep, hops_rp};
