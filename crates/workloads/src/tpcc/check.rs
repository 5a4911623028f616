//! Consistency conditions, after TPC-C's clause 3.3.2: order numbers, order lines, stock.

use super::tables::{district, district_text, first_quantity, order, order_line, stock};
use super::tables::{MAX_LINES, MIN_LINES, TEXT_WORDS};
use super::Tpcc;
use crate::filler::halves;
use strandline_isa::{Addr, Image};

/// The quantities of each item in the orders that are still in their slots.
struct Sold {
    quantity: Vec<u64>,
    orders: Vec<u64>,
    /// Whether all orders are still in their slots.
    complete: bool,
}

impl Tpcc {
    pub(super) fn check_tables(&self, image: &dyn Image) -> Result<(), String> {
        let items = self.tables.items.rows() as usize;
        let mut sold = Sold {
            quantity: vec![0; items],
            orders: vec![0; items],
            complete: true,
        };
        for district in 0..self.tables.districts.rows() {
            self.check_district(image, district, &mut sold)?;
        }
        (0..items as u64).try_for_each(|item| self.check_stock(image, item, &sold))
    }

    /// The newest order precedes the next order number; every slot holds the newest order that maps to it.
    fn check_district(&self, image: &dyn Image, district: u64, sold: &mut Sold) -> Result<(), String> {
        let tables = &self.tables;
        let (next, _) = halves(image, tables.districts.field(district, district::NEXT_ORDER));
        let new_order = |id: u64| {
            let slot = district * tables.new_order_slots + id % tables.new_order_slots;
            image.word(tables.new_orders.addr(slot))
        };
        let wrong = |what: String| Err(format!("district {district}, next order {next}: {what}"));
        if next == 0 || new_order(next) == next || halves(image, self.order(district, next)).0 == next {
            return wrong("the next order is there already".to_owned());
        }
        sold.complete &= next - 1 <= tables.order_slots;
        for id in next.saturating_sub(tables.new_order_slots).max(1)..next {
            if new_order(id) != id {
                return wrong(format!("the slot of new-order {id} holds {}", new_order(id)));
            }
        }
        for id in next.saturating_sub(tables.order_slots).max(1)..next {
            self.check_order(image, district, id, sold)
                .or_else(|what| wrong(format!("order {id}: {what}")))?;
        }
        Ok(())
    }

    fn order(&self, district: u64, id: u64) -> Addr {
        self.tables
            .orders
            .addr(district * self.tables.order_slots + id % self.tables.order_slots)
    }

    /// The order has its stated number of lines, with ascending items.
    fn check_order(&self, image: &dyn Image, district: u64, id: u64, sold: &mut Sold) -> Result<(), String> {
        let row = self.order(district, id);
        let (found, customer) = halves(image, row);
        let (lines, _) = halves(image, Addr(row.0 + order::LINES));
        if found != id || customer >= self.tables.customer_count || !(MIN_LINES..=MAX_LINES).contains(&lines) {
            return Err(format!(
                "its slot holds number {found}, customer {customer}, {lines} lines"
            ));
        }
        let mut previous = None;
        for k in 0..lines {
            let item = self
                .check_line(image, district, id, k, sold)
                .map_err(|what| format!("line {k}: {what}"))?;
            if previous >= Some(item) {
                return Err(format!("line {k}: item {item} is out of order"));
            }
            previous = Some(item);
        }
        Ok(())
    }

    /// The line belongs to the order; its amount and text belong to its item. Returns the item.
    fn check_line(&self, image: &dyn Image, district: u64, id: u64, k: u64, sold: &mut Sold) -> Result<u64, String> {
        let slot = district * self.tables.order_slots + id % self.tables.order_slots;
        let row = self.tables.order_lines.addr(slot * MAX_LINES + k);
        let field = |offset| halves(image, Addr(row.0 + offset));
        let ((found, number), (item, _)) = (field(order_line::ORDER), field(order_line::ITEM));
        if (found, number) != (id, k + 1) || item >= self.tables.items.rows() {
            return Err(format!("it is line {number} of order {found}, for item {item}"));
        }
        let (quantity, amount) = field(order_line::QUANTITY);
        let (_, price) = halves(image, self.tables.items.addr(item));
        let text = Addr(self.tables.stock.addr(item).0 + district_text(district));
        let same = |i| image.word(Addr(row.0 + order_line::DISTRICT_TEXT + 8 * i)) == image.word(Addr(text.0 + 8 * i));
        if amount != quantity * price || !(1..=10).contains(&quantity) || !(0..TEXT_WORDS).all(same) {
            return Err(format!(
                "{quantity} of item {item} for {amount}, or another district's text"
            ));
        }
        sold.quantity[item as usize] += quantity;
        sold.orders[item as usize] += 1;
        Ok(item)
    }

    /// The stock of an item matches its sales, and the sales match the orders.
    fn check_stock(&self, image: &dyn Image, item: u64, sold: &Sold) -> Result<(), String> {
        let row = self.tables.stock.addr(item);
        let (number, left) = halves(image, Addr(row.0 + stock::NUMBER));
        let (taken, orders) = halves(image, Addr(row.0 + stock::YEAR_TO_DATE));
        let first = first_quantity(self.seed, item);
        // Stock is refilled by 91 at a time.
        let fits = (left + taken) % 91 == first % 91 && (10..=100).contains(&left);
        let known = (sold.quantity[item as usize], sold.orders[item as usize]);
        let all_there = taken >= known.0 && orders >= known.1 && (!sold.complete || (taken, orders) == known);
        if number == item && fits && all_there {
            return Ok(());
        }
        Err(format!(
            "stock of item {item}: numbered {number}, {left} left, {taken} taken in {orders} orders; {first} at first, {} in {} orders known",
            known.0, known.1
        ))
    }
}
