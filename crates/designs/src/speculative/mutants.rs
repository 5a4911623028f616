//! Broken variants of Speculative Persistence, and what notices each. The tests of `crates/crash` compile this file.

use crate::mutants::table::*;
use strandline_designs::rules::Speculative;
use strandline_rules::Rule;

#[rustfmt::skip]
pub const MUTANTS: &[Mutant] = &[
    // sp and sp-adr.
    mutant("sp/no-pcommit", "sp", D(Change::Lowering(|l| { l.log_before_update = &[Primitive::Sfence]; l.durable = &[Primitive::Sfence]; }), "Without ADR an accepted write is not durable before a pcommit. Broken: sync barriers have none.", SP), &[NO_ADR], &[E, T]),
    mutant("sp/pcommit-first-answer", "sp", B(Speculative::SpAwaitsEveryController.any()), &[NO_ADR, TWO_CONTROLLERS[0], TWO_CONTROLLERS[1]], &[E, T]),
    mutant("sp/stores-leave-early", "sp", B(Speculative::SpStoresWaitForCommit.any()), &[], &[P, R]),
    mutant("sp/pcommit-not-awaited", "sp", B(Speculative::SpAwaitsPcommit.any()), &[NO_ADR], &[E, T, R]),
    mutant("sp/void-stores-stay", "sp", B(Speculative::SpRollBackVoidsStores.any()), &[], &[P]).shows(Shows::Refused("Stuck")),
    mutant("sp/roll-back-resets-filter", "sp", B(Speculative::SpRollBackKeepsFilter.any()), &[], &[P]),
    mutant("sp/holders-asked", "sp", B(Speculative::SpTableOutlivesCaches.any()), &[ALWAYS_EVICTS], &[P]),
    mutant("sp/announcements-stay", "sp", B(Rule::RollBackTakesNotesBack.any()), &[], &[P, E]),
    mutant("sp-adr/stores-leave-early", "sp-adr", B(Speculative::SpStoresWaitForCommit.any()), &[], &[P]),
    mutant("sp-adr/announcements-stay", "sp-adr", B(Rule::RollBackTakesNotesBack.any()), &[], &[P, E]),
    mutant("sp-adr/void-stores-stay", "sp-adr", B(Speculative::SpRollBackVoidsStores.any()), &[], &[P]).shows(Shows::Refused("Stuck")),
    mutant("sp-adr/locked-passes-buffer", "sp-adr", B(Speculative::SpLockedAwaitsBuffer.any()), &[], &[R]).about_seed(226001),
    mutant("sp-adr/loads-not-in-table", "sp-adr", B(Speculative::SpTableHoldsLoads.any()), &[], &[P]),
    mutant("sp-adr/roll-back-resets-filter", "sp-adr", B(Speculative::SpRollBackKeepsFilter.any()), &[], &[P]),
];
