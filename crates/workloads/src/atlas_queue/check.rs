//! The invariant of the queue.

use super::{end, node, AtlasQueue};
use std::collections::BTreeMap;
use strandline_isa::{Addr, Image};

impl AtlasQueue {
    /// Passes the dummy and each node behind it to `visit`: address, number among all nodes, and place in the queue.
    /// Numbers that ascend exclude a circle.
    fn walk(
        &self,
        image: &dyn Image,
        mut visit: impl FnMut(u64, u64, u64) -> Result<(), String>,
    ) -> Result<(), String> {
        let word = |at: u64, offset: u64| image.word(Addr(at + offset));
        let mut at = word(self.head(), end::NODE);
        let mut last = 0;
        let first = if self.nodes.index_of(at).is_some() {
            word(at, node::NUMBER)
        } else {
            0
        };
        let mut place = 0;
        while at != 0 {
            let Some(index) = self.nodes.index_of(at) else {
                return Err(format!("the queue links to {}, which is no node", Addr(at)));
            };
            if word(at, node::NUMBER) != first.wrapping_add(place) {
                return Err(format!(
                    "the node at {} is number {}, and {place} places behind number {first}",
                    Addr(at),
                    word(at, node::NUMBER)
                ));
            }
            visit(at, index, place)?;
            (last, at) = (at, word(at, node::NEXT));
            place += 1;
        }
        let (tail, number) = (word(self.tail(), end::NODE), word(self.tail(), end::NUMBER));
        if (tail, number) != (last, first.wrapping_add(place)) {
            return Err(format!(
                "the queue ends at {} before number {}, but its tail is {} before number {number}",
                Addr(last),
                first.wrapping_add(place),
                Addr(tail)
            ));
        }
        Ok(())
    }

    /// The nodes in the queue, by number, the dummy among them; also checks links and elements.
    pub(super) fn reachable(&self, image: &dyn Image) -> Result<Vec<bool>, String> {
        let mut used = vec![false; self.nodes.rows() as usize];
        self.walk(image, |at, index, place| {
            if std::mem::replace(&mut used[index as usize], true) {
                return Err(format!("the node at {} is linked twice", Addr(at)));
            }
            // The dummy's element is gone.
            if place > 0 {
                self.elements.check(image, at)?;
            }
            Ok(())
        })?;
        Ok(used)
    }

    /// The first word of each element, by its place.
    pub(super) fn values(&self, image: &dyn Image) -> Result<BTreeMap<u64, u64>, String> {
        let mut values = BTreeMap::new();
        self.walk(image, |at, _, place| {
            if place > 0 {
                values.insert(place, self.elements.check(image, at)?);
            }
            Ok(())
        })?;
        Ok(values)
    }
}
