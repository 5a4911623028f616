//! The simulated C library executes as many instructions as glibc.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod simulated;
mod stepped;

/// Bytes of blocks that are never in a fast bin, and of others that are: chunks of 640 and 128 bytes.
const SMALL: usize = 632;
const FAST: usize = 120;

/// Instructions of a mutex: of locking and unlocking it, without others that wait, and of the same with them; of
/// `rand`; and for two sizes, of `malloc` from the top, `free` to and `malloc` from the thread's cache, `free` to and
/// `malloc` from the arena.
#[derive(Debug)]
struct Instructions {
    lock: u64,
    unlock: u64,
    lock_behind: u64,
    unlock_before: u64,
    rand: u64,
    small: [u64; 5],
    fast: [u64; 5],
}

impl Instructions {
    fn all(&self) -> Vec<u64> {
        let locks = [self.lock, self.unlock, self.lock_behind, self.unlock_before, self.rand];
        [&locks[..], &self.small, &self.fast].concat()
    }
}

/// Versions of glibc differ by a few instructions, and a compare and its branch are one here.
#[test]
fn the_simulated_library_executes_as_many_instructions_as_glibc() {
    let (real, ours) = (stepped::stepped(), simulated::counted());
    println!("glibc: {real:?}; simulated: {ours:?}");
    for (real, ours) in real.all().into_iter().zip(ours.all()) {
        let ratio = ours as f64 / real as f64;
        assert!((0.75..=1.25).contains(&ratio), "{ours} for {real}");
    }
}

/// The seed is srand's, and all lanes share the sequence.
#[test]
fn the_simulated_library_draws_the_numbers_of_glibc() {
    for seed in [0, 1, 7, 123_456_789] {
        let ours = simulated::numbers(seed, 100);
        #[allow(unsafe_code, reason = "a call of the C library")]
        // SAFETY: no other thread of this test draws numbers.
        let real: Vec<u64> = unsafe {
            libc::srand(seed as u32);
            (0..100).map(|_| libc::rand() as u64).collect()
        };
        assert_eq!(ours, real, "seed {seed}");
    }
}
