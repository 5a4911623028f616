//! The simulated mutex executes as many instructions as glibc's.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod glibc;
mod simulated;

/// Instructions of a mutex: of locking and unlocking it, without others that wait, and of the same with them.
#[derive(Debug)]
struct Instructions {
    lock: u64,
    unlock: u64,
    lock_behind: u64,
    unlock_before: u64,
}

impl Instructions {
    fn all(&self) -> [u64; 4] {
        [self.lock, self.unlock, self.lock_behind, self.unlock_before]
    }
}

/// Versions of glibc differ by a few instructions, and a compare and its branch are one here.
#[test]
fn the_simulated_mutex_executes_as_many_instructions_as_glibc() {
    let (real, ours) = (glibc::stepped(), simulated::counted());
    println!("glibc: {real:?}; simulated: {ours:?}");
    for (real, ours) in real.all().into_iter().zip(ours.all()) {
        let ratio = ours as f64 / real as f64;
        assert!((0.75..=1.25).contains(&ratio), "{ours} for {real}");
    }
}
