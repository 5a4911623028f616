//! Whether what threads did to a map, a queue or a priority queue is linearizable.
//!
//! Each thread tells when its operations began and returned. A map is linearizable if each of its keys is (Herlihy and
//! Wing, TOPLAS 1990, section 3.3). For each key, all orders are tried in which no operation comes after one that began
//! when it had returned (Wing and Gong, JPDC 1993); states that were seen are not tried again (Lowe, CCPE 2017).

#[cfg(test)]
mod brute;
mod heap;
mod queue;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;
use strandline_isa::{Call, Note};

/// What an operation did to its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Put(u64),
    /// And whether the key was there.
    Remove(bool),
    Get(Option<u64>),
}

impl What {
    /// The key's value after it, if it fits the value before.
    fn after(self, value: Option<u64>) -> Option<Option<u64>> {
        match self {
            What::Put(new) => Some(Some(new)),
            What::Remove(there) => (there == value.is_some()).then_some(None),
            What::Get(found) => (found == value).then_some(value),
        }
    }
}

/// An operation on a key.
#[derive(Clone, Copy, Debug)]
struct Operation {
    key: u64,
    what: What,
    begun: u64,
    returned: u64,
}

/// A call on a queue or a priority queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Called {
    /// It adds its answer; otherwise it removes it, or finds nothing to remove.
    adds: bool,
    answer: Option<u64>,
    begun: u64,
    returned: u64,
}

/// The order of all beginnings and returns.
static CLOCK: AtomicU64 = AtomicU64::new(0);

/// The threads that have ended.
static ENDED: Mutex<Vec<Thread>> = Mutex::new(Vec::new());

#[derive(Default)]
struct Thread {
    /// Changes that have not returned, oldest first: when they began, and what they leave of their key.
    changes: VecDeque<(u64, u64, Option<u64>)>,
    /// The search that has not returned.
    search: Option<(u64, u64)>,
    /// The call that has not returned.
    call: Option<(u64, Call)>,
    operations: Vec<Operation>,
    /// Calls on a queue.
    queue: Vec<Called>,
    /// Calls on a priority queue.
    heap: Vec<Called>,
}

thread_local! {
    static THREAD: RefCell<Thread> = RefCell::default();
}

/// Tells what the program notes.
pub(crate) fn tell(note: Note) {
    let at = CLOCK.fetch_add(1, Ordering::SeqCst);
    THREAD.with_borrow_mut(|thread| thread.tell(note, at));
}

impl Thread {
    fn tell(&mut self, note: Note, at: u64) {
        match note {
            Note::OperationBegin { key, value } => self.changes.push_back((at, key, value)),
            Note::SearchBegin { key } => self.search = Some((at, key)),
            Note::CallBegin(call) => self.call = Some((at, call)),
            Note::CallEnd { answer } => {
                if let Some((begun, call)) = self.call.take() {
                    self.called(call, answer, begun, at);
                }
            }
            Note::OperationDurable { changed } => {
                let oldest = self.changes.pop_front();
                match oldest {
                    Some((begun, key, Some(value))) if changed => self.ended(key, What::Put(value), begun, at),
                    Some((begun, key, None)) => self.ended(key, What::Remove(changed), begun, at),
                    // An insertion without room has done nothing.
                    _ => {}
                }
            }
            Note::SearchEnd { value } => {
                if let Some((begun, key)) = self.search.take() {
                    self.ended(key, What::Get(value), begun, at);
                }
            }
            _ => {}
        }
    }

    fn ended(&mut self, key: u64, what: What, begun: u64, returned: u64) {
        self.operations.push(Operation {
            key,
            what,
            begun,
            returned,
        });
    }

    /// A call has returned. One that had no room for what it adds has done nothing.
    fn called(&mut self, call: Call, answer: Option<u64>, begun: u64, returned: u64) {
        let called = |adds| Called {
            adds,
            answer,
            begun,
            returned,
        };
        match call {
            Call::Enqueue(_) | Call::Insert(_) | Call::Put { .. } if answer.is_none() => {}
            Call::Enqueue(_) => self.queue.push(called(true)),
            Call::Dequeue => self.queue.push(called(false)),
            Call::Insert(_) => self.heap.push(called(true)),
            Call::DeleteMin => self.heap.push(called(false)),
            Call::Put { key, value } => self.ended(key, What::Put(value), begun, returned),
            Call::Remove(key) => self.ended(key, What::Remove(answer.is_some()), begun, returned),
            Call::Get(key) => self.ended(key, What::Get(answer), begun, returned),
        }
    }
}

/// This thread has ended.
pub(crate) fn end_thread() {
    let thread = THREAD.with_borrow_mut(std::mem::take);
    ENDED.lock().expect("no thread panics here").push(thread);
}

/// How many operations the threads told, if they are linearizable between these contents.
pub(crate) fn verdict(before: &BTreeMap<u64, u64>, after: &BTreeMap<u64, u64>) -> Result<u64, String> {
    let ended = std::mem::take(&mut *ENDED.lock().expect("no thread panics here"));
    let values = |contents: &BTreeMap<u64, u64>| -> Vec<u64> { contents.values().copied().collect() };
    let calls = |of: fn(&Thread) -> &Vec<Called>| -> Option<Vec<Vec<Called>>> {
        let calls: Vec<_> = ended.iter().map(of).cloned().collect();
        calls.iter().any(|calls| !calls.is_empty()).then_some(calls)
    };
    if let Some(calls) = calls(|thread| &thread.queue) {
        return queue::judge(&calls, &values(before), &values(after));
    }
    if let Some(calls) = calls(|thread| &thread.heap) {
        return heap::judge(&calls, &values(before), &values(after));
    }
    let operations: Vec<_> = ended.into_iter().map(|thread| thread.operations).collect();
    judge(&operations, before, after)
}

fn judge(threads: &[Vec<Operation>], before: &BTreeMap<u64, u64>, after: &BTreeMap<u64, u64>) -> Result<u64, String> {
    let mut keys: BTreeMap<u64, Vec<Vec<Operation>>> = BTreeMap::new();
    for (thread, operations) in threads.iter().enumerate() {
        for operation in operations {
            let of_key = keys
                .entry(operation.key)
                .or_insert_with(|| vec![Vec::new(); threads.len()]);
            of_key[thread].push(*operation);
        }
    }
    for (key, of_key) in &keys {
        let ends = |map: &BTreeMap<u64, u64>| map.get(key).copied();
        if !has_order(of_key, ends(before), ends(after)) {
            return Err(format!(
                "the {} operations on key {key:#x} have no order in which a map would do the same",
                of_key.iter().map(Vec::len).sum::<usize>()
            ));
        }
    }
    Ok(threads.iter().map(Vec::len).sum::<usize>() as u64)
}

/// Whether some order of a key's operations leads from one value to the other.
fn has_order(threads: &[Vec<Operation>], before: Option<u64>, after: Option<u64>) -> bool {
    let start = (vec![0_usize; threads.len()], before);
    let (mut seen, mut left) = (HashSet::from([start.clone()]), vec![start]);
    while let Some((done, value)) = left.pop() {
        let next = |thread: usize| threads[thread].get(done[thread]);
        let all = || (0..threads.len()).filter_map(next);
        let Some(first_return) = all().map(|operation| operation.returned).min() else {
            if value == after {
                return true;
            }
            continue;
        };
        for thread in 0..threads.len() {
            let Some(operation) = next(thread).filter(|operation| operation.begun < first_return) else {
                continue;
            };
            if let Some(value) = operation.what.after(value) {
                let mut done = done.clone();
                done[thread] += 1;
                if seen.insert((done.clone(), value)) {
                    left.push((done, value));
                }
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Operations of two threads on key 1, each with its begin and return.
    fn judged(first: &[(What, u64, u64)], second: &[(What, u64, u64)], after: Option<u64>) -> Result<u64, String> {
        let thread = |list: &[(What, u64, u64)]| -> Vec<Operation> {
            let operation = |(what, begun, returned): &(What, u64, u64)| Operation {
                key: 1,
                what: *what,
                begun: *begun,
                returned: *returned,
            };
            list.iter().map(operation).collect()
        };
        let after = after.map(|value| (1, value)).into_iter().collect();
        judge(&[thread(first), thread(second)], &BTreeMap::new(), &after)
    }

    #[test]
    fn operations_at_one_time_may_have_either_order() {
        for found in [None, Some(7)] {
            let got = judged(&[(What::Put(7), 0, 5)], &[(What::Get(found), 1, 4)], Some(7));
            assert_eq!(got, Ok(2), "{found:?}");
        }
        let removed = |there| judged(&[(What::Put(7), 0, 5)], &[(What::Remove(there), 1, 6)], None);
        assert_eq!(removed(true), Ok(2));
        // It removed nothing, so the insertion came later.
        assert!(removed(false).is_err());
    }

    #[test]
    fn a_stale_read_a_lost_insertion_and_a_value_from_nowhere_are_found() {
        assert!(judged(&[(What::Put(7), 0, 1)], &[(What::Get(None), 2, 3)], Some(7)).is_err());
        assert!(judged(&[(What::Put(7), 0, 1)], &[], None).is_err());
        assert!(judged(&[(What::Put(7), 0, 1)], &[(What::Get(Some(8)), 0, 3)], Some(7)).is_err());
        // Two reads by one thread see the values in the wrong order.
        let writes = [(What::Put(7), 0, 9), (What::Put(8), 10, 30)];
        let reads = [(What::Get(Some(8)), 11, 12), (What::Get(Some(7)), 13, 14)];
        assert!(judged(&writes, &reads, Some(8)).is_err());
    }
}
