//! A part of a timeline: what overlaps some cycles, numbered anew.

use super::rows::{Crossing, TimelineOp, Write};
use super::Timeline;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use strandline_isa::Addr;

impl Timeline {
    /// The last cycle up to which no more than this number of persists, primitives, writes, crossings, stalls, waits, spans and
    /// counts begin.
    #[must_use]
    pub fn last_with(&self, rows: usize) -> u64 {
        let persists = self
            .ops
            .0
            .iter()
            .filter(|op| op.addr.is_none_or(|addr| Addr(addr).is_persistent()));
        let mut begins: Vec<u64> = persists.map(|op| op.dispatched).collect();
        begins.extend(self.writes.0.iter().map(|write| write.sent));
        begins.extend(self.crossings.0.iter().map(|crossing| crossing.asked));
        begins.extend(self.stalls.0.iter().map(|stall| stall.from));
        begins.extend(self.waits.0.iter().map(|wait| wait.from));
        begins.extend(self.spans.0.iter().map(|span| span.from));
        begins.extend(self.counts.0.iter().map(|count| count.at));
        begins.retain(|begin| *begin >= self.start);
        begins.sort_unstable();
        begins.get(rows).map_or(u64::MAX, |begin| begin.saturating_sub(1))
    }

    /// The part of it that overlaps these cycles of the run.
    #[must_use]
    pub fn cut(mut self, cycles: &RangeInclusive<u64>) -> Timeline {
        let start = self.start;
        let overlaps = |from: u64, to: Option<u64>| from <= *cycles.end() && to.is_none_or(|to| to >= *cycles.start());
        // What the record counts was not over before the timed region, whose counting begins an event earlier or later.
        let counted = |timed: bool, to: Option<u64>| if timed { to.map(|to| to.max(start)) } else { to };
        let writes = kept(&mut self.writes.0, |write| {
            overlaps(write.sent, counted(write.timed, ends(write)))
        });
        let ops = kept(&mut self.ops.0, |op| {
            overlaps(op.dispatched, counted(op.timed, left(op)))
        });
        let op_of = |op: Option<u32>| op.and_then(|op| ops[op as usize]);
        let write_of = |write: Option<u32>| write.and_then(|write| writes[write as usize]);
        for op in &mut self.ops.0 {
            op.write = write_of(op.write);
        }
        for write in &mut self.writes.0 {
            write.into = write_of(write.into);
        }
        let crosses = |crossing: &Crossing| overlaps(crossing.asked, Some(crossing.arrives.max(crossing.ends)));
        self.crossings.0.retain(crosses);
        for crossing in &mut self.crossings.0 {
            crossing.write = write_of(crossing.write);
        }
        self.failures.0.retain(|failure| failure.at <= *cycles.end());
        self.waits.0.retain(|wait| overlaps(wait.from, wait.to));
        for wait in &mut self.waits.0 {
            (wait.op, wait.by_op) = (op_of(wait.op), op_of(wait.by_op));
            (wait.write, wait.by_write) = (write_of(wait.write), write_of(wait.by_write));
        }
        self.counts.0.retain(|count| cycles.contains(&count.at.max(start)));
        for count in &mut self.counts.0 {
            (count.op, count.write) = (op_of(count.op), write_of(count.write));
        }
        self.stalls.0.retain(|stall| overlaps(stall.from, Some(stall.to)));
        let waited: BTreeSet<u32> = self.stalls.0.iter().filter_map(|stall| stall.miss).collect();
        let mut numbering = 0..;
        let misses = kept(&mut self.misses.0, |_| {
            numbering.next().is_some_and(|miss| waited.contains(&miss))
        });
        for stall in &mut self.stalls.0 {
            (stall.op, stall.write) = (op_of(stall.op), write_of(stall.write));
            stall.miss = stall.miss.and_then(|miss| misses[miss as usize]);
        }
        self.spans
            .0
            .retain(|span| overlaps(span.from, counted(span.counted, span.to)));
        self.speculations.0.retain(|span| overlaps(span.from, span.to));
        self.instructions
            .0
            .retain(|op| overlaps(op.dispatched, op.retired.or(Some(op.dispatched))));
        self.reads.retain(|at| cycles.contains(&start.max(*at)));
        self
    }
}

/// Keeps the rows that `stays`; the new number of each.
fn kept<R>(rows: &mut Vec<R>, mut stays: impl FnMut(&R) -> bool) -> Vec<Option<u32>> {
    let mut numbering = 0..;
    let numbers: Vec<Option<u32>> = rows
        .iter()
        .map(|row| stays(row).then(|| numbering.next()).flatten())
        .collect();
    let mut all = numbers.iter();
    rows.retain(|_| all.next().is_some_and(Option::is_some));
    numbers
}

/// When a write was over: on the media, or part of another. `None` if it never was.
fn ends(write: &Write) -> Option<u64> {
    match (write.into, write.refused) {
        (None, false) => write.media,
        _ => write.accepted.or(write.arrived),
    }
}

/// When an operation was over for its core.
fn left(op: &TimelineOp) -> Option<u64> {
    let latest = [Some(op.ready), op.left, op.visible, op.done]
        .into_iter()
        .flatten()
        .max();
    latest.filter(|_| !op.void || op.left.is_some()).or(Some(op.ready))
}
