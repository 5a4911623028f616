//! A shared resource that serves one request at a time.

use crate::Cycles;

/// The reservations of a resource. Requests may be booked out of time order.
///
/// A request books the first free span at or after its arrival. Cores run slightly ahead of one another, and operands
/// of some loads are ready late. So a later booking may lie earlier in time; it then fills the gap.
#[derive(Clone, Debug, Default)]
pub struct Calendar {
    /// Disjoint busy spans `[from, to)`, ascending.
    busy: std::collections::VecDeque<(u64, u64)>,
}

/// Maximum number of busy spans. Older ones are dropped, and their time counts as busy.
const REMEMBERED: usize = 64;

impl Calendar {
    /// Books `span` at or after `from` and returns its start.
    pub fn book(&mut self, from: Cycles, span: Cycles) -> Cycles {
        let (mut at, span) = (from.0, span.0);
        let mut index = self.busy.len();
        while index > 0 && self.busy[index - 1].1 > at {
            index -= 1;
        }
        while index < self.busy.len() && self.busy[index].0 < at + span {
            at = at.max(self.busy[index].1);
            index += 1;
        }
        self.insert(index, at, at + span);
        Cycles(at)
    }

    fn insert(&mut self, index: usize, from: u64, to: u64) {
        let joins_left = index > 0 && self.busy[index - 1].1 == from;
        let joins_right = index < self.busy.len() && self.busy[index].0 == to;
        match (joins_left, joins_right) {
            (true, true) => {
                self.busy[index - 1].1 = self.busy[index].1;
                self.busy.remove(index);
            }
            (true, false) => self.busy[index - 1].1 = to,
            (false, true) => self.busy[index].0 = from,
            (false, false) => self.busy.insert(index, (from, to)),
        }
        if self.busy.len() > REMEMBERED {
            self.busy.pop_front();
            self.busy[0].0 = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(c: &mut Calendar, at: u64, span: u64) -> u64 {
        c.book(Cycles(at), Cycles(span)).0
    }

    #[test]
    fn requests_in_order_queue_up() {
        let mut c = Calendar::default();
        assert_eq!(
            [book(&mut c, 0, 10), book(&mut c, 0, 10), book(&mut c, 5, 10)],
            [0, 10, 20]
        );
    }

    #[test]
    fn an_earlier_request_booked_late_fills_the_gap_before_a_future_one() {
        let mut c = Calendar::default();
        assert_eq!(book(&mut c, 1000, 10), 1000);
        assert_eq!(book(&mut c, 0, 10), 0, "the future booking does not delay it");
        assert_eq!(book(&mut c, 995, 10), 1010, "the gap of five is too small");
        assert_eq!(book(&mut c, 985, 10), 985);
    }
}
