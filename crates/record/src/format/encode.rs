//! Encodes steps of a thread into the columns of a block of the file.

use super::bytes::{put, zigzag};
use super::model::{address, step, Model, Moves, Slot};
use super::shapes::Shapes;
use crate::recording::Event;

/// Steps in a block of the file.
const MOST_STEPS: usize = 1 << 16;

/// Bytes after which a block of the file is full.
const MOST_BYTES: usize = 4 << 20;

/// The columns.
#[derive(Clone, Debug, Default)]
struct Columns {
    steps: Vec<u8>,
    details: Vec<u8>,
    addresses: Vec<u8>,
    distances: Vec<u8>,
    /// The number of bytes of each word of a value.
    lengths: Vec<u8>,
    values: Vec<u8>,
}

/// A thread's steps since its last block of the file, and its predictions.
#[derive(Clone, Debug)]
pub(crate) struct Encoder {
    model: Model,
    columns: Columns,
}

/// The execution of a block of code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Execution<'e> {
    /// Which.
    pub block: u32,
    /// `None` if it was not cut short, otherwise the number of executed instructions.
    pub cut: Option<u32>,
    /// Addresses of accesses.
    pub addresses: &'e [u64],
    /// Words of values, as [`crate::Executed::values`].
    pub values: &'e [u64],
    /// Which of the accesses with values have a present value.
    pub present: &'e [bool],
}

impl Encoder {
    /// Nothing was done.
    pub fn new() -> Encoder {
        Encoder {
            model: Model::new(),
            columns: Columns::default(),
        }
    }

    /// Number of steps since the last block of the file.
    pub fn steps(&self) -> usize {
        self.columns.steps.len()
    }

    /// Whether the block of the file is full.
    pub fn full(&self) -> bool {
        let c = &self.columns;
        c.steps.len() >= MOST_STEPS
            || c.addresses.len() + c.distances.len() + c.details.len() + c.lengths.len() + c.values.len() >= MOST_BYTES
    }

    /// Adds an executed block of code. The lengths of its slices are right.
    #[inline]
    pub fn execute(&mut self, shapes: &Shapes, execution: Execution<'_>) {
        if self.model.slots.len() < shapes.words.len() || execution.block as usize >= self.model.blocks() {
            self.model.grow(shapes);
        }
        self.step(&execution);
        let shape = shapes.blocks[execution.block as usize];
        let Model {
            slots, moves, values, ..
        } = &mut self.model;
        let first = shape.slot as usize;
        let slots = &mut slots[first..first + execution.addresses.len()];
        if shape.valued == 0 {
            for (slot, to) in slots.iter_mut().zip(execution.addresses) {
                self.columns.address(slot, moves, *to, 0);
            }
            return;
        }
        let mut last = values[shape.value as usize..].iter_mut();
        let (mut present, mut left) = (execution.present.iter(), execution.values.iter());
        let words = shapes.words(&shape, slots.len());
        for ((slot, to), words) in slots.iter_mut().zip(execution.addresses).zip(words) {
            let counts = *words > 0 && present.next().is_some_and(|present| *present);
            let flips = counts != slot.present;
            slot.present = counts;
            self.columns
                .address(slot, moves, *to, u8::from(flips) * address::PRESENCE);
            let pairs = last.by_ref().zip(left.by_ref()).take(usize::from(*words));
            for (last, word) in pairs {
                if counts {
                    self.columns.value(last, *word);
                }
            }
        }
    }

    fn step(&mut self, execution: &Execution<'_>) {
        let (block, columns) = (execution.block, &mut self.columns);
        if let Some(instructions) = execution.cut {
            columns.steps.push(step::CUT);
            put(&mut columns.details, u64::from(block));
            put(&mut columns.details, u64::from(instructions));
            put(&mut columns.details, execution.addresses.len() as u64);
        } else if self.model.after_two() == block {
            columns.steps.push(step::AFTER_TWO);
        } else if self.model.after_one() == block {
            columns.steps.push(step::AFTER_ONE);
        } else {
            columns.steps.push(step::BLOCK);
            put(&mut columns.details, u64::from(block));
        }
        self.model.executed(block);
    }

    /// Adds an event other than code.
    pub fn event(&mut self, event: Event) {
        let (code, details) = match event {
            Event::Syscall(number) => (step::SYSCALL, [Some(number), None]),
            Event::Sync { start, bytes } => (step::SYNC, [Some(start), Some(bytes)]),
            Event::Signal { number } => (step::SIGNAL, [Some(number.into()), None]),
            Event::Wait { number, times } => (step::WAIT, [Some(number.into()), Some(times.into())]),
        };
        self.columns.steps.push(code);
        for detail in details.into_iter().flatten() {
            put(&mut self.columns.details, detail);
        }
    }

    /// Appends the columns to `raw` and empties them; returns the number of steps.
    pub fn take(&mut self, raw: &mut Vec<u8>) -> usize {
        raw.clear();
        let c = &mut self.columns;
        let steps = c.steps.len();
        let columns = [
            &mut c.steps,
            &mut c.details,
            &mut c.addresses,
            &mut c.distances,
            &mut c.lengths,
            &mut c.values,
        ];
        for column in &columns {
            put(raw, column.len() as u64);
        }
        for column in columns {
            raw.append(column);
        }
        steps
    }
}

impl Columns {
    #[inline]
    fn address(&mut self, slot: &mut Slot, moves: &mut Moves, to: u64, presence: u8) {
        let far = to.wrapping_sub(slot.last);
        let code = match far == moves.expected(slot, slot.mode) {
            true => address::EXPECTED,
            false => self.surprise(slot, moves, to),
        };
        self.addresses.push(code | presence);
        moves.moved(slot, to);
    }

    /// The code of an unpredicted address.
    fn surprise(&mut self, slot: &mut Slot, moves: &Moves, to: u64) -> u8 {
        let far = to.wrapping_sub(slot.last);
        let right = (0..address::MODE_COUNT).find(|mode| moves.expected(slot, *mode) == far);
        if let Some(mode) = right {
            slot.mode = mode;
            return address::MODES + mode;
        }
        let own = zigzag(far as i64);
        let before = zigzag(to.wrapping_sub(moves.before) as i64);
        put(&mut self.distances, own.min(before));
        match own <= before {
            true => address::OWN,
            false => address::BEFORE,
        }
    }

    fn value(&mut self, last: &mut u64, word: u64) {
        let change = word ^ *last;
        let bytes = 8 - change.leading_zeros() as usize / 8;
        self.lengths.push(bytes as u8);
        self.values.extend_from_slice(&change.to_le_bytes()[..bytes]);
        *last = word;
    }
}
