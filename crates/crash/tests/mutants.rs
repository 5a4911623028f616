//! A checker is believed after it has caught planted mistakes: broken variants of the designs, the machine and the undo
//! log, and what catches each.

#[path = "mutants/design.rs"]
mod design;
#[path = "mutants/exploration.rs"]
mod exploration;
#[path = "mutants/programs.rs"]
mod programs;
#[path = "mutants/table.rs"]
mod table;

use std::collections::BTreeSet;
use table::{Broken, Catcher, MUTANTS};

#[test]
fn zzz_programs() {
    for mutant in MUTANTS.iter().filter(|m| !matches!(m.broken, Broken::Log(_))) {
        let out = programs::run(mutant, false);
        let claimed = mutant.caught_by.contains(&Catcher::Program);
        println!(
            "{} {} {:?} sound {:?}",
            if claimed == out.is_some() { "  " } else { "!!" },
            mutant.name,
            out,
            programs::run(mutant, true)
        );
    }
}

#[test]
fn zzz_survey() {
    let only = std::env::var("ONLY").unwrap_or_default();
    for mutant in MUTANTS.iter().filter(|m| {
        m.name.contains(&only) && ["x86", "eadr"].contains(&&m.design[..m.design.len().min(4)].trim_end_matches('-'))
    }) {
        let t = std::time::Instant::now();
        let out = exploration::explore(mutant);
        let claimed = mutant.caught_by.contains(&Catcher::Exploration);
        println!(
            "{} {} {:.1}s {} {}",
            if claimed == out.is_some() { "  " } else { "!!" },
            mutant.name,
            t.elapsed().as_secs_f64(),
            claimed,
            out.unwrap_or_default().chars().take(110).collect::<String>()
        );
    }
}
