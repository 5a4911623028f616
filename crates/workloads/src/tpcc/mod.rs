//! `tpcc`: the new-order transaction of TPC-C.
//!
//! COSPlay (MICRO 2021), section 5, Table 3 "TPCC", after Kolli et al. (ASPLOS 2016). Sizes are TPC-C's (clause 1.2.1):
//! one warehouse, 10 districts of 3,000 customers, 100,000 items and stock rows, and for each district 3,000 order and
//! 900 new-order slots; rows have their texts. Customers, items and stock rows are found through hash indexes in
//! volatile memory (`index`); no paper names one. Each district and each stock row has a lock. A task orders 5 to 15
//! distinct items. It locks the district and the stock rows in order and reads warehouse, customer and items. Its
//! failure-atomic region has a dozen steps of log and updates: it takes the order's number, writes order and new-order,
//! and writes for each item the order line and the stock row. Whole rows are logged, packed; written lines are flushed.
//! The updates of a step persist with the log of the next ([`Step::Shared`](strandline_runtime::Step)): a fence for
//! each step, and one at the end (COSPlay, section 6.3, counts 12 a transaction).
//!
//! Simplified: only this transaction, and it never aborts; slots are rings, so a new order replaces an old one; there
//! are no orders at the start; items come from the one warehouse; dates are zero; customers are uniform; texts have
//! their greatest length; the brand test of item and stock texts is left out; locks are in DRAM, packed.

mod check;
mod index;
mod tables;
mod task;

use crate::operations::Lists;
use crate::papers::COSPLAY;
use crate::params::param;
use crate::About;
use std::ops::Range;
use strandline_isa::{Cpu, Image, Memory};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{log_records, BuildPlan, Demand, Heap, LogLayout, ThreadState, Workload};
use tables::{Tables, MAX_LINES};

/// The workload's description.
pub const ABOUT: About = About {
    name: "tpcc",
    line: "the new-order transaction of TPC-C",
    paper: "COSPlay (MICRO 2021), Table 3, TPCC",
    tasks: 5_000,
    drift: Some("new orders fill slots that no order has had"),
    params: PARAMS,
    small: &[
        ("districts", "3"),
        ("customers", "4"),
        ("items", "20"),
        ("orders", "8"),
        ("new_orders", "3"),
        ("log_records", "250"),
    ],
    ..COSPLAY
};

const PARAMS: &[Param] = &[
    param("districts", 10, 1..=10, "districts of the warehouse"),
    param("customers", 3_000, 1..=100_000, "customers of a district"),
    param("items", 100_000, MAX_LINES..=1_000_000, "items, and stock rows"),
    param("orders", 3_000, 1..=100_000, "order slots of a district"),
    param("new_orders", 900, 1..=100_000, "new-order slots of a district"),
    // Three lines of records for the district, one for each of order and new-order, eight for each of fifteen items;
    // two regions.
    log_records(2 * (5 + 8 * MAX_LINES)),
];

/// The tables of one warehouse.
pub struct Tpcc {
    tables: Tables,
    /// Each lane's list of ordered items.
    stacks: Lists,
    logs: LogLayout,
    seed: u64,
}

impl Workload for Tpcc {
    fn lay_out(params: &Params, plan: &BuildPlan) -> Result<(Self, Heap), ParamError> {
        let mut heap = Heap::new(plan);
        let tpcc = Tpcc {
            tables: Tables::allocate(&mut heap, params),
            stacks: Lists::allocate(&mut heap, plan.lanes(), MAX_LINES),
            logs: LogLayout::allocate(&mut heap, plan.lanes(), params.get("log_records")),
            seed: plan.seed,
        };
        Ok((tpcc, heap))
    }

    fn fill(&self, memory: &Memory, seed: u64) {
        self.tables.fill(memory, seed);
    }

    fn region(_: &Params) -> Demand {
        // The district, order and new-order; a stock row and an order line for each item.
        Demand {
            lines: 3 + 2 * MAX_LINES,
            words: 5 + 9 * MAX_LINES,
        }
    }

    fn restart(&self, image: &dyn Image) {
        self.tables.index(image);
    }

    fn task<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        self.new_order(thread);
    }

    fn check(&self, image: &dyn Image) -> Result<(), String> {
        self.check_tables(image)
    }

    fn logs(&self) -> LogLayout {
        self.logs
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        let tables = &self.tables;
        vec![
            tables.order_lines.range(),
            tables.customers.range(),
            tables.orders.range(),
            tables.new_orders.range(),
            tables.items.range(),
            tables.stock.range(),
            tables.customer_index.range(),
            tables.item_index.range(),
            tables.stock_index.range(),
            tables.stock_locks.range(tables.items.rows()),
            tables.warehouse.range(),
            tables.districts.range(),
            self.logs.lists(),
            self.logs.range(),
        ]
    }
}
