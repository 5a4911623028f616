//! Whether calls on a priority queue of distinct values are linearizable. The upper half of a value is its priority.
//!
//! All orders are tried as for a key of a map. What the queue holds follows from the calls that are done, so these
//! alone are the state. A removal that fits is done at once: any order in which it comes later stays one if it comes
//! first, as no other removal needs its value. So only additions are a choice.

use super::Called;
use std::collections::{BTreeSet, HashSet};

/// How many calls there are, if they are linearizable between these contents.
pub(super) fn judge(threads: &[Vec<Called>], before: &[u64], after: &[u64]) -> Result<u64, String> {
    let calls = threads.iter().map(Vec::len).sum::<usize>() as u64;
    let mut all: Vec<u64> = threads
        .iter()
        .flatten()
        .filter(|call| call.adds)
        .filter_map(|call| call.answer)
        .collect();
    all.extend(before);
    let different: BTreeSet<u64> = all.iter().copied().collect();
    if different.len() < all.len() {
        return Err("a value is added twice: values must differ".to_owned());
    }
    let mut search = Search {
        threads,
        done: vec![0; threads.len()],
        held: before.iter().copied().collect(),
        trail: Vec::new(),
    };
    match search.has_order(&after.iter().copied().collect()) {
        true => Ok(calls),
        false => Err(format!(
            "the {calls} calls have no order in which a priority queue would do the same"
        )),
    }
}

/// A search for an order.
struct Search<'t> {
    threads: &'t [Vec<Called>],
    /// How many calls of each thread are done.
    done: Vec<usize>,
    held: BTreeSet<u64>,
    /// The threads of the calls that are done, in their order.
    trail: Vec<usize>,
}

/// A state in which only additions were left to do first.
struct Choice {
    trail: usize,
    /// The threads of those additions that were not tried, the best last.
    left: Vec<usize>,
}

impl Search<'_> {
    fn has_order(&mut self, after: &BTreeSet<u64>) -> bool {
        let mut seen = HashSet::new();
        let mut choices: Vec<Choice> = Vec::new();
        loop {
            self.remove_all();
            let left = self.additions();
            if left.is_empty() && self.is_done() && self.held == *after {
                return true;
            }
            let left = if seen.insert(self.done.clone()) {
                left
            } else {
                Vec::new()
            };
            choices.push(Choice {
                trail: self.trail.len(),
                left,
            });
            let next = loop {
                let Some(choice) = choices.last_mut() else { return false };
                while self.trail.len() > choice.trail {
                    self.undo();
                }
                match choice.left.pop() {
                    Some(next) => break next,
                    None => _ = choices.pop(),
                }
            };
            self.apply(next);
        }
    }

    fn is_done(&self) -> bool {
        self.done
            .iter()
            .zip(self.threads)
            .all(|(done, calls)| *done == calls.len())
    }

    /// The threads whose next calls may come first: no other had returned when they began.
    fn candidates(&self) -> Vec<(usize, Called)> {
        let next = |thread: usize| self.threads[thread].get(self.done[thread]).map(|call| (thread, *call));
        let all: Vec<_> = (0..self.threads.len()).filter_map(next).collect();
        let first_return = all.iter().map(|(_, call)| call.returned).min().unwrap_or(0);
        all.into_iter().filter(|(_, call)| call.begun < first_return).collect()
    }

    /// Does all removals that fit.
    fn remove_all(&mut self) {
        while let Some((thread, _)) = self
            .candidates()
            .into_iter()
            .find(|(_, call)| !call.adds && self.fits(call))
        {
            self.apply(thread);
        }
    }

    /// Whether a removal finds what it has found.
    fn fits(&self, call: &Called) -> bool {
        match (call.answer, self.held.first()) {
            (None, least) => least.is_none(),
            (Some(value), Some(least)) => value >> 32 == least >> 32 && self.held.contains(&value),
            (Some(_), None) => false,
        }
    }

    /// The threads with additions that may come first: those that a removal waits for last, then those that return
    /// first.
    fn additions(&self) -> Vec<usize> {
        let candidates = self.candidates();
        let wanted = |value| candidates.iter().any(|(_, call)| !call.adds && call.answer == value);
        let mut additions: Vec<_> = candidates.iter().filter(|(_, call)| call.adds).collect();
        additions.sort_by_key(|(_, call)| (wanted(call.answer), u64::MAX - call.returned));
        additions.into_iter().map(|(thread, _)| *thread).collect()
    }

    /// Does the next call of a thread.
    fn apply(&mut self, thread: usize) {
        let call = self.threads[thread][self.done[thread]];
        if let Some(value) = call.answer {
            match call.adds {
                true => self.held.insert(value),
                false => self.held.remove(&value),
            };
        }
        self.done[thread] += 1;
        self.trail.push(thread);
    }

    /// Takes back the newest call.
    fn undo(&mut self) {
        let Some(thread) = self.trail.pop() else { return };
        self.done[thread] -= 1;
        let call = self.threads[thread][self.done[thread]];
        if let Some(value) = call.answer {
            match call.adds {
                true => self.held.remove(&value),
                false => self.held.insert(value),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::brute::{agrees_with_search, called};
    use super::*;

    #[test]
    fn an_order_is_found_where_there_is_one() {
        let step = |state: &BTreeSet<u64>, call: &Called| {
            let mut state = state.clone();
            let least = state.first().map(|least| least >> 32);
            match (call.adds, call.answer) {
                (true, Some(value)) => _ = state.insert(value),
                (_, None) if least.is_none() => {}
                (false, Some(value)) if least == Some(value >> 32) && state.remove(&value) => {}
                _ => return None,
            }
            Some(state)
        };
        let judge = |threads: &[Vec<Called>], before: &[u64], after: &[u64]| judge(threads, before, after).is_ok();
        agrees_with_search(step, judge);
    }

    #[test]
    fn a_lost_value_a_foreign_one_and_a_wrong_order_are_found() {
        let of = |priority: u64| priority << 32;
        let add = |value, begun, returned| called(true, Some(value), begun, returned);
        let remove = |value, begun, returned| called(false, Some(value), begun, returned);
        let cases: [(&[Called], &[u64], &[u64]); 6] = [
            (&[add(of(1), 0, 1)], &[], &[]),
            (&[remove(of(1), 0, 1)], &[], &[]),
            (&[remove(of(2), 0, 1)], &[of(1), of(2)], &[of(1)]),
            (&[remove(of(1), 0, 1), remove(of(1), 2, 3)], &[of(1)], &[]),
            (&[called(false, None, 0, 1)], &[of(1)], &[of(1)]),
            (&[add(of(1), 0, 1)], &[of(1)], &[of(1)]),
        ];
        for (calls, before, after) in cases {
            assert!(judge(&[calls.to_vec()], before, after).is_err(), "{calls:?}");
        }
        // Equal priorities have no order.
        let equal = [of(1), of(1) + 1];
        for value in equal {
            let left = equal.into_iter().filter(|other| *other != value).collect::<Vec<_>>();
            assert_eq!(judge(&[vec![remove(value, 0, 1)]], &equal, &left), Ok(1));
        }
    }
}
