//! The seam: what the machine asks of a design and does for it, one file a facility.

mod bytes;
mod hooks;
mod places;
mod script;
mod stuck;
