//! What the fences of a thread are, by the policy of [`FenceClass`].

use crate::recording::FenceClass;

/// What of a block matters, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// The access of this index is a flush or a non-temporal store.
    Persists(usize),
    /// A fence.
    Fence,
    /// A task ends, or a lock is released.
    Ends,
}

/// The classes of a thread's fences.
#[derive(Debug, Default)]
pub struct Fences {
    classes: Vec<FenceClass>,
    /// Persistent memory was flushed since the last fence that ordered something.
    flushed: bool,
    /// The last ordering point since a task's end or a lock's release.
    last: Option<usize>,
}

impl Fences {
    /// Persistent memory is flushed or stored to non-temporally.
    pub fn persists(&mut self) {
        self.flushed = true;
    }

    /// A fence.
    pub fn fence(&mut self) {
        if self.flushed {
            self.last = Some(self.classes.len());
        }
        let class = if self.flushed {
            FenceClass::Order
        } else {
            FenceClass::Idle
        };
        self.classes.push(class);
        self.flushed = false;
    }

    /// A task ends, a lock is released, or the thread ends.
    pub fn ends(&mut self) {
        if let Some(last) = self.last.take() {
            self.classes[last] = FenceClass::Durable;
        }
    }

    /// The thread has ended: the classes of its fences, in order.
    pub fn finish(mut self) -> Vec<FenceClass> {
        self.ends();
        self.classes
    }
}
