//! The persistency models that persist buffers implement.

use crate::parts::epochs::EPOCHS;
use strandline_isa::{Lowering, Primitive};

/// A persistency model: which accesses make an epoch depend on another core's, and the primitives
/// of programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persistency {
    /// Epoch persistency: any access to a line that another core has written (ASAP IV-A).
    Epoch,
    /// Release persistency: an access to a line that another core's release has written (ASAP IV-A and IV-E); and a write to a
    /// persistent line that another core has written, since flushes are of whole lines, with that core's bytes.
    Release,
    /// Strand persistency: a write to a persistent line that another core or another strand has
    /// written, which is strong persist atomicity alone (ASAP II-A).
    Strand,
}

/// Epochs with annotations of acquires and releases (ASAP V).
const RELEASES: Lowering = Lowering {
    acquire: &[Primitive::Acquire],
    release: &[Primitive::Release],
    ..EPOCHS
};

/// Persist barriers within a strand; an `ofence` orders all strands, and no core waits for it.
const STRANDS: Lowering = Lowering {
    log_before_update: &[Primitive::PersistBarrier],
    new_strand: &[Primitive::NewStrand],
    ..EPOCHS
};

impl Persistency {
    /// The primitives of an ordering intent.
    #[must_use]
    pub fn lowering(self) -> Lowering {
        match self {
            Persistency::Epoch => EPOCHS,
            Persistency::Release => RELEASES,
            Persistency::Strand => STRANDS,
        }
    }
}
