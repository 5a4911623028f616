//! The collector on handmade streams.

mod build;
mod damage;
mod kept;
mod links;
mod spins;
mod together;
