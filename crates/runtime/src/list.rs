//! A list of bounded length in place.

/// At most `N` items, where the list itself is: what a compiler can see through, as it cannot through an allocation.
pub(crate) struct List<T, const N: usize> {
    items: [T; N],
    length: usize,
}

impl<T: Copy, const N: usize> List<T, N> {
    /// No items; `filler` stands where none is.
    pub fn new(filler: T) -> Self {
        List {
            items: [filler; N],
            length: 0,
        }
    }

    /// Appends an item.
    ///
    /// # Panics
    /// If there are `N` already.
    #[inline(always)]
    pub fn push(&mut self, item: T) {
        self.items[self.length] = item;
        self.length += 1;
    }

    #[inline(always)]
    pub fn clear(&mut self) {
        self.length = 0;
    }

    #[inline(always)]
    pub fn as_slice(&self) -> &[T] {
        &self.items[..self.length]
    }
}
