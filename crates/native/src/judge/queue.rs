//! Whether calls on a queue of distinct values are linearizable.
//!
//! They are if none of four patterns occurs (Henzinger, Sezgin and Vafeiadis, CONCUR 2013): a value is removed that was
//! not added before; it is removed twice; two values are added in one order and removed in the other; a call finds
//! nothing although at each moment some value was there.
//!
//! What the queue holds before the run counts as added before, and what it holds at the end as removed after, in their
//! order.

use super::Called;
use std::collections::BTreeMap;

/// When a value was added and removed: begin and return of each.
#[derive(Clone, Copy, Debug, Default)]
struct Value {
    added: Option<(u64, u64)>,
    removed: Option<(u64, u64)>,
}

/// How many calls there are, if they are linearizable between these contents, first value first.
pub(super) fn judge(threads: &[Vec<Called>], before: &[u64], after: &[u64]) -> Result<u64, String> {
    let calls = || threads.iter().flatten();
    let shift = 2 * before.len() as u64;
    let end = shift + 1 + calls().map(|call| call.returned).max().unwrap_or(0);
    let during = |call: &Called| (shift + call.begun, shift + call.returned);
    let turn = |i: usize| (2 * i as u64, 2 * i as u64 + 1);

    let mut values: BTreeMap<u64, Value> = BTreeMap::new();
    let added = before.iter().enumerate().map(|(i, value)| (*value, turn(i)));
    let added = added.chain(
        calls()
            .filter(|call| call.adds)
            .filter_map(|call| Some((call.answer?, during(call)))),
    );
    for (value, when) in added {
        if values.entry(value).or_default().added.replace(when).is_some() {
            return Err(format!("{value:#x} is added twice: values must differ"));
        }
    }
    let removed = calls()
        .filter(|call| !call.adds)
        .filter_map(|call| Some((call.answer?, during(call))));
    let left = after
        .iter()
        .enumerate()
        .map(|(i, value)| (*value, (end + turn(i).0, end + turn(i).1)));
    for (value, when) in removed.chain(left) {
        if values.entry(value).or_default().removed.replace(when).is_some() {
            return Err(format!("{value:#x} is removed twice, or removed and there at the end"));
        }
    }
    let empty: Vec<(u64, u64)> = calls()
        .filter(|call| !call.adds && call.answer.is_none())
        .map(during)
        .collect();
    let lives = lives(&values)?;
    in_order(&lives)?;
    never_full(&lives, &empty)?;
    Ok(calls().count() as u64)
}

/// A value from its addition to its removal: begin and return of each.
struct Life {
    value: u64,
    added: (u64, u64),
    removed: (u64, u64),
}

/// Each value was added before it was removed. All are removed.
fn lives(values: &BTreeMap<u64, Value>) -> Result<Vec<Life>, String> {
    let life = |(value, when): (&u64, &Value)| match (when.added, when.removed) {
        (Some(added), Some(removed)) if added.0 < removed.1 => Ok(Life {
            value: *value,
            added,
            removed,
        }),
        (Some(_), Some(_)) => Err(format!("{value:#x} is removed before it is added")),
        (None, _) => Err(format!("{value:#x} is removed, and was never added")),
        (Some(_), None) => Err(format!("{value:#x} is lost")),
    };
    values.iter().map(life).collect()
}

/// No two values were added in one order and removed in the other.
fn in_order(lives: &[Life]) -> Result<(), String> {
    let mut first: Vec<&Life> = lives.iter().collect();
    let mut second = first.clone();
    first.sort_by_key(|life| life.added.1);
    second.sort_by_key(|life| life.added.0);
    let mut first = first.into_iter().peekable();
    // Of the values that were added before this one began to be, the one whose removal began last.
    let mut last: Option<&Life> = None;
    for life in second {
        while let Some(earlier) = first.next_if(|earlier| earlier.added.1 < life.added.0) {
            if last.is_none_or(|last| last.removed.0 < earlier.removed.0) {
                last = Some(earlier);
            }
        }
        if let Some(last) = last.filter(|last| life.removed.1 < last.removed.0) {
            return Err(format!(
                "{:#x} was added before {:#x}, but removed after it",
                last.value, life.value
            ));
        }
    }
    Ok(())
}

/// Each call that found nothing ran at some moment at which no value was there for certain.
fn never_full(lives: &[Life], empty: &[(u64, u64)]) -> Result<(), String> {
    let certain = lives.iter().map(|life| (life.added.1, life.removed.0));
    let mut certain: Vec<(u64, u64)> = certain.filter(|(from, to)| from < to).collect();
    certain.sort_unstable();
    // Each from here on overlaps none of the others: in all of it some value is there.
    let mut full: Vec<(u64, u64)> = Vec::new();
    for (from, to) in certain {
        match full.last_mut() {
            Some(last) if from < last.1 => last.1 = last.1.max(to),
            _ => full.push((from, to)),
        }
    }
    for (begun, returned) in empty {
        let before = full.partition_point(|(from, _)| from < begun);
        if before > 0 && full[before - 1].1 > *returned {
            return Err("a call found nothing, but at each moment some value was there".to_owned());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::brute::{agrees_with_search, called};
    use super::*;
    use std::collections::VecDeque;

    #[test]
    fn the_patterns_are_found_where_no_order_explains_the_calls() {
        let step = |state: &VecDeque<u64>, call: &Called| {
            let mut state = state.clone();
            match (call.adds, call.answer) {
                (true, Some(value)) => state.push_back(value),
                (_, answer) if state.pop_front() == answer => {}
                _ => return None,
            }
            Some(state)
        };
        let judge = |threads: &[Vec<Called>], before: &[u64], after: &[u64]| judge(threads, before, after).is_ok();
        agrees_with_search(step, judge);
    }

    /// The fault of one thread's calls.
    fn fault(calls: &[Called], before: &[u64], after: &[u64]) -> String {
        judge(&[calls.to_vec()], before, after).unwrap_err()
    }

    #[test]
    fn each_violation_is_named() {
        let add = |value, begun, returned| called(true, Some(value), begun, returned);
        let remove = |value, begun, returned| called(false, Some(value), begun, returned);
        let nothing = called(false, None, 2, 3);
        for (found, expected) in [
            (
                fault(&[add(1, 0, 1), add(2, 2, 3), remove(2, 4, 5)], &[], &[1]),
                "0x1 was added before 0x2",
            ),
            (fault(&[remove(9, 0, 1)], &[8, 9], &[8]), "0x8 was added before 0x9"),
            (fault(&[remove(7, 0, 1)], &[], &[]), "never added"),
            (fault(&[remove(7, 0, 1), add(7, 2, 3)], &[], &[]), "removed before"),
            (fault(&[add(7, 0, 1), remove(7, 2, 3)], &[], &[7]), "removed twice"),
            (fault(&[add(7, 0, 1), add(7, 2, 3)], &[], &[7]), "added twice"),
            (fault(&[add(7, 0, 1)], &[], &[]), "lost"),
            (fault(&[add(7, 0, 1), nothing], &[], &[7]), "found nothing"),
        ] {
            assert!(found.contains(expected), "{found}");
        }
    }

    #[test]
    fn two_values_that_cover_a_call_together_are_found() {
        // 1 is there until 2 is, so the call had no moment to find nothing.
        let first = [called(true, Some(1), 0, 1), called(false, Some(1), 5, 6)];
        let second = [called(true, Some(2), 3, 4)];
        let third = [called(false, None, 2, 7)];
        let threads = |third: &[Called]| [first.to_vec(), second.to_vec(), third.to_vec()];
        assert!(judge(&threads(&third), &[], &[2]).is_err());
        assert_eq!(judge(&threads(&[]), &[], &[2]), Ok(3));
    }
}
