//! Whether a crash state is right: the durable memory, its recovery, and the model's verdict.

pub mod fault;
pub mod image;
pub mod order;
pub mod promised;
pub mod reads;
pub mod regions;
pub mod verdict;
pub mod walk;
