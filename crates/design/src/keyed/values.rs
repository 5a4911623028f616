//! The values of a design's own types, by the keys that the machine holds.

use crate::{Departure, Key, Types, Until, WriteRequest};

/// Values of a design's own types, by key.
pub struct Values<T: Types> {
    /// Gates that have waiters: they are few. An opened gate loses its key.
    pub gates: Vec<(T::Gate, Key)>,
    next_gate: u64,
    /// The gate that was opened last, for the watchdog's message.
    pub last_opened: Option<(T::Gate, Key)>,
    pub messages: Slab<T::Message>,
    pub tags: Slab<T::Tag>,
    /// The notes of the cores that have granted the line requested now.
    pub notes: Vec<Option<T::Note>>,
}

impl<T: Types> Default for Values<T> {
    fn default() -> Self {
        Values {
            gates: Vec::new(),
            next_gate: 0,
            last_opened: None,
            messages: Slab::default(),
            tags: Slab::default(),
            notes: Vec::new(),
        }
    }
}

impl<T: Types> Values<T> {
    pub fn gate(&mut self, gate: T::Gate) -> Key {
        if let Some((_, key)) = self.gates.iter().find(|(known, _)| *known == gate) {
            return *key;
        }
        self.next_gate += 1;
        let key = Key(self.next_gate);
        self.gates.push((gate, key));
        key
    }

    /// Removes a gate that opens: its key, if anything waits.
    pub fn opened(&mut self, gate: T::Gate) -> Option<Key> {
        let index = self.gates.iter().position(|(known, _)| *known == gate)?;
        let (gate, key) = self.gates.swap_remove(index);
        self.last_opened = Some((gate, key));
        Some(key)
    }

    pub fn until(&mut self, until: Until<T::Gate>) -> Until<Key> {
        match until {
            Until::Drained(context) => Until::Drained(context),
            Until::Visible => Until::Visible,
            Until::Open(gate) => Until::Open(self.gate(gate)),
        }
    }

    #[inline(always)]
    pub fn departure(&mut self, departure: Departure<T::Gate>) -> Departure<Key> {
        match departure {
            Departure::Go => Departure::Go,
            Departure::Keep => Departure::Keep,
            Departure::Wait(until) => Departure::Wait(self.until(until)),
        }
    }

    /// The write with the design's own tag.
    pub fn write(&self, write: &WriteRequest<Key>) -> WriteRequest<T::Tag> {
        let WriteRequest {
            line,
            data,
            bytes,
            core,
            tag,
        } = *write;
        WriteRequest {
            line,
            data,
            bytes,
            core,
            tag: tag.map(|key| self.tags.get(key).clone()),
        }
    }

    /// The write has no further use: its tag is not used by it again.
    pub fn forget(&mut self, write: &WriteRequest<Key>) {
        if let Some(key) = write.tag {
            self.tags.drop_one(key);
        }
    }
}

/// Values by key, each for as many uses as were announced.
pub struct Slab<V> {
    slots: Vec<Option<(V, u32)>>,
    free: Vec<u64>,
}

impl<V> Default for Slab<V> {
    fn default() -> Self {
        Slab {
            slots: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<V: Clone> Slab<V> {
    /// Keeps a value that will be dropped `uses` times.
    pub fn keep(&mut self, value: V, uses: u32) -> Key {
        let slot = Some((value, uses));
        match self.free.pop() {
            Some(index) => {
                self.slots[index as usize] = slot;
                Key(index)
            }
            None => {
                self.slots.push(slot);
                Key(self.slots.len() as u64 - 1)
            }
        }
    }

    pub fn get(&self, key: Key) -> &V {
        &self.slots[key.0 as usize].as_ref().expect("a value that is in use").0
    }

    /// Ends one use.
    pub fn drop_one(&mut self, key: Key) {
        _ = self.take(key);
    }

    /// The value, for one of its uses.
    pub fn take(&mut self, key: Key) -> V {
        let slot = &mut self.slots[key.0 as usize];
        let (value, uses) = slot.as_mut().expect("a value that is in use");
        if *uses > 1 {
            *uses -= 1;
            return value.clone();
        }
        let (value, _) = slot.take().expect("a value that is in use");
        self.free.push(key.0);
        value
    }
}
