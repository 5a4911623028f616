//! The same in Rust: threads with a mutex, copies, and a flush and fence at the end.

use std::arch::x86_64::{_mm_clflush, _mm_sfence};
use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::sync::Mutex;

extern "C" {
    fn mmap(place: *mut u8, bytes: usize, protection: i32, flags: i32, file: i32, offset: i64) -> *mut u8;
}

const BYTES: usize = 1 << 14;

fn main() {
    let path = std::env::args().nth(1).expect("a pool is named");
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    let file = file.expect("the pool can be opened");
    file.set_len(BYTES as u64).expect("the pool can grow");
    // SAFETY: a shared mapping of the whole file.
    let pool = unsafe { std::slice::from_raw_parts_mut(mmap(std::ptr::null_mut(), BYTES, 3, 1, file.as_raw_fd(), 0), BYTES) };
    let (counters, copies) = pool.split_at_mut(64);
    let counters = Mutex::new(counters);
    std::thread::scope(|scope| {
        for number in 1..4 {
            let counters = &counters;
            scope.spawn(move || (0..20).for_each(|_| counters.lock().expect("no thread panics")[0] += number));
        }
    });
    let text: Vec<u8> = (0..copies.len()).map(|at| (at * 7 + 1) as u8).collect();
    copies.copy_from_slice(&text);
    copies[100..1100].fill(0x5a);
    for at in (0..BYTES).step_by(64) {
        // SAFETY: inside the mapping.
        unsafe { _mm_clflush(pool.as_ptr().add(at)) };
    }
    // SAFETY: every x86-64 processor has it.
    unsafe { _mm_sfence() };
}
