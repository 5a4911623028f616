//! Who may access what in a random program of a model that says nothing of races.

use strandline_kernel::Rng;
use strandline_order::litmus::LocationId;

/// Once in how many programs threads access one another's data: then it depends on the run whether there is a race.
const SHARED_ONE_IN: u64 = 3;

/// Persistent locations are each thread's own data, or some to synchronise by; volatile ones are to synchronise by.
pub struct Owners {
    threads: u64,
    /// Persistent locations that are data, the first of all.
    data: u64,
    /// Persistent locations to synchronise by, behind these.
    synchronising: u64,
    volatile: u64,
    /// Threads access one another's data.
    shared: bool,
    /// The thread that is being written.
    thread: u64,
}

impl Owners {
    /// Of so many threads, with about so many persistent and so many volatile locations.
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

    /// How many persistent locations there are.
    pub fn persistent(&self) -> u64 {
        self.data + self.synchronising
    }

    /// The instructions that follow are this thread's.
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

    /// A location for a load that acquires or a store that releases.
    pub fn synchronising(&self, rng: &mut Rng) -> LocationId {
        LocationId((self.data + rng.below(self.synchronising + self.volatile)) as u8)
    }

    /// A location for a locked instruction that says nothing of itself: volatile, or data.
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
