//! Parts that designs of several families are built of. They know no design.

pub mod bloom;
pub mod persist_buffer;
