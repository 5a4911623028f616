//! Random programs of a few hosts on the machine: with no failure but power's, and with that of each host, no state is shown
//! that the model forbids.

#[path = "../../../order/tests/all/hosts/programs.rs"]
mod programs;

use crate::case::Case;
use crate::thinning::amount;
use programs::Programs;
use strandline_crash::litmus::{conform, Registered};

/// Programs of a case. The model takes most of the time.
const OF_A_CASE: usize = 25;

/// All of them: thoroughly a million runs.
pub fn cases() -> Vec<Case> {
    let (cases, machines) = if amount().thorough { (400, 100) } else { (1, 8) };
    let case = |number: u64| {
        Case::new("random_hosts", format!("{number}"), 200, move || {
            agrees(number + 1, machines)
        })
    };
    (0..cases).map(case).collect()
}

fn agrees(seed: u64, machines: u64) -> Result<(), String> {
    let x86 = Registered::named("x86").expect("a design");
    let mut compared = 0;
    for test in Programs::from(seed, false).take(OF_A_CASE) {
        // Some have more candidate executions than a model evaluates.
        let Ok(Some(found)) = conform(&x86, &test, None, machines, seed) else {
            continue;
        };
        compared += 1;
        if let Some(stuck) = found.stuck {
            return Err(format!("{test}{:?}", stuck.detail));
        }
        if let Some(violation) = found.violations.first() {
            return Err(format!(
                "{test}shows {}, seed {}, {}",
                test.show_state(&violation.values),
                violation.seed,
                violation.detail.join("\n")
            ));
        }
    }
    match compared >= OF_A_CASE / 4 {
        true => Ok(()),
        false => Err(format!("{compared} of {OF_A_CASE} programs compared")),
    }
}
