//! Which part of the run is recorded.

use std::ffi::c_void;

use dynamorio_sys::*;
use strandline_capture::{Kind, Marker};

use crate::instrument::region_marker;
use crate::recorder;

/// Something to do when a block is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Watch {
    /// The region begins.
    Begin = 0,
    /// The region ends.
    End = 1,
}

/// A block begins at each marker of a region.
pub unsafe fn split(_drcontext: *mut c_void, _list: *mut instrlist_t) {
    let _ = region_marker;
    let _ = Marker::RegionBegin;
}

/// What to do before the block at `pc`.
pub unsafe fn watch(_list: *mut instrlist_t, _pc: u64) -> Option<Watch> {
    None
}

/// The program enters a block that is watched.
pub extern "C" fn entered(_watch: i32) {}

/// Says what cannot be recorded and ends the program.
pub fn refuse(what: &str) {
    let mut stream = recorder().stream.lock();
    stream.packet(Kind::Refused, 0, &[what.as_bytes()]);
    stream.close();
    drop(stream);
    crate::say(what);
    // SAFETY: not during initialisation.
    unsafe { dr_exit_process(2) };
}
