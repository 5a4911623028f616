//! Traces made by hand, imported, and read back.

mod containers;
mod damage;
mod exact;
mod heads;
mod threads;
mod trace;
