//! `rand`: an additive-feedback generator (Knuth, The Art of Computer Programming, volume 2, 3.2.2), whose state all
//! threads share behind one lock.

use super::frame::{Stack, BYTES};
use crate::lock::futex;
use crate::per_lane::PerLane;
use crate::Heap;
use strandline_isa::{sites, Addr, Cpu, LINE_BYTES, W};

sites! {
    RAND_IS_FREE = 0xeccf_7d56;
    NOBODY_WAITS_FOR_RAND = 0x630d_65e5;
    HAS_NO_STATE = 0x4a11_ffd3;
    HAS_NO_RESULT = 0x1cb0_00fc;
    STATE_IS_LINEAR = 0xd357_2a05;
    FRONT_IS_AT_END = 0x5514_ed2c;
    REAR_IS_AT_END = 0x25d0_5d37;
    RAND_IS_GUARDED = 0x6244_08d2;
}

/// Offsets in the shared memory: the lock, the generator's description, its numbers.
const LOCK: u64 = 0;
const STATE: u64 = LINE_BYTES;
const NUMBERS: u64 = 2 * LINE_BYTES + 4;
const SHARED_BYTES: u64 = 4 * LINE_BYTES;

/// Offsets in the description.
mod field {
    pub const FRONT: u64 = 0;
    pub const REAR: u64 = 8;
    pub const FIRST: u64 = 16;
    pub const KIND: u64 = 24;
    pub const END: u64 = 40;
}

/// Where the result is on the thread's stack.
const RESULT: u64 = 48;

/// Numbers of the state (`TYPE_3`), and the distance of the two that are added.
const DEGREE: u64 = 31;
const SEPARATION: u64 = 3;
const KIND: u64 = 3;

/// The generator, and where each lane's stack is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rand {
    shared: Addr,
    stacks: PerLane,
    seed: u64,
}

/// The generator as a lane calls it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    shared: Addr,
    own: Addr,
}

impl Rand {
    pub fn allocate(heap: &mut Heap, lanes: usize) -> Rand {
        let rand = Rand {
            shared: heap.dram(SHARED_BYTES),
            stacks: PerLane::dram(heap, lanes, BYTES),
            seed: heap.seed,
        };
        for (at, word) in rand.started() {
            heap.fill(at, word);
        }
        rand
    }

    pub fn of(&self, lane: usize) -> Caller {
        Caller {
            shared: self.shared,
            own: self.stacks.of(lane),
        }
    }

    /// The words of the state behind `srand` with the run's seed.
    pub fn started(&self) -> Vec<(Addr, u64)> {
        self.seeded(self.seed)
    }

    /// The words of the state behind `srand`.
    pub fn seeded(&self, seed: u64) -> Vec<(Addr, u64)> {
        let mut numbers = first_numbers(seed as u32);
        let (mut front, mut rear) = (SEPARATION as usize, 0);
        for _ in 0..10 * DEGREE {
            numbers[front] = numbers[front].wrapping_add(numbers[rear]);
            front = (front + 1) % DEGREE as usize;
            rear = (rear + 1) % DEGREE as usize;
        }
        let at = |offset: u64| Addr(self.shared.0 + offset);
        let number = |index: u64| at(NUMBERS + 4 * index).0;
        let mut words = vec![
            (at(STATE + field::FRONT), number(front as u64)),
            (at(STATE + field::REAR), number(rear as u64)),
            (at(STATE + field::FIRST), number(0)),
            (at(STATE + field::KIND), KIND | DEGREE << 32),
            (at(STATE + field::END), number(DEGREE)),
        ];
        // A word before the numbers makes their count even.
        let halves: Vec<u64> = std::iter::once(KIND as u32).chain(numbers).map(u64::from).collect();
        for (pair, half) in halves.chunks(2).enumerate() {
            words.push((at(NUMBERS - 4 + 8 * pair as u64), half[0] | half[1] << 32));
        }
        words
    }
}

/// The state of a seed: a linear congruential generator's numbers.
fn first_numbers(seed: u32) -> [u32; DEGREE as usize] {
    let mut number = i64::from(seed.max(1) as i32);
    std::array::from_fn(|index| {
        if index > 0 {
            // As the remainder of signed numbers, made positive.
            number = 16_807 * number % 2_147_483_647;
            number += if number < 0 { 2_147_483_647 } else { 0 };
        }
        number as u32
    })
}

impl Caller {
    /// The next number, below 2^31.
    pub fn rand<'c, C: Cpu>(self, cpu: &'c C) -> W<'c, C> {
        let shared = cpu.word(self.shared.0);
        let mut stack = Stack::called(cpu, cpu.word(self.own.0));
        stack.grow();
        stack.push(1);
        stack.grow();
        stack.guard();
        futex::take(cpu, shared.at(LOCK), stack.own(), RAND_IS_FREE);
        stack.push(1);
        advance(cpu, shared.at(STATE), stack.own().at(RESULT));
        stack.pop(1);
        futex::leave(cpu, shared.at(LOCK), stack.own(), NOBODY_WAITS_FOR_RAND, false);
        let number = stack.own().at(RESULT).load_sized(4);
        stack.guarded().is(0).branch(RAND_IS_GUARDED);
        stack.shrink();
        stack.pop(1);
        stack.shrink();
        stack.ret();
        number
    }
}

/// `random_r`: adds two numbers of the state, and moves on.
fn advance<'c, C: Cpu>(cpu: &'c C, state: W<'c, C>, result: W<'c, C>) {
    state.is(0).branch(HAS_NO_STATE);
    result.is(0).branch(HAS_NO_RESULT);
    let kind = state.at(field::KIND).load_sized(4);
    let first = state.at(field::FIRST).load();
    kind.is(0).branch(STATE_IS_LINEAR);
    let (mut front, mut rear) = (state.at(field::FRONT).load(), state.at(field::REAR).load());
    let end = state.at(field::END).load();
    let sum = rear.load_sized(4) + front.load_sized(4);
    let at = front;
    front = front + 4;
    rear = rear + 4;
    at.store_sized(sum, 4);
    // In 32 bits: one shift.
    let number = W::new(cpu, sum.bits() & u64::from(u32::MAX), sum.tag()) >> 1;
    result.store_sized(number, 4);
    if !front.less(end).branch(FRONT_IS_AT_END) {
        front = first;
    } else if !rear.less(end).branch(REAR_IS_AT_END) {
        rear = first;
    }
    state.at(field::FRONT).store(front);
    state.at(field::REAR).store(rear);
}
