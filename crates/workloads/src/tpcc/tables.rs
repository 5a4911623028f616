//! The TPC-C tables of new-order, and the positions of their columns.
//!
//! Rows have the bytes of TPC-C's clause 1.2.1: warehouse 89, district 95, customer 655, item 82, stock 306, order 24,
//! new-order 8, order line 54. Columns that change come first, so that they are in a row's first line. Columns that
//! nothing here reads are not told apart: they are letters, in the bytes that are left. Offsets are payload bytes
//! except where noted.

use super::index::Index;
use crate::filler::{filler, pair};
use strandline_isa::{Addr, Image, Line, LineData, Memory, LINE_BYTES};
use strandline_kernel::Params;
use strandline_runtime::{Heap, Locks, Table, PAYLOAD_BYTES};

/// Maximum number of order lines.
pub const MAX_LINES: u64 = 15;
/// Minimum number of order lines.
pub const MIN_LINES: u64 = 5;

/// Tax (4 bytes), then texts.
pub mod warehouse {
    pub const TAX: u64 = 0;
    pub const BYTES: u64 = 89;
}

/// Next order number and tax (4 bytes each), then texts.
pub mod district {
    pub const NEXT_ORDER: u64 = 0;
    pub const TAX: u64 = 4;
    /// The bytes that a transaction writes.
    pub const WRITTEN: u64 = 8;
    pub const BYTES: u64 = 95;
}

/// Number and discount (4 bytes each), last name (16 bytes), credit (2 bytes), then other texts.
pub mod customer {
    pub const DISCOUNT: u64 = 4;
    pub const LAST_NAME: u64 = 8;
    pub const CREDIT: u64 = 24;
    pub const BYTES: u64 = 655;
}

/// Number and price (4 bytes each), name (24 bytes), data (50 bytes).
pub mod item {
    pub const PRICE: u64 = 4;
    pub const NAME: u64 = 8;
    pub const BYTES: u64 = 82;
}

/// Number, quantity, year-to-date and order count (4 bytes each), 16 bytes of data and the text of the first district
/// (24 bytes). Then four lines, each with 8 bytes of data and the texts of two districts; the last one has one text. As
/// there is one warehouse, its number and the count of remote orders are left out, and the other numbers have their
/// bytes.
pub mod stock {
    pub const NUMBER: u64 = 0;
    pub const QUANTITY: u64 = 4;
    pub const YEAR_TO_DATE: u64 = 8;
    pub const ORDER_COUNT: u64 = 12;
    /// The bytes that a transaction writes.
    pub const WRITTEN: u64 = 16;
    pub const BYTES: u64 = 5 * 56 + 32;
}

pub mod order {
    pub const ID: u64 = 0;
    pub const CUSTOMER: u64 = 4;
    pub const ENTRY_DATE: u64 = 8;
    pub const LINES: u64 = 16;
    pub const ALL_LOCAL: u64 = 20;
    pub const BYTES: u64 = 24;
}

pub mod new_order {
    pub const BYTES: u64 = 8;
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

/// All tables, the indexes by which rows are found, and the locks of districts and stock rows.
pub struct Tables {
    pub warehouse: Table<{ warehouse::BYTES }>,
    pub districts: Table<{ district::BYTES }>,
    pub customers: Table<{ customer::BYTES }>,
    pub items: Table<{ item::BYTES }>,
    pub stock: Table<{ stock::BYTES }>,
    pub orders: Table<{ order::BYTES }>,
    pub new_orders: Table<{ new_order::BYTES }>,
    pub order_lines: Table<{ order_line::BYTES }>,
    pub customer_index: Index,
    pub item_index: Index,
    pub stock_index: Index,
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
        let customers = districts * customer_count;
        let tables = Tables {
            warehouse: heap.table(1),
            districts: heap.table(districts),
            customers: heap.table(customers),
            items: heap.table(items),
            stock: heap.table(items),
            orders: heap.table(districts * order_slots),
            new_orders: heap.table(districts * new_order_slots),
            order_lines: heap.table(districts * order_slots * MAX_LINES),
            customer_index: Index::allocate(heap, customers),
            item_index: Index::allocate(heap, items),
            stock_index: Index::allocate(heap, items),
            district_locks: Locks::allocate(heap, districts),
            stock_locks: Locks::allocate(heap, items),
            customer_count,
            order_slots,
            new_order_slots,
        };
        let on_demand = [
            tables.customers.range(),
            tables.items.range(),
            tables.stock.range(),
            tables.orders.range(),
            tables.new_orders.range(),
            tables.order_lines.range(),
        ];
        heap.on_demand(on_demand.iter().map(|range| range.end - range.start).sum());
        tables
    }

    /// No orders yet; prices, taxes and stock as TPC-C draws them.
    pub fn fill(&self, memory: &Memory, seed: u64) {
        let tax = move |row| filler(seed, row, 0) % 2001;
        fill(memory, self.warehouse, seed ^ 1 << 56, move |_| [pair(tax(1 << 32), 0)]);
        fill(memory, self.districts, seed ^ 2 << 56, move |row| [pair(1, tax(row))]);
        fill(memory, self.customers, seed ^ 3 << 56, move |row| {
            [pair(row, filler(seed, row, 1) % 5001)]
        });
        fill(memory, self.items, seed ^ 4 << 56, move |row| {
            [pair(row, 100 + filler(seed, row, 2) % 9901)]
        });
        fill(memory, self.stock, seed ^ 5 << 56, move |row| {
            [pair(row, first_quantity(seed, row)), 0]
        });
        self.index(memory);
    }

    /// Builds the indexes, in volatile memory that is zero.
    pub fn index(&self, image: &dyn Image) {
        self.customer_index.fill(image, addresses(self.customers));
        self.item_index.fill(image, addresses(self.items));
        self.stock_index.fill(image, addresses(self.stock));
    }
}

/// The addresses of a table's rows.
fn addresses<const PAYLOAD: u64>(table: Table<PAYLOAD>) -> impl Iterator<Item = Addr> {
    (0..table.rows()).map(move |row| table.addr(row))
}

/// Fills a table when it is touched: letters, and the first words of each row.
fn fill<const PAYLOAD: u64, const N: usize>(
    memory: &Memory,
    table: Table<PAYLOAD>,
    seed: u64,
    first: impl Fn(u64) -> [u64; N] + Send + Sync + 'static,
) {
    let lines = PAYLOAD.div_ceil(PAYLOAD_BYTES);
    let start = table.range().start;
    memory.fill(table.range(), move |line: Line| -> LineData {
        let number = (line.addr().0 - start) / LINE_BYTES;
        let (row, line) = (number / lines, number % lines);
        let words = PAYLOAD_BYTES / 8;
        let mut data: LineData = std::array::from_fn(|word| letters(seed, row, line * words + word as u64));
        data[words as usize] = 0;
        if line == 0 {
            data[..N].copy_from_slice(&first(row));
        }
        data
    });
}

/// Eight letters of a text.
fn letters(seed: u64, row: u64, word: u64) -> u64 {
    let drawn = filler(seed, row, word).to_le_bytes();
    u64::from_le_bytes(drawn.map(|byte| b'A' + byte % 26))
}

/// The initial stock of an item: 10 to 100.
pub fn first_quantity(seed: u64, item: u64) -> u64 {
    10 + filler(seed, item, 3) % 91
}

/// Position of a district's text in a stock row, as an offset in the row, not a payload byte.
pub const fn district_text(district: u64) -> u64 {
    let from_one = district + 1;
    from_one / 2 * LINE_BYTES + from_one % 2 * 8 * TEXT_WORDS + 8
}
