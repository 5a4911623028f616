//! The common predictions of encoder and decoder for a thread's next step: only mispredictions cost bytes.
//!
//! - The predicted next block is the one that followed the last two blocks the last time, or else the last block.
//! - The predicted change of an access's address depends on its *mode*: no change, the last stride, or the change of
//!   one of the eight accesses before it (accesses through the same pointer move together).
//! - The predicted value is the access's last value.

use super::shapes::Shapes;

/// The first bytes of steps, in the column of steps. Operands are in the column of details.
pub(crate) mod step {
    /// The block that followed the last two blocks.
    pub const AFTER_TWO: u8 = 0;
    /// The block that followed the last block.
    pub const AFTER_ONE: u8 = 1;
    /// Another block: its number.
    pub const BLOCK: u8 = 2;
    /// A block cut short: its number, instructions, accesses.
    pub const CUT: u8 = 3;
    /// A system call: its number.
    pub const SYSCALL: u8 = 4;
    /// Memory was made durable: start and bytes.
    pub const SYNC: u8 = 5;
    /// A signal: its number.
    pub const SIGNAL: u8 = 6;
    /// A wait: number and times.
    pub const WAIT: u8 = 7;
}

/// Bytes of the column of addresses.
pub(crate) mod address {
    /// The mode was right.
    pub const EXPECTED: u8 = 0;
    /// The mode with this number plus one predicts right.
    pub const MODES: u8 = 1;
    /// Modes.
    pub const MODE_COUNT: u8 = 10;
    /// Another address: its distance from the access's last address is in the column of distances.
    pub const OWN: u8 = MODES + MODE_COUNT;
    /// Another address: its distance from the previous address is in the column of distances.
    pub const BEFORE: u8 = OWN + 1;
    /// Added if the value's presence differs from the last time.
    pub const PRESENCE: u8 = 0x80;
}

/// How many earlier accesses are searched for the same move.
const REACH: usize = 8;

/// The history of an access.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slot {
    /// Its last address.
    pub last: u64,
    /// The distance between its last two addresses.
    pub stride: u64,
    /// The right mode: 0 same address, 1 same stride, 2 and more: the move of the access (mode - 1) before.
    pub mode: u8,
    /// Whether its value was there.
    pub present: bool,
}

/// The moves of the thread's last accesses, and the address of the last one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moves {
    moves: [u64; REACH],
    next: usize,
    /// The last address.
    pub before: u64,
}

impl Moves {
    /// The access's move under this mode.
    #[inline]
    pub fn expected(&self, slot: &Slot, mode: u8) -> u64 {
        match mode {
            0 => 0,
            1 => slot.stride,
            back => self.moves[self.next.wrapping_add(2).wrapping_sub(usize::from(back)) % REACH],
        }
    }

    /// Records the access's new address.
    #[inline]
    pub fn moved(&mut self, slot: &mut Slot, address: u64) {
        slot.stride = address.wrapping_sub(slot.last);
        slot.last = address;
        self.next = self.next.wrapping_add(1);
        self.moves[self.next % REACH] = slot.stride;
        self.before = address;
    }
}

/// Entries of the table of blocks after two blocks.
const PAIRS: usize = 1 << 14;

/// The history of a thread.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    /// The last block and the previous one.
    last: [u32; 2],
    /// Their entry in the table of blocks after two.
    pair: usize,
    after_two: Box<[u32; PAIRS]>,
    after_one: Vec<u32>,
    /// An entry for each access of each block.
    pub slots: Vec<Slot>,
    /// The moves of the last accesses.
    pub moves: Moves,
    /// The last value words of each block.
    pub values: Vec<u64>,
}

impl Model {
    /// Nothing is known.
    pub fn new() -> Model {
        Model {
            last: [0; 2],
            pair: 0,
            after_two: Box::new([0; PAIRS]),
            after_one: Vec::new(),
            slots: Vec::new(),
            moves: Moves::default(),
            values: Vec::new(),
        }
    }

    /// Extends the tables to all known blocks.
    pub fn grow(&mut self, shapes: &Shapes) {
        self.after_one.resize(shapes.blocks.len(), 0);
        self.slots.resize(shapes.words.len(), Slot::default());
        self.values.resize(shapes.values as usize, 0);
    }

    /// Number of blocks in the tables.
    #[inline]
    pub fn blocks(&self) -> usize {
        self.after_one.len()
    }

    /// The block that followed the last two blocks the last time.
    #[inline]
    pub fn after_two(&self) -> u32 {
        self.after_two[self.pair % PAIRS]
    }

    /// The block that followed the last block the last time.
    #[inline]
    pub fn after_one(&self) -> u32 {
        self.after_one.get(self.last[0] as usize).copied().unwrap_or(0)
    }

    /// Records the execution of this known block.
    #[inline]
    pub fn executed(&mut self, block: u32) {
        self.after_two[self.pair % PAIRS] = block;
        if let Some(after) = self.after_one.get_mut(self.last[0] as usize) {
            *after = block;
        }
        let before = self.last[0];
        self.last = [block, before];
        let hash = block.wrapping_mul(0x9e37_79b1) ^ before.wrapping_mul(0x85eb_ca6b);
        self.pair = (hash >> 7) as usize % PAIRS;
    }
}
