//! A timeline's rows by core, in order of time.

use super::super::waits::Who;
use super::super::Timeline;
use std::collections::BTreeMap;
use strandline_isa::CoreId;

/// Slots `[from, to)`, counted from cycle 0.
pub(super) type Slots = (u64, u64);

pub(super) fn meet(one: Slots, other: Slots) -> Option<Slots> {
    let both = (one.0.max(other.0), one.1.min(other.1));
    (both.0 < both.1).then_some(both)
}

/// A timeline's rows, by core.
pub(super) struct Index<'t> {
    pub(super) timeline: &'t Timeline,
    /// Slots of a cycle.
    pub(super) width: u64,
    pub(super) cores: Vec<OfCore>,
    /// The wait of each write at its controller, oldest first.
    pub(super) at_controller: BTreeMap<u32, Vec<u32>>,
}

/// Rows of one core, by number and in order of time. Those of one list do not overlap.
#[derive(Default)]
pub(super) struct OfCore {
    pub(super) fences: Vec<u32>,
    pub(super) programs: Vec<u32>,
    pub(super) queues: Vec<u32>,
    pub(super) heads: Vec<u32>,
    pub(super) loops: Vec<u32>,
    /// When each entry of the store queue left it, and when it had executed and retired.
    pub(super) leaves: Vec<(u64, u64)>,
    /// The store or flush that was done last, and when.
    pub(super) latest: Option<(u64, u32)>,
    /// Writes, by when they were sent.
    pub(super) writes: Vec<u32>,
    /// When the core was rolled back.
    pub(super) rolled_back: Vec<Slots>,
    pub(super) stalls: Vec<u32>,
}

impl<'t> Index<'t> {
    pub(super) fn new(timeline: &'t Timeline, cores: usize, width: u64) -> Index<'t> {
        let mut all: Vec<OfCore> = (0..cores).map(|_| OfCore::default()).collect();
        let mut at_controller: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let names = [Who::Fence, Who::Program, Who::Queue].map(|who| who(CoreId(0)).name());
        for (number, wait) in (0..).zip(&timeline.waits.0) {
            if let Some(write) = wait.write {
                at_controller.entry(write).or_default().push(number);
            }
            let Some(of) = wait.core.and_then(|core| all.get_mut(usize::from(core))) else {
                continue;
            };
            let lists = [&mut of.fences, &mut of.programs, &mut of.queues];
            for (name, list) in names.into_iter().zip(lists) {
                if wait.who == name {
                    list.push(number);
                }
            }
        }
        for (number, write) in (0..).zip(&timeline.writes.0) {
            if let Some(core) = write.core {
                all[usize::from(core)].writes.push(number);
            }
        }
        for (number, op) in (0..).zip(&timeline.ops.0).filter(|(_, op)| op.takes_place()) {
            let of = &mut all[usize::from(op.core)];
            of.leaves.extend(op.left.map(|left| (left * width, op.ready * width)));
            of.latest = of.latest.max(op.done.or(op.visible).map(|done| (done * width, number)));
        }
        for (number, stall) in (0..).zip(&timeline.stalls.0) {
            all[usize::from(stall.core)].stalls.push(number);
        }
        for (number, head) in (0..).zip(&timeline.heads) {
            let of = &mut all[usize::from(head.core)];
            match head.kind {
                Some(_) => of.heads.push(number),
                None => of.loops.push(number),
            }
        }
        for speculation in timeline.speculations.0.iter().filter(|row| row.rolled_back) {
            let to = speculation.to.unwrap_or(timeline.end);
            all[usize::from(speculation.core)]
                .rolled_back
                .push((speculation.from, to));
        }
        for of in &mut all {
            of.rolled_back.sort_unstable();
            of.leaves.sort_unstable();
            for list in [&mut of.fences, &mut of.programs, &mut of.queues] {
                list.sort_by_key(|number| timeline.waits.0[*number as usize].from);
            }
        }
        Index {
            timeline,
            width,
            cores: all,
            at_controller,
        }
    }
}

/// The numbers of rows that overlap `span`, of a list whose rows do not overlap each other, with what they have in common.
pub(super) fn overlapping<'l>(
    list: &'l [u32],
    span: Slots,
    at: impl Fn(u32) -> Slots + 'l,
) -> impl Iterator<Item = (u32, Slots)> + 'l {
    let first = list.partition_point(|number| at(*number).1 <= span.0);
    let rows = list[first..].iter().map(move |number| (*number, at(*number)));
    rows.take_while(move |(_, row)| row.0 < span.1)
        .filter_map(move |(number, row)| Some((number, meet(row, span)?)))
}
