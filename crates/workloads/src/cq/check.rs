//! The invariant of queues: each is a list, and its nodes are complete.

use super::{header, item, Cq, ITEMS};
use crate::filler::halves;
use strandline_isa::{Addr, Image};

impl Cq {
    /// The first and last node of a queue, and how many it should have.
    fn header(&self, image: &dyn Image, queue: u64) -> [u64; 3] {
        if self.ends.is_some() {
            return self.both_ends(image, queue);
        }
        let header = self.headers.addr(queue).0;
        [header::HEAD, header::TAIL, header::COUNT].map(|offset| image.word(Addr(header + offset)))
    }

    /// Calls `visit` with the address of each node of a queue, from its head. With two locks the first one is a dummy.
    fn walk(
        &self,
        image: &dyn Image,
        queue: u64,
        mut visit: impl FnMut(u64) -> Result<(), String>,
    ) -> Result<(), String> {
        let [head, tail, count] = self.header(image, queue);
        let mut node = head;
        let mut last = 0;
        let mut length = 0;
        while node != 0 {
            visit(node)?;
            (last, node) = (node, image.word(Addr(node)));
            length += 1;
        }
        if tail != last {
            return Err(format!(
                "queue {queue} ends at {}, but its tail is {}",
                Addr(last),
                Addr(tail)
            ));
        }
        if count != length {
            return Err(format!("queue {queue} has {length} nodes, but its count is {count}"));
        }
        Ok(())
    }

    /// Whether the items of a node are consecutive.
    pub(super) fn check_items(image: &dyn Image, node: u64) -> Result<(), String> {
        let (first, _) = halves(image, Addr(node + item(0)));
        for i in (0..ITEMS).step_by(2) {
            let expected = (
                first.wrapping_add(i) & 0xffff_ffff,
                first.wrapping_add(i + 1) & 0xffff_ffff,
            );
            if halves(image, Addr(node + item(i))) != expected {
                return Err(format!(
                    "items {i} and {} of the node at {} are not those that were pushed",
                    i + 1,
                    Addr(node)
                ));
            }
        }
        Ok(())
    }

    /// The nodes in any queue, by number; also checks the links.
    pub(super) fn reachable(&self, image: &dyn Image) -> Result<Vec<bool>, String> {
        let mut seen = vec![false; self.nodes.rows() as usize];
        for queue in 0..self.queues {
            self.walk(image, queue, |node| match self.nodes.index_of(node) {
                None => Err(format!("queue {queue} links to {}, which is no node", Addr(node))),
                Some(index) if std::mem::replace(&mut seen[index as usize], true) => {
                    Err(format!("the node at {} is linked twice", Addr(node)))
                }
                Some(_) => Ok(()),
            })?;
        }
        Ok(seen)
    }
}
