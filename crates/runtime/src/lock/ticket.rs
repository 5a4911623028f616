//! Ticket locks: the next ticket, and the one that is served.

use super::before_release;
use strandline_isa::{sites, Cpu, W};

sites! {
    TICKET_IS_SERVED = 0xedcf_40f9;
}

/// Offset of the ticket that is served. The next ticket comes before it.
const SERVED: u64 = 8;

pub(super) fn take<'c, C: Cpu>(cpu: &'c C, lock: W<'c, C>) {
    let ticket = lock.fetch_add(cpu.word(1));
    while !lock.at(SERVED).load().equals(ticket).branch(TICKET_IS_SERVED) {
        cpu.give_way();
        cpu.spins();
    }
}

pub(super) fn leave<'c, C: Cpu>(cpu: &'c C, lock: W<'c, C>, annotated: bool) {
    let next = lock.at(SERVED).load() + 1;
    before_release(cpu, annotated);
    lock.at(SERVED).store(next);
}
