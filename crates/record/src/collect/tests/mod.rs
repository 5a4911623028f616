//! The collector on handmade streams.

mod build;
mod damage;
mod kept;
mod spins;
mod together;
