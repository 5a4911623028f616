//! Ownership of locations in a random program, for models that leave races undefined.

use strandline_kernel::Rng;
use strandline_order::litmus::LocationId;

/// One in this many programs has threads that access each other's data. Whether there is a race then depends on the
/// run.
const SHARED_ONE_IN: u64 = 3;

/// Persistent locations are data of one thread or synchronisation variables. Volatile locations are synchronisation
/// variables.
pub struct Owners {
    threads: u64,
    /// Number of persistent data locations, which come first.
    data: u64,
    /// Number of persistent synchronisation variables, which follow.
    synchronising: u64,
    volatile: u64,
    /// Threads access one another's data.
    shared: bool,
    /// The current thread.
    thread: u64,
}

impl Owners {
    /// For this many threads, with about this many persistent and volatile locations.
    pub fn of(threads: usize, persistent: u64, volatile: u64, rng: &mut Rng) -> Owners {
        let threads = threads as u64;
        Owners {
            threads,
            data: threads.max(persistent),
            synchronising: match volatile {
                0 => 1 + rng.below(2),
                _ => rng.below(2),
            },
            volatile,
            shared: rng.one_in(SHARED_ONE_IN),
            thread: 0,
        }
    }

    /// Number of persistent locations.
    pub fn persistent(&self) -> u64 {
        self.data + self.synchronising
    }

    /// Later instructions belong to this thread.
    pub fn turn(&mut self, thread: usize) {
        self.thread = thread as u64;
    }

    /// A location for a plain load or store.
    pub fn data(&self, rng: &mut Rng) -> LocationId {
        let at = match self.shared {
            true => rng.below(self.data),
            false => {
                let own = (self.data - self.thread).div_ceil(self.threads);
                self.thread + self.threads * rng.below(own)
            }
        };
        LocationId(at as u8)
    }

    /// A location for an acquire load or a release store.
    pub fn synchronising(&self, rng: &mut Rng) -> LocationId {
        LocationId((self.data + rng.below(self.synchronising + self.volatile)) as u8)
    }

    /// A location for an unannotated locked instruction: volatile, or data.
    pub fn locked(&self, rng: &mut Rng) -> LocationId {
        match self.volatile {
            0 => self.data(rng),
            _ => LocationId((self.persistent() + rng.below(self.volatile)) as u8),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_threads_own_the_same_data() {
        let mut rng = Rng::new(1);
        for _ in 0..200 {
            let threads = 1 + rng.below(4) as usize;
            let (persistent, volatile) = (1 + rng.below(5), rng.below(3));
            let mut owners = Owners::of(threads, persistent, volatile, &mut rng);
            owners.shared = false;
            let mut owner = vec![None; owners.data as usize];
            for thread in 0..threads {
                owners.turn(thread);
                for _ in 0..50 {
                    let LocationId(at) = owners.data(&mut rng);
                    assert_eq!(*owner[usize::from(at)].get_or_insert(thread), thread);
                    let LocationId(at) = owners.synchronising(&mut rng);
                    assert!((owners.data..owners.persistent() + volatile).contains(&u64::from(at)));
                }
            }
        }
    }
}
