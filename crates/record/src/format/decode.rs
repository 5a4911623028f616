//! Decodes the columns of a block of the file into steps of a thread.

use super::bytes::{unzigzag, Bad, Cursor, Parsed};
use super::model::{address, step, Model, Moves, Slot};
use super::shapes::Shapes;
use crate::recording::Event;

/// A column that is read sequentially.
#[derive(Clone, Copy, Debug, Default)]
struct Column {
    next: usize,
    end: usize,
}

/// The block of the file that is being read, and the predictions for its thread.
#[derive(Clone, Debug)]
pub(crate) struct Decoder {
    model: Model,
    raw: Vec<u8>,
    columns: [Column; COLUMNS],
    /// Addresses of the last executed block of code.
    pub addresses: Vec<u64>,
    /// Its values.
    pub values: Vec<u64>,
}

/// Columns: steps, details, codes of addresses, distances, lengths of values' words, values.
const COLUMNS: usize = 6;
const STEPS: usize = 0;
const DETAILS: usize = 1;

/// What was read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Read {
    /// A block of code executed, with this many instructions.
    Block { block: u32, instructions: u32 },
    /// Something that is no code.
    Event(Event),
}

const SHORT: Bad = Bad("a block of steps ends too early");
const UNKNOWN: Bad = Bad("a step names an unknown block of code");

impl Column {
    fn cursor<'r>(&self, raw: &'r [u8]) -> Cursor<'r> {
        Cursor::new(&raw[self.next..self.end])
    }

    fn number(&mut self, raw: &[u8]) -> Parsed<u64> {
        let mut cursor = self.cursor(raw);
        let number = cursor.number()?;
        self.next = self.end - cursor.left();
        Ok(number)
    }

    fn small(&mut self, raw: &[u8]) -> Parsed<u32> {
        u32::try_from(self.number(raw)?).map_err(|_| Bad("a number is too large"))
    }

    #[inline]
    fn take<'r>(&mut self, raw: &'r [u8], bytes: usize) -> Parsed<&'r [u8]> {
        if self.end - self.next < bytes {
            return Err(SHORT);
        }
        self.next += bytes;
        Ok(&raw[self.next - bytes..self.next])
    }
}

impl Decoder {
    /// The state at the start of a thread.
    pub fn new(shapes: &Shapes) -> Decoder {
        let mut model = Model::new();
        model.grow(shapes);
        Decoder {
            model,
            raw: Vec::new(),
            columns: [Column::default(); COLUMNS],
            addresses: Vec::new(),
            values: Vec::new(),
        }
    }

    /// The buffer for a block's content, before [`Decoder::begin`].
    pub fn raw(&mut self) -> &mut Vec<u8> {
        &mut self.raw
    }

    /// Starts with the content, which should have this many steps.
    pub fn begin(&mut self, steps: u32) -> Parsed<()> {
        self.columns = [Column::default(); COLUMNS];
        let mut cursor = Cursor::new(&self.raw);
        let mut lengths = [0; COLUMNS];
        for length in &mut lengths {
            *length = cursor.count(1)?;
        }
        let mut next = self.raw.len() - cursor.left();
        let mut columns = [Column::default(); COLUMNS];
        for (column, length) in columns.iter_mut().zip(lengths) {
            cursor.take(length)?;
            *column = Column {
                next,
                end: next + length,
            };
            next += length;
        }
        cursor.end()?;
        if lengths[STEPS] != steps as usize {
            return Err(Bad("a block of steps has another number of steps than its header says"));
        }
        self.columns = columns;
        Ok(())
    }

    /// The next step; `None` at the content's end.
    #[inline]
    pub fn next(&mut self, shapes: &Shapes) -> Parsed<Option<Read>> {
        let steps = &mut self.columns[STEPS];
        if steps.next == steps.end {
            return self.end();
        }
        let code = self.raw[steps.next];
        steps.next += 1;
        let block = match code {
            step::AFTER_TWO => self.model.after_two(),
            step::AFTER_ONE => self.model.after_one(),
            step::BLOCK => self.columns[DETAILS].small(&self.raw)?,
            step::CUT => return self.cut(shapes).map(Some),
            _ => return self.event(code).map(|event| Some(Read::Event(event))),
        };
        let shape = *shapes.blocks.get(block as usize).ok_or(UNKNOWN)?;
        self.execute(shapes, block, shape.accesses as usize)?;
        let instructions = shape.instructions;
        Ok(Some(Read::Block { block, instructions }))
    }

    /// At the end, no column may have remaining bytes.
    fn end(&self) -> Parsed<Option<Read>> {
        match self.columns.iter().all(|column| column.next == column.end) {
            true => Ok(None),
            false => Err(Bad("a block of steps has bytes left over")),
        }
    }

    fn cut(&mut self, shapes: &Shapes) -> Parsed<Read> {
        let details = &mut self.columns[DETAILS];
        let block = details.small(&self.raw)?;
        let instructions = details.small(&self.raw)?;
        let accesses = details.small(&self.raw)?;
        let shape = shapes.blocks.get(block as usize).ok_or(UNKNOWN)?;
        if instructions > shape.instructions || accesses > shape.accesses {
            return Err(Bad("a cut block of code is longer than the whole"));
        }
        self.execute(shapes, block, accesses as usize)?;
        Ok(Read::Block { block, instructions })
    }

    fn event(&mut self, code: u8) -> Parsed<Event> {
        let (details, raw) = (&mut self.columns[DETAILS], &self.raw[..]);
        Ok(match code {
            step::SYSCALL => Event::Syscall(details.number(raw)?),
            step::SYNC => Event::Sync {
                start: details.number(raw)?,
                bytes: details.number(raw)?,
            },
            step::SIGNAL => Event::Signal {
                number: details.small(raw)?,
            },
            step::WAIT => Event::Wait {
                number: details.small(raw)?,
                times: details.small(raw)?,
            },
            _ => return Err(Bad("a step is of an unknown kind")),
        })
    }

    #[inline]
    fn execute(&mut self, shapes: &Shapes, block: u32, accesses: usize) -> Parsed<()> {
        self.model.executed(block);
        self.addresses.clear();
        self.values.clear();
        let shape = &shapes.blocks[block as usize];
        let first = shape.slot as usize;
        let [_, _, codes, distances, lengths, bytes] = &mut self.columns;
        let codes = codes.take(&self.raw, accesses)?;
        let Model {
            slots, moves, values, ..
        } = &mut self.model;
        let slots = &mut slots[first..first + accesses];
        if shape.valued == 0 {
            for (slot, code) in slots.iter_mut().zip(codes) {
                let to = locate(slot, moves, *code, &self.raw, distances)?;
                self.addresses.push(to);
            }
            return Ok(());
        }
        let mut last = &mut values[shape.value as usize..];
        for ((slot, code), words) in slots.iter_mut().zip(codes).zip(shapes.words(shape, accesses)) {
            slot.present ^= code & address::PRESENCE != 0;
            let to = locate(slot, moves, code & !address::PRESENCE, &self.raw, distances)?;
            self.addresses.push(to);
            let (mine, rest) = last.split_at_mut(usize::from(*words));
            last = rest;
            if !slot.present {
                self.values.extend(mine.iter().map(|_| 0));
                continue;
            }
            let lengths = lengths.take(&self.raw, mine.len())?;
            for (last, length) in mine.iter_mut().zip(lengths) {
                *last ^= number(bytes.take(&self.raw, usize::from(*length))?)?;
                self.values.push(*last);
            }
        }
        Ok(())
    }
}

/// Up to eight bytes as a number.
fn number(bytes: &[u8]) -> Parsed<u64> {
    let mut word = [0; 8];
    let place = word.get_mut(..bytes.len()).ok_or(Bad("a word has too many bytes"))?;
    place.copy_from_slice(bytes);
    Ok(u64::from_le_bytes(word))
}

/// The address of an access.
#[inline]
fn locate(slot: &mut Slot, moves: &mut Moves, code: u8, raw: &[u8], distances: &mut Column) -> Parsed<u64> {
    let to = match code {
        address::EXPECTED => slot.last.wrapping_add(moves.expected(slot, slot.mode)),
        _ => surprise(slot, moves, code, raw, distances)?,
    };
    // The end of an access must not wrap around, because a walk over its lines would never end.
    if to >> 63 != 0 {
        return Err(Bad("an access has an address outside programs"));
    }
    moves.moved(slot, to);
    Ok(to)
}

fn surprise(slot: &mut Slot, moves: &Moves, code: u8, raw: &[u8], distances: &mut Column) -> Parsed<u64> {
    let from = match code {
        address::OWN => slot.last,
        address::BEFORE => moves.before,
        mode if mode < address::OWN => {
            slot.mode = mode - address::MODES;
            return Ok(slot.last.wrapping_add(moves.expected(slot, slot.mode)));
        }
        _ => return Err(Bad("an address is coded in an unknown way")),
    };
    let far = unzigzag(distances.number(raw)?);
    Ok(from.wrapping_add(far as u64))
}
