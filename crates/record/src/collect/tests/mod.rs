//! The collector on streams that are made by hand.

mod build;
mod damage;
mod kept;
mod together;
