//! A load-store queue: one queue of loads, until they retire, and of stores, until they leave for the caches.

use super::cpu::Go;
use super::{Core, Request};

impl Core {
    /// Whether a load may be dispatched: it has an entry of the load queue, and takes one of the queue that loads and stores
    /// share.
    #[cold]
    #[inline(never)]
    pub(super) fn find_load_entry(&self) -> Go {
        if self.window.is_full_behind_held() || self.window.lacks_load_entry() || self.loads.held.get() {
            return Err(Request::Released { blocks: false });
        }
        self.find_shared_entry()?;
        self.window.enter_shared_load();
        Ok(())
    }

    /// Whether the queue that loads and stores share has an entry for the next op; otherwise dispatch
    /// stalls until one becomes free, as far as that is known, or the program waits.
    pub(super) fn find_shared_entry(&self) -> Go {
        match self.limits.shared_entries == 0 || self.has_shared_entry() {
            true => Ok(()),
            false => self.stall_for_shared_entry(),
        }
    }

    fn has_shared_entry(&self) -> bool {
        let stores = self.queue.borrow().occupied() as u64;
        // Loads that have left are looked for only if the queue would be full with them.
        stores + self.window.most_shared_loads() < self.limits.shared_entries
            || stores + self.window.shared_loads(self.window.next_cycle()) < self.limits.shared_entries
    }

    /// Advances dispatch to the next departure of a load or store, until there is an entry. The time of a
    /// store's departure is a lower bound, so the queue is looked at again there.
    #[cold]
    #[inline(never)]
    fn stall_for_shared_entry(&self) -> Go {
        loop {
            self.catch_up(self.window.next_cycle())?;
            if self.has_shared_entry() {
                return Ok(());
            }
            let store = match self.queue.borrow().occupied() {
                0 => u64::MAX,
                _ => self.drain.next.get(),
            };
            match self.window.next_shared_load_leaves() {
                Some(load) if load <= store => self.window.stall_until_left(load),
                _ if store != u64::MAX => self.window.stall_buffer(store),
                _ if self.window.is_held() => return Err(Request::Released { blocks: false }),
                _ => return Err(Request::Room),
            }
        }
    }
}
