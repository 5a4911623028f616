//! How many page walks a core has under way.

/// The walks under way, as the times of their beginnings and ends.
///
/// Walks are requested in program order and may begin in another: an access waits for its address. So a walk begins as
/// soon as fewer than the limit are under way, whatever begins later.
#[derive(Clone)]
pub struct Walkers {
    most: usize,
    walks: Vec<(u64, u64)>,
}

impl Walkers {
    /// No walk is under way of `most` at once.
    pub fn new(most: u64) -> Walkers {
        Walkers {
            most: most as usize,
            walks: Vec::new(),
        }
    }

    /// When a walk wanted at `at` begins. No walk is wanted before `now` from now on.
    pub fn start(&mut self, at: u64, now: u64) -> u64 {
        self.walks.retain(|(_, end)| *end > now);
        let mut start = at;
        while self.under_way(start).count() >= self.most {
            start = self.under_way(start).min().unwrap_or(start);
        }
        start
    }

    /// The ends of the walks under way at `at`.
    fn under_way(&self, at: u64) -> impl Iterator<Item = u64> + '_ {
        let walks = self.walks.iter();
        walks
            .filter(move |(start, end)| (*start..*end).contains(&at))
            .map(|(_, end)| *end)
    }

    /// A walk takes from `start` to `end`.
    pub fn keep(&mut self, start: u64, end: u64) {
        self.walks.push((start, end));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_waits_for_one_of_the_walkers() {
        let mut walkers = Walkers::new(2);
        walkers.keep(10, 100);
        walkers.keep(20, 80);
        assert_eq!(walkers.start(15, 0), 15, "one is under way");
        assert_eq!(walkers.start(30, 0), 80);
        assert_eq!(walkers.start(90, 0), 90);
    }

    #[test]
    fn a_walk_does_not_wait_for_one_that_begins_later() {
        let mut walkers = Walkers::new(1);
        walkers.keep(500, 600);
        assert_eq!(walkers.start(100, 0), 100);
        assert_eq!(walkers.start(550, 0), 600);
    }
}
