//! The seam: what the machine asks of a design and does for it, one file a facility.

mod places;
mod script;
mod stuck;
