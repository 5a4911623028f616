//! The operations of a run on a map, and whether a crash state is durably linearizable.
//!
//! A program without failure-atomic regions promises this (Izraelevitz et al., DISC 2016): the recovered map is the
//! result of operations in an order that respects their real-time order; those that have returned are among them, and
//! of those under way any. A map is linearizable if each of its keys is (Herlihy and Wing, TOPLAS 1990, section 3.3),
//! so keys are judged one by one.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use strandline_isa::Note;

/// One operation on a key.
#[derive(Clone, Copy, Debug)]
struct Operation {
    begun: u64,
    /// When it returned; `u64::MAX` if it has not.
    returned: u64,
    /// What it leaves; `None` if it removes the key.
    value: Option<u64>,
    /// Whether it has changed the map, as far as is known.
    changed: bool,
}

/// An operation: its key, and its number among those of the key.
#[derive(Clone, Copy, Debug)]
struct OperationId {
    key: u64,
    number: usize,
}

/// The operations of a run, by key. Times are of any clock that does not go back.
#[derive(Clone, Debug, Default)]
pub struct Operations {
    keys: BTreeMap<u64, Vec<Operation>>,
    /// Those of each core and slot of its window that have not returned, oldest first.
    open: BTreeMap<(usize, u32), VecDeque<OperationId>>,
    begun: u64,
    returned: u64,
}

/// A key with a value that no order of the operations explains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unexplained {
    /// The key.
    pub key: u64,
    /// Its value; `None` if the map does not hold it.
    pub found: Option<u64>,
    /// What the newest operation that had returned left, and when it returned; without one, what was there before the run.
    pub expected: (Option<u64>, u64),
}

impl Operations {
    /// A slot of a core's window notes something: that an operation begins, or that its oldest one has returned.
    pub fn note(&mut self, of: (usize, u32), note: Note, at: u64) {
        match note {
            Note::OperationBegin { key, value } => {
                let operation = self.begin(key, value, at);
                self.open.entry(of).or_default().push_back(operation);
            }
            Note::OperationDurable { changed } => {
                if let Some(operation) = self.open.get_mut(&of).and_then(VecDeque::pop_front) {
                    self.end(operation, changed, at);
                }
            }
            _ => {}
        }
    }

    /// An operation begins: what it will leave of a key.
    fn begin(&mut self, key: u64, value: Option<u64>, at: u64) -> OperationId {
        let of_key = self.keys.entry(key).or_default();
        of_key.push(Operation {
            begun: at,
            returned: u64::MAX,
            value,
            changed: true,
        });
        self.begun += 1;
        OperationId {
            key,
            number: of_key.len() - 1,
        }
    }

    /// An operation has returned, and has `changed` the map or not.
    fn end(&mut self, id: OperationId, changed: bool, at: u64) {
        let operation = &mut self.keys.get_mut(&id.key).expect("it has begun")[id.number];
        (operation.returned, operation.changed) = (at, changed);
        self.returned += 1;
    }

    /// How many have begun.
    #[must_use]
    pub fn begun(&self) -> u64 {
        self.begun
    }

    /// How many have returned.
    #[must_use]
    pub fn returned(&self) -> u64 {
        self.returned
    }

    /// Whether `contents` may be left of a map that held `initial` before the run by a crash in which the operations that
    /// began by `begun` may have left traces, and those that returned before `returned` must have.
    ///
    /// # Errors
    /// The first key that no order explains.
    pub fn explain(
        &self,
        initial: &BTreeMap<u64, u64>,
        contents: &BTreeMap<u64, u64>,
        begun: u64,
        returned: u64,
    ) -> Result<(), Unexplained> {
        let keys: BTreeSet<u64> = [initial.keys(), contents.keys()]
            .into_iter()
            .flatten()
            .copied()
            .collect();
        let keys = keys.into_iter().chain(self.keys.keys().copied());
        for key in keys {
            let (before, found) = (initial.get(&key).copied(), contents.get(&key).copied());
            let of_key = self.keys.get(&key).map_or(&[][..], Vec::as_slice);
            let there = || of_key.iter().filter(|op| op.changed && op.begun <= begun);
            let must = || there().filter(|op| op.returned < returned);
            // An operation that began after another had returned hides that one, once it has returned itself.
            let is_hidden = |since: u64| must().any(|later| later.begun > since);
            let is_left = found == before && must().next().is_none();
            if !is_left && !there().any(|op| op.value == found && !is_hidden(op.returned)) {
                let newest = must().max_by_key(|op| op.returned);
                return Err(Unexplained {
                    key,
                    found,
                    expected: newest.map_or((before, 0), |op| (op.value, op.returned)),
                });
            }
        }
        Ok(())
    }
}

impl fmt::Display for Unexplained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |value: &Option<u64>| value.map_or("no value".to_owned(), |value| format!("{value:#x}"));
        let (expected, _) = &self.expected;
        write!(
            f,
            "key {:#x} has {}; the newest operation that returned left {}",
            self.key,
            of(&self.found),
            of(expected)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Operations on key 7: what they leave, when they begin, and when they return.
    fn of_key_7(list: &[(Option<u64>, u64, Option<u64>)]) -> Operations {
        let mut operations = Operations::default();
        for (value, begun, returned) in list {
            let id = operations.begin(7, *value, *begun);
            if let Some(returned) = returned {
                operations.end(id, true, *returned);
            }
        }
        operations
    }

    /// Whether a crash at `time` may leave key 7 with this value.
    fn may_be(operations: &Operations, found: Option<u64>, time: u64) -> bool {
        let contents = found.map(|value| (7, value)).into_iter().collect();
        operations
            .explain(&BTreeMap::from([(7, 70)]), &contents, time, time)
            .is_ok()
    }

    #[test]
    fn what_returned_is_kept_and_what_is_under_way_may_be() {
        let operations = of_key_7(&[(Some(71), 10, Some(20)), (Some(72), 30, None)]);
        let allowed = |time| [Some(70), Some(71), Some(72), None].map(|found| may_be(&operations, found, time));
        assert_eq!(allowed(5), [true, false, false, false]);
        assert_eq!(allowed(15), [true, true, false, false]);
        assert_eq!(allowed(25), [false, true, false, false]);
        assert_eq!(allowed(35), [false, true, true, false]);
    }

    #[test]
    fn operations_at_one_time_may_have_either_order() {
        let operations = of_key_7(&[(Some(71), 10, Some(30)), (None, 20, Some(40)), (Some(73), 35, Some(50))]);
        let allowed = |time| [Some(70), Some(71), None, Some(73)].map(|found| may_be(&operations, found, time));
        // The first and the removal overlap, as do the removal and the third; the third began after the first returned.
        assert_eq!(allowed(45), [false, true, true, true]);
        assert_eq!(allowed(60), [false, false, true, true]);
    }

    #[test]
    fn an_operation_that_changed_nothing_explains_nothing_and_hides_nothing() {
        let mut operations = of_key_7(&[(Some(71), 10, Some(20))]);
        let id = operations.begin(7, None, 30);
        operations.end(id, false, 40);
        assert!(may_be(&operations, Some(71), 50));
        assert!(!may_be(&operations, None, 50));
    }

    #[test]
    fn a_key_that_nobody_gave_is_named() {
        let operations = of_key_7(&[]);
        let initial = BTreeMap::from([(7, 70)]);
        let explain = |contents| operations.explain(&initial, &contents, 1, 1).unwrap_err().to_string();
        assert_eq!(
            explain(BTreeMap::from([(7, 70), (9, 1)])),
            "key 0x9 has 0x1; the newest operation that returned left no value"
        );
        assert_eq!(
            explain(BTreeMap::new()),
            "key 0x7 has no value; the newest operation that returned left 0x46"
        );
    }
}
