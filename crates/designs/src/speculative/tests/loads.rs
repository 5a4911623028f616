//! Loads: the buffer, its latency, and the Bloom filter (4.2.2, Table 3).

use super::super::*;
use super::rig::{Rig, A, B, C};
use crate::mock::{Both, ZERO};
use strandline_isa::Addr;

const CACHES_AT_ONCE: Forward<Gate> = Forward::Caches { after: Cycles(0) };

/// A word of the line of A that shares both bits of the smallest filter with it.
fn alias(rig: &mut Rig) -> Addr {
    let state = rig.both.design.core(ZERO);
    let look_up = |addr| state.buffer.look_up(Load { addr, size: 8 });
    let is_alias = |addr: &Addr| matches!(look_up(*addr), Some(LookUp::Searched(found)) if found.mask == 0);
    let words = (1..10_000).map(|word| Addr(A.0 + 8 * word));
    let mut aliases = words.filter(is_alias);
    aliases.next().expect("a filter of 64 bits has many")
}

fn counts(both: &Both<Speculative>) -> (Option<u64>, Option<u64>) {
    let counters = both.counters();
    (counters.bloom_lookups, counters.bloom_false_positives)
}

/// 4.2.2: "load instructions that follow must check the SSB"; Table 3: its latency by size.
#[test]
fn a_load_takes_its_bytes_from_the_buffer_in_the_time_of_table_3() {
    for (entries, cycles) in [(32, 2), (64, 3), (128, 4), (256, 5), (512, 7), (1024, 10)] {
        let mut rig = Rig::speculating(&[("entries", entries)]);
        rig.store(A, 0x1122_3344_5566_7788);
        let bytes = |mask, value| Forward::Bytes {
            mask,
            value,
            after: Cycles(cycles),
        };
        assert_eq!(rig.load(A, 8), bytes(0xff, 0x1122_3344_5566_7788));
        assert_eq!(rig.load(Addr(A.0 + 2), 2), bytes(0b11, 0x5566));
        // The youngest store wins.
        rig.store(A, 7);
        assert_eq!(rig.load(A, 8), bytes(0xff, 7));
    }
}

/// 4.2.2: the filter is there "to avoid SSB lookups when possible".
#[test]
fn a_load_that_the_filter_denies_costs_nothing() {
    let mut rig = Rig::speculating(&[]);
    rig.store(A, 1);
    assert_eq!(rig.load(B, 8), CACHES_AT_ONCE);
    assert_eq!(counts(&rig.both), (Some(1), Some(0)));
}

/// 4.2.2: stores set the filter. Without any in the buffer there is nothing to look up.
#[test]
fn flushes_and_pcommits_are_not_in_the_filter() {
    let mut rig = Rig::speculating(&[]);
    rig.clwb(A);
    rig.pcommit();
    assert_eq!(rig.load(A, 8), CACHES_AT_ONCE);
    assert_eq!(counts(&rig.both), (Some(0), Some(0)));
}

/// A false positive looks the buffer up in vain, for the latency of Table 3.
#[test]
fn a_false_positive_costs_a_look_up_and_is_counted() {
    let mut rig = Rig::speculating(&[("filter_log2_bytes", 3)]);
    rig.store(A, 1);
    let alias = alias(&mut rig);
    assert_eq!(rig.load(alias, 8), Forward::Caches { after: Cycles(5) });
    assert_eq!(counts(&rig.both), (Some(1), Some(1)));
}

/// Its first epoch has committed with a store of `A` in the buffer; a child epoch stores to `B`.
fn committed_with_a_child() -> Rig {
    let mut rig = Rig::speculating(&[]);
    rig.store(A, 1);
    rig.clwb(A);
    rig.sfence();
    rig.store(B, 1);
    rig.answer_pcommit();
    rig
}

/// 4.2.2: "The bloom filter is reset completely upon exiting speculative execution", not before: a store
/// that has left the buffer leaves its bits.
#[test]
fn the_filter_is_reset_when_speculation_ends_and_not_before() {
    let mut rig = committed_with_a_child();
    rig.perform();
    assert_eq!(rig.buffer(), ["clwb A", "st B"]);
    assert_eq!(
        rig.load(A, 8),
        Forward::Caches { after: Cycles(5) },
        "its bits have stayed"
    );
    assert_eq!(counts(&rig.both), (Some(1), Some(1)));
    assert_eq!(rig.run_to_end(), ["clwb A", "st 4"]);
    rig.barrier();
    rig.store(C, 1);
    assert_eq!(rig.load(A, 8), CACHES_AT_ONCE);
    assert_eq!(rig.load(B, 8), CACHES_AT_ONCE);
    assert_eq!(counts(&rig.both), (Some(3), Some(1)));
}

/// 4.2.2: "the bloom filter can only produce false positives but not false negatives", also behind a
/// roll-back that leaves older stores in the buffer.
#[test]
fn the_filter_keeps_the_bits_of_older_stores_behind_a_roll_back() {
    let mut rig = committed_with_a_child();
    assert_eq!(rig.buffer(), ["st A", "clwb A", "st B"]);
    assert!(rig.asked(B, Access::Own));
    assert_eq!(rig.buffer(), ["st A", "clwb A"]);
    assert!(matches!(
        rig.load(A, 8),
        Forward::Bytes {
            mask: 0xff,
            value: 1,
            ..
        }
    ));
}
