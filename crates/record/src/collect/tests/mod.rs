//! The collector on handmade streams.

mod build;
mod damage;
mod kept;
mod together;
