//! The TPC-C tables of new-order, and the positions of their columns.
//!
//! Row sizes are TPC-C's (district 95 bytes, customer 655, item 82, stock 306, order 24, new-order 8, order line 54),
//! rounded up to words. Offsets are payload bytes except where noted.

use crate::filler::{fill, filler, pair};
use strandline_isa::Memory;
use strandline_kernel::Params;
use strandline_runtime::{place, Heap, Locks, Table};

/// Maximum number of order lines.
pub const MAX_LINES: u64 = 15;
/// Minimum number of order lines.
pub const MIN_LINES: u64 = 5;

pub mod warehouse {
    pub const TAX: u64 = 0;
    pub const BYTES: u64 = 96;
}

pub mod district {
    pub const NEXT_ORDER: u64 = 0;
    pub const TAX: u64 = 8;
    pub const BYTES: u64 = 96;
}

pub mod customer {
    pub const DISCOUNT: u64 = 0;
    pub const CREDIT: u64 = 8;
    pub const LAST_NAME: u64 = 16;
    pub const BYTES: u64 = 656;
}

pub mod item {
    pub const PRICE: u64 = 0;
    pub const NAME: u64 = 8;
    pub const BYTES: u64 = 88;
}

/// A line with quantity, order count, year-to-date and remote count (4 bytes each) and 16 bytes of text, then five
/// lines with the texts of two districts (24 bytes each) and 8 more bytes of text.
pub mod stock {
    pub const QUANTITY: u64 = 0;
    pub const ORDER_COUNT: u64 = 4;
    pub const YEAR_TO_DATE: u64 = 8;
    pub const HEAD_BYTES: u64 = 32;
    pub const DISTRICT_LINES: u64 = 5;
    pub const BYTES: u64 = 6 * 56;
}

pub mod order {
    pub const ID: u64 = 0;
    pub const CUSTOMER: u64 = 4;
    pub const ENTRY_DATE: u64 = 8;
    pub const LINES: u64 = 16;
    pub const ALL_LOCAL: u64 = 20;
    pub const BYTES: u64 = 24;
}

pub mod order_line {
    pub const ORDER: u64 = 0;
    pub const NUMBER: u64 = 4;
    pub const ITEM: u64 = 8;
    pub const WAREHOUSE: u64 = 12;
    pub const DELIVERY_DATE: u64 = 16;
    pub const QUANTITY: u64 = 24;
    pub const AMOUNT: u64 = 28;
    pub const DISTRICT_TEXT: u64 = 32;
    pub const BYTES: u64 = 56;
}

/// Words of a district's text.
pub const TEXT_WORDS: u64 = 3;

/// All tables, and the locks of districts and stock rows.
pub struct Tables {
    pub warehouse: Table<{ warehouse::BYTES }>,
    pub districts: Table<{ district::BYTES }>,
    pub customers: Table<{ customer::BYTES }>,
    pub items: Table<{ item::BYTES }>,
    pub stock: Table<{ stock::BYTES }>,
    pub orders: Table<{ order::BYTES }>,
    pub new_orders: Table<8>,
    pub order_lines: Table<{ order_line::BYTES }>,
    pub district_locks: Locks,
    pub stock_locks: Locks,
    /// Customers of a district.
    pub customer_count: u64,
    /// Order slots of a district.
    pub order_slots: u64,
    /// New-order slots of a district.
    pub new_order_slots: u64,
}

impl Tables {
    pub fn allocate(heap: &mut Heap, params: &Params) -> Tables {
        let (districts, items) = (params.get("districts"), params.get("items"));
        let (customer_count, order_slots) = (params.get("customers"), params.get("orders"));
        let new_order_slots = params.get("new_orders");
        Tables {
            warehouse: heap.table(1),
            districts: heap.table(districts),
            customers: heap.table(districts * customer_count),
            items: heap.table(items),
            stock: heap.table(items),
            orders: heap.table(districts * order_slots),
            new_orders: heap.table(districts * new_order_slots),
            order_lines: heap.table(districts * order_slots * MAX_LINES),
            district_locks: Locks::allocate(heap, districts),
            stock_locks: Locks::allocate(heap, items),
            customer_count,
            order_slots,
            new_order_slots,
        }
    }

    /// No orders yet; prices, taxes and stock as TPC-C draws them.
    pub fn fill(&self, memory: &Memory, seed: u64) {
        fill(memory, &self.warehouse, seed ^ 1 << 56, 0, warehouse::BYTES / 8);
        fill(memory, &self.districts, seed ^ 2 << 56, 0, district::BYTES / 8);
        fill(memory, &self.customers, seed ^ 3 << 56, 0, customer::BYTES / 8);
        fill(memory, &self.items, seed ^ 4 << 56, 0, item::BYTES / 8);
        fill(memory, &self.stock, seed ^ 5 << 56, 2, stock::BYTES / 8 - 2);
        memory.write(self.warehouse.field(0, warehouse::TAX), 8, seed % 2001);
        for row in 0..self.districts.rows() {
            memory.write(self.districts.field(row, district::NEXT_ORDER), 8, 1);
            memory.write(self.districts.field(row, district::TAX), 8, filler(seed, row, 0) % 2001);
        }
        for row in 0..self.customers.rows() {
            memory.write(
                self.customers.field(row, customer::DISCOUNT),
                8,
                filler(seed, row, 1) % 5001,
            );
        }
        for row in 0..self.items.rows() {
            memory.write(self.items.field(row, item::PRICE), 8, 100 + filler(seed, row, 2) % 9901);
            memory.write(
                self.stock.field(row, stock::QUANTITY),
                8,
                pair(first_quantity(seed, row), 0),
            );
        }
    }
}

/// The initial stock of an item: 10 to 100.
pub fn first_quantity(seed: u64, item: u64) -> u64 {
    10 + filler(seed, item, 3) % 91
}

/// Position of a district's text in a stock row, as an offset in the row, not a payload byte.
pub const fn district_text(district: u64) -> u64 {
    place(56 * (1 + district / 2)) + 24 * (district % 2)
}
