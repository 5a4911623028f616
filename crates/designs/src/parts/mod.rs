//! Parts shared by several families of designs. They depend on no design.

pub mod bloom;
pub mod dependence_wait;
pub mod epochs;
pub mod pcommits;
pub mod per_core;
pub mod persist_buffer;
pub(crate) mod rules;
