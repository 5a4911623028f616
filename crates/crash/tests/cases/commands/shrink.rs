//! Shrinks a failing command to the shortest one with the same failure.

use strandline_sim::Spec;

/// Maximum number of tried commands.
const TRIALS: usize = 150;

/// Leaves out one option after the other and reduces numbers, as long as the command still `fails`.
pub fn shortest(mut spec: Spec, fails: impl Fn(&Spec) -> bool) -> Spec {
    let mut trials = TRIALS;
    while let Some(shorter) = shorter(&spec).into_iter().take(trials).find(|shorter| {
        trials = trials.saturating_sub(1);
        fails(shorter)
    }) {
        spec = shorter;
    }
    spec
}

/// Commands that are one step shorter, the largest steps first.
fn shorter(spec: &Spec) -> Vec<Spec> {
    let mut steps: Vec<Spec> = Vec::new();
    let mut step = |change: &dyn Fn(&mut Spec)| {
        let mut shorter = spec.clone();
        change(&mut shorter);
        if shorter != *spec {
            steps.push(shorter);
        }
    };
    step(&|spec| spec.set.clear());
    step(&|spec| spec.window = None);
    step(&|spec| spec.coroutines = None);
    step(&|spec| spec.runtime = None);
    step(&|spec| spec.machine = None);
    for index in 0..spec.set.len() {
        step(&|spec| _ = spec.set.remove(index));
    }
    for smaller in smaller(spec.threads) {
        step(&|spec| spec.threads = Some(smaller));
    }
    for smaller in smaller(spec.tasks) {
        step(&|spec| spec.tasks = Some(smaller));
    }
    step(&|spec| spec.seed = 1);
    steps
}

/// One, half, and one less.
fn smaller(number: Option<u64>) -> Vec<u64> {
    let number = number.unwrap_or(1);
    let mut smaller = vec![1, number / 2, number - 1];
    smaller.retain(|smaller| (1..number).contains(smaller));
    smaller
}
