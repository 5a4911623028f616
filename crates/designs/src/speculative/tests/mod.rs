//! Sections 4.1 and 4.2 rule by rule, on a machine that records what the design requests.

mod conflicts;
mod epochs;
mod figure_7;
mod loads;
mod rig;
