//! Execution ports: how many ops of a kind issue in one cycle.

use crate::core::restore::restore;
use std::cell::Cell;

/// What an op needs to issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// Arithmetic or a comparison; a branch or a jump too, unless these have ports of their own.
    Alu,
    /// A load.
    Load,
    /// The address of a store or flush.
    Address,
    /// The data of a store that is two micro-ops.
    Data,
    /// A branch or a jump.
    Branch,
}

/// The ports that are taken in each cycle.
///
/// Ops are scheduled in program order, each in the first cycle in which it is ready and has a port, as in ZSim's core.
/// A ring holds the latest cycles. A cycle that shares its place with another one a ring away takes it over.
#[derive(Clone)]
pub struct Ports {
    /// Ports of each kind.
    of: [u64; KINDS],
    /// Whose ports branches use.
    branches: Port,
    /// The number of its round of the ring, above the ports of each kind that are taken in the cycle.
    taken: Box<[Cell<u64>; SPAN as usize]>,
    /// Of each kind, the cycles that the latest search found full: those from the first, before the second.
    full: [[Cell<u64>; 2]; KINDS],
}

const KINDS: usize = 5;

/// Bits of the number of taken ports of a kind.
const BITS: u32 = 8;
const MOST: u64 = (1 << BITS) - 1;
/// Of all kinds.
const ALL: u64 = (1 << (BITS * KINDS as u32)) - 1;

/// Cycles of the ring: longer than a chain of some misses.
const SPAN: u64 = 2048;

impl Ports {
    /// Ports of these numbers, in the order of [`Port`], 0 for no limit; `None` without any limit. Branches without ports of
    /// their own use those of arithmetic.
    pub fn new(of: [u64; KINDS]) -> Option<Ports> {
        let branches = if of[Port::Branch as usize] == 0 {
            Port::Alu
        } else {
            Port::Branch
        };
        let of = of.map(|ports| if ports == 0 { MOST } else { ports });
        of.iter().any(|ports| *ports < MOST).then(|| Ports {
            of,
            branches,
            taken: Box::new(std::array::from_fn(|_| Cell::new(0))),
            full: Default::default(),
        })
    }

    /// Takes a port for an op that is ready at `ready`: the cycle in which it issues.
    #[inline(always)]
    pub fn take(&self, port: Port, ready: u64) -> u64 {
        let port = if port == Port::Branch { self.branches } else { port };
        match self.takes(port, ready) {
            true => ready,
            false => self.take_later(port, ready),
        }
    }

    /// Takes a port in this cycle, if there is one.
    #[inline(always)]
    fn takes(&self, port: Port, at: u64) -> bool {
        let (limit, shift) = (self.of[port as usize], BITS * port as u32);
        let place = &self.taken[(at % SPAN) as usize];
        let (cycle, mut taken) = ((at / SPAN) << (BITS * KINDS as u32), place.get());
        if taken ^ cycle > ALL {
            taken = cycle;
        }
        let is_free = taken >> shift & MOST < limit;
        if is_free {
            place.set(taken + (1 << shift));
        }
        is_free
    }

    /// Takes the first port after `ready`, in which there is none. Ops that wait for one line are ready at once, so a search
    /// begins where the one before ended.
    #[inline(never)]
    fn take_later(&self, port: Port, ready: u64) -> u64 {
        let [first, end] = &self.full[port as usize];
        let goes_on = first.get() <= ready && ready < end.get();
        let mut at = if goes_on { end.get() } else { ready + 1 };
        while !self.takes(port, at) {
            at += 1;
        }
        if !goes_on {
            first.set(ready);
        }
        end.set(at);
        at
    }
}

restore! { Ports { taken, full } stays { of, branches } }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::restore::Restore;

    #[test]
    fn an_op_issues_in_the_first_cycle_that_has_a_port_of_its_kind() {
        let ports = Ports::new([2, 1, 0, 0, 1]).expect("limits");
        assert_eq!([7, 7, 7].map(|ready| ports.take(Port::Alu, ready)), [7, 7, 8]);
        assert_eq!(ports.take(Port::Alu, 8), 8, "the second port of that cycle");
        assert_eq!(ports.take(Port::Alu, 7), 9);
        assert_eq!(
            [7, 7].map(|ready| ports.take(Port::Load, ready)),
            [7, 8],
            "loads have ports of their own"
        );
        assert_eq!(
            [7, 7].map(|ready| ports.take(Port::Branch, ready)),
            [7, 8],
            "as branches"
        );
        assert_eq!([7; 9].map(|ready| ports.take(Port::Address, ready)), [7; 9], "no limit");
        assert_eq!(ports.take(Port::Load, 7 + SPAN), 7 + SPAN, "another cycle");
    }

    #[test]
    fn a_search_that_goes_on_finds_what_one_from_the_beginning_does() {
        let mut rng = strandline_kernel::Rng::new(1);
        let (ports, mut taken) = (Ports::new([3, 1, 1, 1, 0]).expect("limits"), [0; 4000]);
        let mut now = 0;
        for _ in 0..5000 {
            let ready = now + rng.below(40);
            let at = (ready..).find(|at| taken[*at as usize] < 3).expect("a free cycle");
            taken[at as usize] += 1;
            let port = if rng.one_in(2) { Port::Alu } else { Port::Branch };
            assert_eq!(ports.take(port, ready), at);
            now += u64::from(rng.one_in(3));
        }
    }

    #[test]
    fn without_a_limit_there_are_no_ports() {
        assert!(Ports::new([0; 5]).is_none());
    }

    #[test]
    fn an_earlier_state_is_restored() {
        let ports = Ports::new([1, 1, 1, 1, 0]).expect("limits");
        let saved = ports.clone();
        assert_eq!(ports.take(Port::Data, 3), 3);
        ports.restore(&saved);
        assert_eq!(ports.take(Port::Data, 3), 3);
    }
}
