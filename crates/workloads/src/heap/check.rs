//! The invariant of the heap.

use super::{PriorityQueue, LINE_SHIFT, PLACE};
use std::collections::BTreeMap;
use strandline_isa::Image;

impl PriorityQueue {
    /// The number of elements.
    fn size(&self, image: &dyn Image) -> Result<u64, String> {
        let (size, room) = (image.word(self.size.addr(0)), self.rows.rows());
        match size <= room {
            true => Ok(size),
            false => Err(format!("the heap has {size} elements and room for {room}")),
        }
    }

    /// The rows of elements in the heap, by number; also checks order and elements.
    pub(super) fn reachable(&self, image: &dyn Image) -> Result<Vec<bool>, String> {
        let mut used = vec![false; self.rows.rows() as usize];
        for i in 0..self.size(image)? {
            let slot = image.word(self.slot_addr(i));
            let row = self.rows.range().start + ((slot & PLACE) << LINE_SHIFT);
            let Some(index) = self.rows.index_of(row) else {
                return Err(format!("slot {i} has {slot:#x}, which is no row"));
            };
            if std::mem::replace(&mut used[index as usize], true) {
                return Err(format!("slot {i} has row {index}, which another slot has, too"));
            }
            let value = self.elements.check(image, row)?;
            if (value ^ slot) & !PLACE != 0 {
                return Err(format!("slot {i} has {slot:#x}, but its element is {value:#x}"));
            }
            let parent = image.word(self.slot_addr(i.saturating_sub(1) / 2));
            if slot < parent {
                return Err(format!(
                    "slot {i} has {slot:#x}, which is less than its parent's {parent:#x}"
                ));
            }
        }
        Ok(used)
    }

    /// The first word of each element, by its slot.
    pub(super) fn values(&self, image: &dyn Image) -> BTreeMap<u64, u64> {
        let value = |i| {
            let slot = image.word(self.slot_addr(i));
            let row = self.rows.range().start + ((slot & PLACE) << LINE_SHIFT);
            Some((i, self.elements.check(image, row).ok()?))
        };
        (0..self.size(image).unwrap_or(0)).filter_map(value).collect()
    }
}
