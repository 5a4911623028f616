//! The entries of a persist buffer: a queue of limited room, each entry with a number of its own.

use std::collections::VecDeque;

/// Entries in the order in which they were allocated, with their numbers. Any of them can be freed.
#[derive(Clone, Debug)]
pub struct Entries<T> {
    capacity: usize,
    list: VecDeque<(u64, T)>,
    next: u64,
}

impl<T> Entries<T> {
    /// No entries, with room for `capacity`.
    #[must_use]
    pub fn new(capacity: usize) -> Entries<T> {
        Entries {
            capacity,
            list: VecDeque::new(),
            next: 0,
        }
    }

    /// Whether there is no room.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.list.len() >= self.capacity
    }

    /// Allocates an entry: its number, which is never used again.
    pub fn push(&mut self, entry: T) -> u64 {
        let number = self.next;
        self.list.push_back((number, entry));
        self.next += 1;
        number
    }

    /// Frees an entry.
    pub fn remove(&mut self, number: u64) -> Option<T> {
        self.remove_at(self.place(number)?)
    }

    /// Frees the entry at this place in the order.
    pub fn remove_at(&mut self, index: usize) -> Option<T> {
        self.list.remove(index).map(|(_, entry)| entry)
    }

    /// The place of an entry in the order, from 0.
    pub fn place(&self, number: u64) -> Option<usize> {
        self.list.binary_search_by_key(&number, |(of, _)| *of).ok()
    }

    /// Entries in use.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// All entries with their numbers, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, &T)> + ExactSizeIterator {
        self.list.iter().map(|(number, entry)| (*number, entry))
    }

    /// As [`Entries::iter`].
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (u64, &mut T)> + ExactSizeIterator {
        self.list.iter_mut().map(|(number, entry)| (*number, entry))
    }

    /// The entry at this place in the order, from 0.
    pub fn at(&self, index: usize) -> &T {
        &self.list[index].1
    }

    /// As [`Entries::at`].
    pub fn at_mut(&mut self, index: usize) -> &mut T {
        &mut self.list[index].1
    }

    /// The oldest entry and its number.
    pub fn first(&self) -> Option<(u64, &T)> {
        self.list.front().map(|(number, entry)| (*number, entry))
    }

    /// The newest entry and its number.
    pub fn last(&self) -> Option<(u64, &T)> {
        self.list.back().map(|(number, entry)| (*number, entry))
    }

    /// As [`Entries::last`].
    pub fn last_mut(&mut self) -> Option<(u64, &mut T)> {
        self.list.back_mut().map(|(number, entry)| (*number, entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_freed_in_any_order_and_numbers_are_not_used_again() {
        let mut entries = Entries::new(2);
        assert_eq!((entries.push('a'), entries.push('b')), (0, 1));
        assert!(entries.is_full());
        assert_eq!((entries.remove(0), entries.remove(0)), (Some('a'), None));
        assert_eq!(entries.push('c'), 2);
        assert_eq!(entries.iter().collect::<Vec<_>>(), [(1, &'b'), (2, &'c')]);
        assert_eq!((entries.first(), entries.last()), (Some((1, &'b')), Some((2, &'c'))));
        *entries.at_mut(0) = 'd';
        assert_eq!((entries.at(0), entries.len()), (&'d', 2));
    }
}
