//! Parts shared by several families of designs. They depend on no design.

pub mod bloom;
pub mod persist_buffer;
