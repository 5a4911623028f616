//! A list of bounded length.

/// At most `N` items. It never grows, so a compiler that has seen all its uses knows its length.
pub(crate) struct List<T, const N: usize> {
    items: Box<[T; N]>,
    length: usize,
}

impl<T: Copy, const N: usize> List<T, N> {
    /// No items; `filler` stands where none is.
    pub fn new(filler: T) -> Self {
        List {
            items: Box::new([filler; N]),
            length: 0,
        }
    }

    /// Appends an item.
    ///
    /// # Panics
    /// If there are `N` already.
    #[inline(always)]
    pub fn push(&mut self, item: T) {
        if self.length >= N {
            too_many(N);
        }
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

#[cold]
#[inline(never)]
fn too_many(most: usize) -> ! {
    panic!("a step of more than {most} undo-log records or lines: at most {most} fit");
}
