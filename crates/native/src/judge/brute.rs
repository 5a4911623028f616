//! A judge that tries every order, for tests of the others.

use super::Called;
use std::collections::HashMap;
use strandline_kernel::Rng;

/// A call with these times.
pub(super) fn called(adds: bool, answer: Option<u64>, begun: u64, returned: u64) -> Called {
    Called {
        adds,
        answer,
        begun,
        returned,
    }
}

/// The state after a call, if its answer fits the state before.
type StepOf<'s, S> = &'s dyn Fn(&S, &Called) -> Option<S>;

/// Whether some order leads to `after`.
fn has_order<S: Clone + PartialEq>(
    threads: &[Vec<Called>],
    done: &mut [usize],
    state: &S,
    after: &S,
    step: StepOf<'_, S>,
) -> bool {
    let next = |thread: usize, done: &[usize]| threads[thread].get(done[thread]).copied();
    let all: Vec<Called> = (0..threads.len()).filter_map(|thread| next(thread, done)).collect();
    let Some(first_return) = all.iter().map(|call| call.returned).min() else {
        return state == after;
    };
    (0..threads.len()).any(|thread| {
        let Some(call) = next(thread, done).filter(|call| call.begun < first_return) else {
            return false;
        };
        let Some(state) = step(state, &call) else { return false };
        done[thread] += 1;
        let found = has_order(threads, done, &state, after, step);
        done[thread] -= 1;
        found
    })
}

/// Random calls of three threads, whose answers some order explains.
fn linearizable<S: Clone + Default>(rng: &mut Rng, before: &[u64], step: StepOf<'_, S>) -> (Vec<Vec<Called>>, S) {
    let mut state = before.iter().fold(S::default(), |state, value| {
        step(&state, &called(true, Some(*value), 0, 0)).expect("an addition fits")
    });
    let mut threads = vec![Vec::new(); 3];
    // What each thread does next, and when its call began: it begins, takes effect, returns.
    let mut open: HashMap<usize, (Called, bool)> = HashMap::new();
    let mut values = before.to_vec();
    for time in 0..22 {
        let thread = rng.below(3) as usize;
        match open.remove(&thread) {
            None => {
                let answer = next_value(rng, time);
                _ = open.insert(thread, (called(rng.below(2) == 0, Some(answer), time, 0), false));
            }
            Some((mut call, false)) => {
                if call.adds {
                    values.extend(call.answer);
                }
                let answers = values.iter().map(|value| Some(*value)).chain([None]);
                let answers = if call.adds {
                    vec![call.answer]
                } else {
                    answers.collect()
                };
                let fitting = answers.into_iter().find_map(|answer| {
                    call.answer = answer;
                    step(&state, &call)
                });
                state = fitting.expect("some answer fits");
                _ = open.insert(thread, (call, true));
            }
            Some((mut call, true)) => {
                call.returned = time;
                threads[thread].push(call);
            }
        }
    }
    // Calls that have taken effect return.
    for (thread, (mut call, _)) in open.into_iter().filter(|(_, (_, done))| *done) {
        call.returned = 100 + thread as u64;
        threads[thread].push(call);
    }
    (threads, state)
}

/// A value of one of a few priorities, with a lower half of its own.
fn next_value(rng: &mut Rng, time: u64) -> u64 {
    rng.below(4) << 32 | (10 + time)
}

/// Gives some removal another answer.
fn damage(rng: &mut Rng, threads: &mut [Vec<Called>]) {
    let answers: Vec<Option<u64>> = threads.iter().flatten().map(|call| call.answer).chain([None]).collect();
    let mut removals: Vec<&mut Called> = threads.iter_mut().flatten().filter(|call| !call.adds).collect();
    if removals.is_empty() {
        return;
    }
    let which = rng.below(removals.len() as u64) as usize;
    removals[which].answer = answers[rng.below(answers.len() as u64) as usize];
}

/// Compares a judge with the search, on random calls of which about half are damaged.
pub(super) fn agrees_with_search<S: Clone + Default + PartialEq + IntoIterator<Item = u64>>(
    step: impl Fn(&S, &Called) -> Option<S>,
    judge: impl Fn(&[Vec<Called>], &[u64], &[u64]) -> bool,
) {
    let mut found = [0, 0];
    for seed in 0..4000 {
        let mut rng = Rng::new(seed);
        let before: Vec<u64> = (0..rng.below(3)).map(|i| next_value(&mut rng, 90 + i)).collect();
        let (mut threads, after) = linearizable(&mut rng, &before, &step);
        if rng.below(2) == 0 {
            damage(&mut rng, &mut threads);
        }
        let start = before.iter().fold(S::default(), |state, value| {
            step(&state, &called(true, Some(*value), 0, 0)).expect("an addition fits")
        });
        let expected = has_order(&threads, &mut [0; 3], &start, &after, &step);
        let after: Vec<u64> = after.into_iter().collect();
        assert_eq!(
            judge(&threads, &before, &after),
            expected,
            "seed {seed}: {threads:?} from {before:?} to {after:?}"
        );
        found[usize::from(expected)] += 1;
    }
    assert!(found.iter().all(|times| *times > 500), "{found:?}");
}
