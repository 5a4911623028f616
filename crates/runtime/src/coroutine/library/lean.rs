//! Our own stackless library, as it is compiled.

use super::Place;
use strandline_isa::Scheduling;

pub(super) async fn start<C: Scheduling>(_cpu: &C, _place: Place) {}
pub(super) async fn end<C: Scheduling>(_cpu: &C, _place: Place) {}
pub(super) async fn leave<C: Scheduling>(_cpu: &C, _place: Place, _code: u64) {}
pub(super) async fn next<C: Scheduling>(_cpu: &C, _place: Place, _slots: u64) {}
pub(super) async fn resume<C: Scheduling>(_cpu: &C, _place: Place) {}
