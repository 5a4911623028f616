//! The transaction.

use super::tables::{customer, district, district_text, item, new_order, order, order_line, stock, warehouse};
use super::tables::{MAX_LINES, MIN_LINES, TEXT_WORDS};
use super::Tpcc;
use strandline_isa::{sites, Cpu, LINE_BYTES, W};
use strandline_runtime::{Region, Step, ThreadState};

sites! {
    MORE_TO_LOCK = 0x3c56_4ec9;
    ALL_UNLOCKED = 0xeb3c_55f8;
    MORE_ITEMS_TO_DRAW = 0x9b00_f36b;
    MORE_LINES = 0xdf69_71d9;
    LIST_GOES_ON = 0x7305_62be;
    ITEM_MATCHES = 0x63f8_27e7;
    IS_ABOVE_FIRST = 0xfe4b_c21c;
    IS_IN_ORDER = 0xf3fe_015d;
    STOCK_IS_LOW = 0x5084_dfb5;
}

/// The transaction's data before it writes.
struct Order<'c, C: Cpu> {
    district: W<'c, C>,
    customer: W<'c, C>,
    /// The ascending list of items, and its length.
    items: W<'c, C>,
    lines: W<'c, C>,
}

impl Tpcc {
    pub(super) fn new_order<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let _call = thread.cpu.call(1);
        let cpu = thread.cpu;
        let order = self.draw(thread);
        let district_lock = self.tables.district_locks.at(order.district);
        thread.log.lock(district_lock);
        let mut k = cpu.word(0);
        while k.less(order.lines).branch(MORE_TO_LOCK) {
            let lock = self.stock_lock(&order, k);
            thread.log.lock(lock);
            k = k + 1;
        }

        self.write(thread, &order);

        while !k.is(0).branch(ALL_UNLOCKED) {
            k = k - 1;
            let lock = self.stock_lock(&order, k);
            thread.log.unlock(lock);
        }
        thread.log.unlock(district_lock);
    }

    fn stock_lock<'c, C: Cpu>(&self, order: &Order<'c, C>, k: W<'c, C>) -> W<'c, C> {
        self.tables.stock_locks.at((order.items + (k << 3)).load())
    }

    /// Draws district, customer and distinct items, sorted during the draw.
    fn draw<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>) -> Order<'c, C> {
        let _call = thread.cpu.call(1);
        let cpu = thread.cpu;
        let order = Order {
            district: thread.random.below(self.tables.districts.rows()),
            customer: thread.random.below(self.tables.customer_count),
            items: self.stacks.of(thread),
            lines: thread.random.below(MAX_LINES - MIN_LINES + 1) + MIN_LINES,
        };
        let mut drawn = cpu.word(0);
        while drawn.less(order.lines).branch(MORE_ITEMS_TO_DRAW) {
            let new = thread.random.below(self.tables.items.rows());
            let end = order.items + (drawn << 3);
            if !contains(order.items, end, new) {
                insert(order.items, end, new);
                drawn = drawn + 1;
            }
        }
        order
    }

    /// The failure-atomic region.
    fn write<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, order: &Order<'c, C>) {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        let tables = &self.tables;
        let district_row = tables.districts.row(order.district);
        let customer = order.district * tables.customer_count + order.customer;
        let customer_row = tables.customer_index.find(customer);
        let warehouse_row = cpu.word(tables.warehouse.addr(0).0);
        let warehouse_tax = warehouse_row.at(warehouse::TAX).load_sized(4);
        let district_tax = district_row.at(district::TAX).load_sized(4);
        let discount = customer_row.at(customer::DISCOUNT).load_sized(4);
        for word in [customer::LAST_NAME, customer::LAST_NAME + 8] {
            customer_row.at(word).load();
        }
        customer_row.at(customer::CREDIT).load_sized(2);

        let mut region = thread.log.begin();
        let id = self.take_id(&mut region, district_row);
        let slot = self.write_order(cpu, &mut region, order, id);
        let mut line = tables.order_lines.row(slot * MAX_LINES);
        let text = text_offset(order.district);
        let mut total = cpu.word(0);
        let mut k = cpu.word(0);
        loop {
            let item = (order.items + (k << 3)).load();
            let quantity = thread.random.below(10) + 1;
            k = k + 1;
            let more = k.less(order.lines).branch(MORE_LINES);
            let step = if more { Step::Shared } else { Step::Last };
            let bought = Bought {
                id,
                k,
                item,
                quantity,
                text,
            };
            total = total + self.write_line(cpu, &mut region, bought, line, step);
            if !more {
                break;
            }
            line = line + LINE_BYTES;
        }
        // The sum on the terminal; discount and taxes are in hundredths of a percent.
        let _ = total * (cpu.word(10_000) - discount) * (warehouse_tax + district_tax + 10_000);
    }

    /// Takes the district's next order number.
    fn take_id<'c, C: Cpu>(&self, region: &mut Region<'_, 'c, C>, row: W<'c, C>) -> W<'c, C> {
        let _call = row.call(2);
        region.log_packed(row, district::BYTES, district::WRITTEN);
        region.order(Step::Shared);
        let id = row.at(district::NEXT_ORDER).load_sized(4);
        region.update(row.at(district::NEXT_ORDER), id + 1, 4);
        region.finish();
        id
    }

    /// Writes order and new-order; returns the order's slot.
    fn write_order<'c, C: Cpu>(
        &self,
        cpu: &'c C,
        region: &mut Region<'_, 'c, C>,
        order: &Order<'c, C>,
        id: W<'c, C>,
    ) -> W<'c, C> {
        let _call = cpu.call(3);
        let tables = &self.tables;
        let slot = order.district * tables.order_slots + id.remainder(tables.order_slots);
        let row = tables.orders.row(slot);
        let new_slot = order.district * tables.new_order_slots + id.remainder(tables.new_order_slots);
        let new_row = tables.new_orders.row(new_slot);
        region.log_packed(row, order::BYTES, order::BYTES);
        region.log_packed(new_row, new_order::BYTES, new_order::BYTES);
        region.order(Step::Shared);
        region.update(row.at(order::ID), id, 4);
        region.update(row.at(order::CUSTOMER), order.customer, 4);
        region.update(row.at(order::ENTRY_DATE), cpu.word(0), 8);
        region.update(row.at(order::LINES), order.lines, 4);
        region.update(row.at(order::ALL_LOCAL), cpu.word(1), 4);
        region.update(new_row, id, 8);
        region.finish();
        slot
    }

    /// Takes one item out of the stock and writes its order line at `row`; returns the price.
    fn write_line<'c, C: Cpu>(
        &self,
        cpu: &'c C,
        region: &mut Region<'_, 'c, C>,
        bought: Bought<'c, C>,
        row: W<'c, C>,
        step: Step,
    ) -> W<'c, C> {
        let _call = cpu.call(4);
        let item_row = self.tables.item_index.find(bought.item);
        let stock_row = self.tables.stock_index.find(bought.item);
        let price = item_row.at(item::PRICE).load_sized(4);
        for i in 0..TEXT_WORDS {
            item_row.at(item::NAME + 8 * i).load();
        }
        region.log_packed(stock_row, stock::BYTES, stock::WRITTEN);
        region.log_packed(row, order_line::BYTES, order_line::BYTES);
        region.order(step);
        update_stock(region, stock_row, bought.quantity);

        let amount = price * bought.quantity;
        region.update(row.at(order_line::ORDER), bought.id, 4);
        region.update(row.at(order_line::NUMBER), bought.k, 4);
        region.update(row.at(order_line::ITEM), bought.item, 4);
        region.update(row.at(order_line::WAREHOUSE), cpu.word(0), 4);
        region.update(row.at(order_line::DELIVERY_DATE), cpu.word(0), 8);
        region.update(row.at(order_line::QUANTITY), bought.quantity, 4);
        region.update(row.at(order_line::AMOUNT), amount, 4);
        let text = stock_row + bought.text;
        for i in 0..TEXT_WORDS {
            let word = text.at(8 * i).load();
            region.update(row.at(order_line::DISTRICT_TEXT + 8 * i), word, 8);
        }
        region.finish();
        amount
    }
}

/// One order line: order number, position in the order from 1, item, quantity, and the position of the district's text
/// in stock rows.
#[derive(Clone, Copy)]
struct Bought<'c, C: Cpu> {
    id: W<'c, C>,
    k: W<'c, C>,
    item: W<'c, C>,
    quantity: W<'c, C>,
    text: W<'c, C>,
}

/// Whether the list from `start` to `end` contains `value`.
fn contains<'c, C: Cpu>(start: W<'c, C>, end: W<'c, C>, value: W<'c, C>) -> bool {
    let _call = start.call(3);
    let mut at = start;
    while at.less(end).branch(LIST_GOES_ON) {
        if at.load().equals(value).branch(ITEM_MATCHES) {
            return true;
        }
        at = at + 8;
    }
    false
}

/// Inserts `value` into the ascending list from `start` to `end`, which has space for one more.
fn insert<'c, C: Cpu>(start: W<'c, C>, end: W<'c, C>, value: W<'c, C>) {
    let _call = start.call(3);
    let mut at = end;
    while start.less(at).branch(IS_ABOVE_FIRST) {
        let below = at - 8;
        let other = below.load();
        if other.less(value).branch(IS_IN_ORDER) {
            break;
        }
        at.store(other);
        at = below;
    }
    at.store(value);
}

/// The position of `district`'s text in a stock row, as the program computes it.
fn text_offset<C: Cpu>(district: W<'_, C>) -> W<'_, C> {
    let from_one = district + 1;
    let offset = ((from_one >> 1) << 6) + (from_one & 1) * (8 * TEXT_WORDS) + 8;
    debug_assert_eq!(offset.bits(), district_text(district.bits()));
    offset
}

fn update_stock<'c, C: Cpu>(region: &mut Region<'_, 'c, C>, row: W<'c, C>, quantity: W<'c, C>) {
    let _call = row.call(3);
    let left = row.at(stock::QUANTITY).load_sized(4);
    let enough = !left.less(quantity + 10).branch(STOCK_IS_LOW);
    let left = if enough { left - quantity } else { left - quantity + 91 };
    region.update(row.at(stock::QUANTITY), left, 4);
    let sold = row.at(stock::YEAR_TO_DATE).load_sized(4) + quantity;
    region.update(row.at(stock::YEAR_TO_DATE), sold, 4);
    let orders = row.at(stock::ORDER_COUNT).load_sized(4) + 1;
    region.update(row.at(stock::ORDER_COUNT), orders, 4);
}
