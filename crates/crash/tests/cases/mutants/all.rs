//! All mutants: those of each family of designs, in its folder, and those of the machine and the logs.

use super::machine;
use super::table::Mutant;

#[path = "../../../../designs/src/battery/mutants.rs"]
mod battery;
#[path = "../../../../designs/src/coroutines/mutants.rs"]
mod coroutines;
#[path = "../../../../designs/src/dpo/mutants.rs"]
mod dpo;
#[path = "../../../../designs/src/epochs/mutants.rs"]
mod epochs;
#[path = "../../../../designs/src/lb_pp/mutants.rs"]
mod lb_pp;
#[path = "../../../../designs/src/plain/mutants.rs"]
mod plain;
#[path = "../../../../designs/src/pmem_spec/mutants.rs"]
mod pmem_spec;
#[path = "../../../../designs/src/speculative/mutants.rs"]
mod speculative;
#[path = "../../../../designs/src/strands/mutants.rs"]
mod strands;
#[path = "../../../../designs/src/switch/mutants.rs"]
mod switch;

/// They, by family.
const FAMILIES: [&[Mutant]; 11] = [
    plain::MUTANTS,
    battery::MUTANTS,
    coroutines::MUTANTS,
    strands::MUTANTS,
    switch::MUTANTS,
    dpo::MUTANTS,
    lb_pp::MUTANTS,
    epochs::MUTANTS,
    pmem_spec::MUTANTS,
    speculative::MUTANTS,
    machine::MUTANTS,
];

/// All of them.
pub fn mutants() -> Vec<&'static Mutant> {
    FAMILIES.into_iter().flatten().collect()
}
