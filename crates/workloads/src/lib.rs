//! The benchmark programs, one file each: the structure, its operations, its invariant.
//!
//! Each runs on any [`strandline_isa::Cpu`]. [`build`] maps a name to one of them.

mod across;
pub mod atlas_queue;
pub mod avl_tree;
pub mod b_tree;
pub mod bandwidth;
pub mod cceh;
mod chain;
pub mod cq;
mod dash;
pub mod dash_eh;
pub mod dash_lh;
pub mod echo;
mod elements;
mod epochs;
mod extendible;
pub mod fast_fair;
mod filler;
pub mod graph;
pub mod hashmap;
pub mod heap;
pub mod host_queue;
pub mod linked_list;
mod list;
pub mod maps;
pub mod memcached;
pub mod nstore;
mod operations;
pub mod p_art;
pub mod p_clht;
pub mod p_masstree;
mod papers;
mod params;
pub mod pc;
mod populate;
pub mod publish;
pub mod rb_tree;
mod registry;
pub mod shared_heap;
pub mod shared_log;
pub mod skiplist;
pub mod sp_hashmap;
pub mod sp_rb_tree;
pub mod sps;
pub mod string_swap;
mod structures;
pub mod tatp;
#[cfg(test)]
mod testing;
pub mod tpcc;
mod trees;
pub mod vacation;
mod zipf;

pub use registry::{
    build, describe, lay_out, memory_bytes, names, with_workload, About, Alias, Built, Error, LaidOut, Visitor,
};
