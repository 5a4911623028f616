//! The strand buffers of one core (StrandWeaver, section IV, "Strand buffer unit").

use super::Shape;
use crate::strands::rules::Rule;
use std::collections::VecDeque;
use strandline_isa::Line;
use strandline_rules::{breaks, kept};

/// How much had been appended to each strand buffer at some moment: its tail index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tails(Vec<u64>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    /// The operation's number.
    id: u64,
    /// The line that it flushes; `None` of a persist barrier.
    line: Option<Line>,
    has_issued: bool,
    completed: bool,
}

#[derive(Clone, Debug, Default)]
struct Buffer {
    slots: VecDeque<Slot>,
    /// Entries that have retired.
    retired: u64,
}

/// The strand buffers of one core.
///
/// A flush may issue once no persist barrier precedes it in its buffer. Buffers are independent,
/// except that a flush waits for older flushes of its line, in any buffer. Otherwise it would carry
/// the stores of their strands to memory before the persists that those strands order first
/// (Equation 4; the paper is silent).
#[derive(Clone, Debug)]
pub struct StrandBuffers {
    buffers: Vec<Buffer>,
    entries: usize,
    current: usize,
    /// Entries of all buffers.
    held: usize,
    /// Flushes that have not issued.
    waiting: usize,
    /// Since the last change no flush is allowed to issue.
    is_stuck: bool,
    /// The oldest entry of a buffer may have become able to retire.
    may_retire: bool,
    /// What the last call completed.
    done: Vec<u64>,
}

impl StrandBuffers {
    /// Empty buffers.
    #[must_use]
    pub fn new(shape: Shape) -> StrandBuffers {
        StrandBuffers {
            buffers: vec![Buffer::default(); shape.buffers],
            entries: shape.entries,
            current: 0,
            held: 0,
            waiting: 0,
            is_stuck: true,
            may_retire: false,
            done: Vec::new(),
        }
    }

    /// The ongoing buffer index: where the next operation is appended.
    #[must_use]
    pub fn current(&self) -> usize {
        self.current
    }

    /// Whether the ongoing buffer has room for another entry.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.buffers[self.current].slots.len() < self.entries
    }

    /// Whether the ongoing buffer holds a persist barrier that has not completed.
    #[must_use]
    pub fn is_behind_barrier(&self) -> bool {
        let mut slots = self.buffers[self.current].slots.iter();
        let is_behind = slots.any(|slot| slot.line.is_none());
        kept(Rule::BarrierHoldsBuffer, is_behind, || false)
    }

    /// Whether everything has completed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.held == 0
    }

    /// Appends the flush `id` of a line.
    pub fn flush(&mut self, id: u64, line: Line) {
        self.append(id, Some(line));
    }

    /// Appends the persist barrier `id`.
    pub fn barrier(&mut self, id: u64) {
        self.append(id, None);
    }

    fn append(&mut self, id: u64, line: Option<Line>) {
        debug_assert!(self.has_room(), "checked before");
        self.held += 1;
        self.waiting += usize::from(line.is_some());
        self.is_stuck &= line.is_none();
        self.may_retire |= line.is_none();
        self.buffers[self.current].slots.push_back(Slot {
            id,
            line,
            has_issued: false,
            completed: false,
        });
    }

    /// Begins a new strand: in the next buffer, round-robin.
    pub fn begin_strand(&mut self) {
        self.current += 1;
        if self.current == self.buffers.len() {
            self.current = 0;
        }
    }

    /// Issues the oldest flush that is allowed to issue: its number and line.
    #[inline]
    pub fn issue(&mut self) -> Option<(u64, Line)> {
        if self.is_stuck || self.waiting == 0 {
            return None;
        }
        self.issue_oldest()
    }

    fn issue_oldest(&mut self) -> Option<(u64, Line)> {
        let Some((buffer, index)) = self.issuable() else {
            self.is_stuck = true;
            return None;
        };
        self.waiting -= 1;
        breaks(Rule::BarrierAwaitsAll, || self.may_retire = true);
        let slot = &mut self.buffers[buffer].slots[index];
        slot.has_issued = true;
        slot.line.map(|line| (slot.id, line))
    }

    fn issuable(&self) -> Option<(usize, usize)> {
        self.buffers.iter().enumerate().find_map(|(number, buffer)| {
            let slots = buffer.slots.iter().enumerate();
            let before_barriers =
                slots.take_while(|(_, slot)| kept(Rule::BarrierHoldsBuffer, slot.line.is_some(), || true));
            let mut may = before_barriers
                .filter(|(_, slot)| slot.line.is_some() && !slot.has_issued && self.is_oldest_of_its_line(slot));
            may.next().map(|(index, _)| (number, index))
        })
    }

    fn is_oldest_of_its_line(&self, slot: &Slot) -> bool {
        let all = self.buffers.iter().flat_map(|buffer| &buffer.slots);
        let mut same = all.filter(|other| other.line == slot.line && !other.completed);
        let is_oldest = same.all(|other| other.id >= slot.id);
        kept(Rule::LineInOrderAcrossStrands, is_oldest, || true)
    }

    /// Completes an acknowledged flush. Completed entries retire in order, barriers as they become
    /// the oldest of their buffer: the numbers of all that completed.
    pub fn complete(&mut self, id: u64) -> &[u64] {
        if let Some(slot) = self.slots_mut().find(|slot| slot.id == id) {
            slot.completed = true;
        }
        self.is_stuck = false;
        self.may_retire = true;
        self.done.clear();
        self.done.push(id);
        self.retire_completed();
        &self.done
    }

    /// Retires completed entries: the numbers of barriers that completed.
    #[inline]
    pub fn retire(&mut self) -> &[u64] {
        self.done.clear();
        if self.may_retire {
            self.retire_completed();
        }
        &self.done
    }

    fn retire_completed(&mut self) {
        self.may_retire = false;
        let before = self.held;
        for buffer in &mut self.buffers {
            while let Some(slot) = buffer.slots.front() {
                match slot.line {
                    None => self.done.push(slot.id),
                    Some(_) if kept(Rule::BarrierAwaitsAll, slot.completed, || slot.has_issued) => {}
                    Some(_) => break,
                }
                buffer.slots.pop_front();
                buffer.retired += 1;
                self.held -= 1;
            }
        }
        self.is_stuck &= before == self.held;
    }

    fn slots_mut(&mut self) -> impl Iterator<Item = &mut Slot> {
        self.buffers.iter_mut().flat_map(|buffer| &mut buffer.slots)
    }

    /// Whether a flush of this line has not issued yet.
    #[must_use]
    pub fn waits_to_flush(&self, line: Line) -> bool {
        let mut slots = self.buffers.iter().flat_map(|buffer| &buffer.slots);
        self.waiting > 0 && slots.any(|slot| slot.line == Some(line) && !slot.has_issued)
    }

    /// The tail indices, for a write-back or snoop buffer.
    #[must_use]
    pub fn tails(&self) -> Tails {
        let tail = |buffer: &Buffer| buffer.retired + buffer.slots.len() as u64;
        Tails(self.buffers.iter().map(tail).collect())
    }

    /// Whether everything up to these indices has retired.
    #[must_use]
    pub fn drained(&self, tails: &Tails) -> bool {
        let awaited = kept(Rule::TailsOfAllBuffers, tails.0.len(), || 1);
        self.buffers
            .iter()
            .zip(&tails.0)
            .take(awaited)
            .all(|(buffer, tail)| buffer.retired >= *tail)
    }

    /// The content of each buffer, oldest first: the line of a flush and whether it has issued,
    /// `None` for a barrier.
    pub fn contents(&self) -> impl Iterator<Item = Vec<Option<(Line, bool)>>> + '_ {
        let shown = |slot: &Slot| slot.line.map(|line| (line, slot.has_issued));
        self.buffers
            .iter()
            .map(move |buffer| buffer.slots.iter().map(shown).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Line = Line(1);
    const B: Line = Line(2);

    #[test]
    fn a_barrier_holds_its_own_buffer_and_no_other() {
        let mut unit = StrandBuffers::new(Shape::default());
        unit.flush(1, A);
        unit.barrier(2);
        unit.flush(3, B);
        unit.begin_strand();
        unit.flush(4, Line(3));
        assert_eq!(
            [unit.issue(), unit.issue(), unit.issue()],
            [Some((1, A)), Some((4, Line(3))), None]
        );
        assert!(!unit.is_behind_barrier(), "the strand of flush 4 has none");
        assert_eq!(unit.complete(1), [1, 2]);
        assert_eq!(unit.issue(), Some((3, B)));
    }

    #[test]
    fn strands_use_buffers_in_turn_which_have_so_many_entries() {
        let mut unit = StrandBuffers::new(Shape { buffers: 2, entries: 1 });
        unit.flush(1, A);
        assert!(!unit.has_room());
        unit.begin_strand();
        assert!(unit.has_room());
        unit.begin_strand();
        assert_eq!((unit.current(), unit.has_room()), (0, false));
    }

    #[test]
    fn entries_retire_in_order_and_tails_say_when() {
        let mut unit = StrandBuffers::new(Shape::default());
        unit.flush(1, A);
        unit.flush(2, B);
        let tails = unit.tails();
        unit.flush(3, Line(3));
        assert_eq!([unit.issue(), unit.issue()], [Some((1, A)), Some((2, B))]);
        unit.complete(2);
        assert!(!unit.drained(&tails), "the second waits for the first");
        unit.complete(1);
        assert!(unit.drained(&tails) && !unit.is_empty());
    }

    #[test]
    fn a_flush_waits_for_older_flushes_of_its_line() {
        let mut unit = StrandBuffers::new(Shape::default());
        unit.flush(1, B);
        unit.barrier(2);
        unit.flush(3, A);
        unit.begin_strand();
        unit.flush(4, A);
        assert_eq!([unit.issue(), unit.issue()], [Some((1, B)), None]);
        assert!(unit.waits_to_flush(A) && !unit.waits_to_flush(B));
        unit.complete(1);
        assert_eq!([unit.issue(), unit.issue()], [Some((3, A)), None]);
        unit.complete(3);
        assert_eq!(unit.issue(), Some((4, A)));
    }
}
