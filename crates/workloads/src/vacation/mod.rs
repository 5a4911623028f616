//! `vacation`: a travel agency's reservations.
//!
//! STAMP (Cao Minh et al., IISWC 2008), Vacation, in persistent memory as in WHISPER (Nalli et al., ASPLOS 2017) and ASAP
//! (HPCA 2022): 4 clients, 4,000 relations, 40,000 transactions. Cars, flights and rooms are tables, red-black trees by
//! number; each row has seats in total, used and free, and a price. A fourth table has the customers, each with a
//! sorted list of reservations. A task is a transaction:
//!
//! - 80 % reserve: a client looks up random rows, and a customer reserves the dearest one of each kind that was found. An
//!   absent customer is added.
//! - 10 % delete a random customer, and cancel all reservations.
//! - 10 % add seats to random rows at a new price, or take seats away. A row without seats is deleted, an absent one added.
//!
//! One lock guards all tables. A transaction is a failure-atomic region that logs each store before it is made. Rows,
//! customers, reservations and tree nodes are lines of one pool; its free list is persistent and changes with them.
//!
//! Simplified: a customer has at most `bookings` reservations, so that a deletion fits every log; there are no threads'
//! pools of memory.

mod check;
mod client;
mod manager;

use crate::operations::{two_regions, Lists};
use crate::papers::WHISPER;
use crate::params::{omits, param};
use crate::populate::loader;
use crate::rb_tree::tree::header;
use crate::About;
use manager::Manager;
use std::ops::Range;
use strandline_isa::{Addr, CoreId, Cpu, Image, Lowering, Memory, Thread, LINE_BYTES};
use strandline_kernel::{Param, ParamError, Params, Rng};
use strandline_runtime::{
    finish, log_records, BuildPlan, Demand, Heap, Locks, LogLayout, Plain, Rows, Table, ThreadState, Workload,
};

/// The workload's description.
pub const ABOUT: About = About {
    name: "vacation",
    line: "reservations of cars, flights and rooms",
    paper: "ASAP (HPCA 2022), Table III, Vacation, after STAMP (IISWC 2008)",
    tasks: 40_000,
    drift: Some("customers have no reservations at first: their lists grow"),
    params: PARAMS,
    small: &[
        ("relations", "5"),
        ("queries", "2"),
        ("queried", "100"),
        ("user", "60"),
        ("seats", "1"),
        ("bookings", "4"),
        ("pool", "56"),
        ("log_records", "344"),
    ],
    ..WHISPER
};

const PARAMS: &[Param] = &[
    param(
        "relations",
        4_000,
        1..=MOST_RELATIONS,
        "rows of each table at the start, and customers",
    ),
    param(
        "queries",
        1,
        1..=4,
        "the most rows that a transaction looks up or changes",
    ),
    param("queried", 80, 1..=100, "percent of the relations that transactions use"),
    param(
        "user",
        80,
        0..=100,
        "percent of transactions that reserve; of the others, half delete customers and half change rows",
    ),
    param(
        "seats",
        100,
        1..=1 << 20,
        "seats that a change adds or takes away; a row has one to five times as many at the start",
    ),
    param("bookings", 64, 1..=64, "the most reservations of a customer"),
    param(
        "pool",
        1 << 17,
        8..=1 << 24,
        "lines for rows, customers, reservations and tree nodes",
    ),
    Omits::PARAM,
    log_records(two_regions(records(1, 1))),
];

const MOST_RELATIONS: u64 = 1 << 16;

/// The most stores that change a tree, as `rb-tree` counts them: eight for a node, its link and the size, recolouring, and
/// two rotations with colours.
const TREE_RECORDS: u64 = 8 + 3 * (MOST_RELATIONS.ilog2() as u64 + 1) + 14;

/// The most stores of a transaction: a deletion of a customer whose `bookings` take four each; or `queries` rows with
/// their nodes; or a new customer with three reservations of eight.
const fn records(bookings: u64, queries: u64) -> u64 {
    let (deletion, change) = (4 * bookings + TREE_RECORDS + 4, queries * (TREE_RECORDS + 7));
    let reservation = TREE_RECORDS + 5 + 3 * 8;
    let most = if deletion > change { deletion } else { change };
    if most > reservation {
        most
    } else {
        reservation
    }
}

/// Tables, by number. The first three have rows, in which a price is.
const FLIGHTS: u64 = 1;
const KINDS: u64 = 3;
const CUSTOMERS: u64 = 3;

/// Offsets in a row of a kind's table.
mod row {
    pub const ID: u64 = 0;
    pub const TOTAL: u64 = 8;
    pub const USED: u64 = 16;
    pub const FREE: u64 = 24;
    pub const PRICE: u64 = 32;
}

/// Offsets in a customer.
mod customer {
    pub const ID: u64 = 0;
    /// The first reservation, or 0.
    pub const LIST: u64 = 8;
    /// How many there are.
    pub const COUNT: u64 = 16;
}

/// Offsets in a reservation.
mod booking {
    pub const NEXT: u64 = 0;
    /// The row's kind and number: the order of the list.
    pub const KEY: u64 = 8;
    /// What the customer pays.
    pub const PRICE: u64 = 16;
}

/// Position of the kind in a reservation's key.
const KIND_SHIFT: u64 = 32;

/// Offsets in the pool's header.
mod pool {
    /// The first free line; the next one is in its first word.
    pub const FREE: u64 = 0;
    /// The first line that was never used.
    pub const UNUSED: u64 = 8;
    pub const BYTES: u64 = 16;
}

/// Prices: 50 to 90, in tens.
const PRICES: u64 = 5;
const PRICE_STEP: u64 = 10;
const LEAST_PRICE: u64 = 50;

omits! {
    "the log and flush of a new reservation, or the log of a row's free seats":
    Booking = "booking",
    Free = "free",
}

/// The agency's tables.
pub struct Vacation {
    tables: Table<{ header::BYTES }>,
    pool: Table<{ pool::BYTES }>,
    lines: Rows,
    lock: Locks,
    /// What a lane's transaction has drawn, and the dearest row of each kind.
    lists: Lists,
    logs: LogLayout,
    relations: u64,
    /// Numbers that transactions draw from.
    range: u64,
    queries: u64,
    user: u64,
    seats: u64,
    bookings: u64,
    omits: Omits,
}

impl Vacation {
    /// Adds all rows and customers, each table's in random order.
    fn load(&self, memory: &Memory, seed: u64) {
        let mut rng = Rng::new(seed);
        let plain = Plain::new(memory, CoreId(0), Lowering::NOTHING);
        let cpu = &Thread::on(&plain);
        let ended = finish(|| {
            let mut state = loader(cpu, &self.logs, seed);
            for table in 0..=CUSTOMERS {
                for id in shuffled(&mut rng, self.relations) {
                    let seats = (state.random.below(5) + 1) * self.seats;
                    let price = client::draw_price(&mut state.random);
                    let mut region = state.log.begin();
                    let mut manager = Manager::new(cpu, &mut region, self);
                    let id = cpu.word(id);
                    match table {
                        CUSTOMERS => _ = manager.customer(id),
                        kind => manager.add_seats(cpu.word(kind), id, seats, price),
                    }
                    region.end();
                }
            }
        });
        ended.expect("nobody holds a lock");
    }
}

/// The numbers from 1 to `count`, in random order.
fn shuffled(rng: &mut Rng, count: u64) -> Vec<u64> {
    let mut numbers: Vec<u64> = (1..=count).collect();
    for i in (1..numbers.len()).rev() {
        let j = rng.next_u64() % (i as u64 + 1);
        numbers.swap(i, j as usize);
    }
    numbers
}

impl Workload for Vacation {
    fn lay_out(params: &Params, plan: &BuildPlan) -> Result<(Self, Heap), ParamError> {
        let (relations, queries) = (params.get("relations"), params.get("queries"));
        let (bookings, lines) = (params.get("bookings"), params.get("pool"));
        if lines < 8 * relations {
            return Err(ParamError(format!(
                "workload.pool={lines} with workload.relations={relations}: at least eight lines a relation"
            )));
        }
        let records = params.get("log_records").max(two_regions(records(bookings, queries)));
        let mut heap = Heap::new(plan);
        let agency = Vacation {
            tables: heap.table(CUSTOMERS + 1),
            pool: heap.table(1),
            lines: heap.rows(lines, LINE_BYTES, lines),
            lock: Locks::allocate(&mut heap, 1),
            lists: Lists::allocate(&mut heap, plan.lanes(), 2 * KINDS + 2 * queries),
            logs: LogLayout::allocate(&mut heap, plan.lanes(), records),
            relations,
            range: (relations * params.get("queried") / 100).max(1),
            queries,
            user: params.get("user"),
            seats: params.get("seats"),
            bookings,
            omits: Omits::of(params),
        };
        Ok((agency, heap))
    }

    fn fill(&self, memory: &Memory, seed: u64) {
        memory.set_word(Addr(self.pool.addr(0).0 + pool::UNUSED), self.lines.range().start);
        self.load(memory, seed);
    }

    fn region(params: &Params) -> Demand {
        let most = records(params.get("bookings"), params.get("queries"));
        Demand {
            lines: most,
            words: most,
        }
    }

    fn task<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        self.transact(thread);
    }

    /// Trees are sound. A row's used seats are the reservations of it in customers' lists, and used and free ones are all.
    /// Each line of the pool is in one place, or free.
    fn check(&self, image: &dyn Image) -> Result<(), String> {
        self.books(image).map(drop)
    }

    fn logs(&self) -> LogLayout {
        self.logs
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        vec![
            self.lines.range(),
            self.lists.range(),
            self.pool.range(),
            self.tables.range(),
            self.lock.range(1),
            self.logs.lists(),
            self.logs.range(),
        ]
    }
}

#[cfg(test)]
mod tests;
