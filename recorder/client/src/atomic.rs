//! Locked instructions: the recorder serialises those on one address, as far as it can, so that tickets give their
//! order.

use std::ffi::c_void;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, Ordering};

use dynamorio_sys::{dr_safe_read, dr_thread_yield};

use crate::gate;
use crate::mask::Mask;
use crate::recorder;
use crate::thread::Thread;

/// Addresses that share a lock.
pub const STRIPES: usize = 1024;

/// DynamoRIO may have stopped the thread that holds a stripe and then waits for the waiting threads, which must give
/// up.
const SPINS: u32 = 2000;
const YIELDS: u32 = 2000;

/// Before a locked instruction: locks the stripe and saves the old bytes.
pub extern "C" fn before(address: i32, size: i32) {
    // SAFETY: called from the program's code in the cache.
    let thread = unsafe { Thread::current() };
    let words = thread.slot(address);
    // SAFETY: the block's words are in the buffer.
    let place = unsafe { *words };
    let stripe = (place >> 6) as usize % STRIPES;
    thread.held = take(&recorder().stripes[stripe]).then_some(stripe);
    read(place, words.wrapping_add(1), size as usize);
}

/// After it: saves the new bytes, unless they are known, and a ticket.
pub extern "C" fn after(address: i32, size: i32, is_known: i32) {
    // SAFETY: called from the program's code in the cache.
    let thread = unsafe { Thread::current() };
    let words = thread.slot(address);
    let count = (size as usize).div_ceil(8);
    // SAFETY: the block's words are in the buffer.
    unsafe {
        if is_known == 0 {
            read(*words, words.wrapping_add(1 + count), size as usize);
        }
        *words.add(1 + 2 * count) = recorder().ticket();
    }
    release(thread);
}

/// After a load by which the program may wait: saves what is there now, and a ticket. A write may have come between, which
/// ends the wait a lap early.
pub extern "C" fn seen(address: i32, size: i32) {
    // SAFETY: called from the program's code in the cache.
    let thread = unsafe { Thread::current() };
    let words = thread.slot(address);
    // SAFETY: the block's words are in the buffer.
    unsafe {
        // No locked instruction comes between what is read and the ticket.
        let stripe = (*words >> 6) as usize % STRIPES;
        let held = take(&recorder().stripes[stripe]);
        read(*words, words.add(1), size as usize);
        *words.add(2) = recorder().ticket();
        if held {
            recorder().stripes[stripe].store(false, Ordering::Release);
        }
    }
}

/// Releases the stripe, if it holds one.
fn release(thread: &mut Thread) {
    if let Some(stripe) = thread.held.take() {
        recorder().stripes[stripe].store(false, Ordering::Release);
    }
}

/// The thread does not go on behind its instruction: it leaves the stripe and the gate.
pub fn leave(thread: &mut Thread) {
    release(thread);
    gate::stop(thread);
}

fn take(stripe: &AtomicBool) -> bool {
    for round in 0..SPINS + YIELDS {
        if !stripe.load(Ordering::Relaxed) && !stripe.swap(true, Ordering::Acquire) {
            return true;
        }
        match round < SPINS {
            true => spin_loop(),
            // SAFETY: in a clean call.
            false => unsafe { dr_thread_yield() },
        }
    }
    false
}

/// After a store that may skip some of its bytes: saves those that can be read, and zeros for others.
pub extern "C" fn careful(address: i32, value: i32, size: i32) {
    // SAFETY: called from the program's code in the cache; the block's words are in the buffer.
    unsafe {
        let thread = Thread::current();
        let place = *thread.slot(address);
        read(place, thread.slot(value), size as usize);
    }
}

/// After a masked store: the same, and the mask behind the bytes.
pub extern "C" fn masked(address: i32, size: i32, mask: i32) {
    careful(address, address - 8, size);
    // SAFETY: called from the program's code in the cache, with its registers; the block's words are in the buffer.
    unsafe {
        let written = Mask::unpack(mask).written(size as usize);
        let words = Thread::current().slot(address);
        *words.add(1 + (size as usize).div_ceil(8)) = written;
    }
}

/// Reads the program's memory into words of the buffer.
fn read(place: u64, into: *mut u64, size: usize) {
    let mut bytes = [0u8; 64];
    let mut done = 0;
    // SAFETY: reading is safe, the buffer is as long as an access with values.
    unsafe {
        if dr_safe_read(place as *const c_void, size, bytes.as_mut_ptr().cast(), &mut done) == 0 {
            bytewise(place, &mut bytes[..size]);
        }
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), into.cast::<u8>(), size.next_multiple_of(8));
    }
}

fn bytewise(place: u64, bytes: &mut [u8]) {
    for (offset, byte) in bytes.iter_mut().enumerate() {
        let mut done = 0;
        // SAFETY: reading is safe.
        if unsafe {
            dr_safe_read(
                (place + offset as u64) as *const c_void,
                1,
                std::ptr::from_mut(byte).cast(),
                &mut done,
            )
        } == 0
        {
            *byte = 0;
        }
    }
}
