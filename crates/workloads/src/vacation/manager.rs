//! The agency's operations on its tables, in an open region.

use super::{booking, customer, pool, row, Omits, Vacation, CUSTOMERS, FLIGHTS, KIND_SHIFT};
use crate::rb_tree::tree::{node, Tree};
use strandline_isa::{sites, Cpu, LINE_BYTES, W};
use strandline_runtime::Region;

sites! {
    IS_NOT_LISTED = 0xf0c7_3d8b;
    NO_LINE_IS_FREE = 0xb31f_af10;
    ALL_LINES_ARE_USED = 0x8ee7_c56e;
    CUSTOMER_IS_KNOWN = 0x865b_2101;
    NO_SEAT_IS_FREE = 0xc0b7_8d21;
    CUSTOMER_MAY_BOOK = 0x1f56_1fe2;
    BOOKINGS_END = 0xb367_7d1b;
    BOOKING_IS_LESS = 0xc6cd_70a7;
    CUSTOMER_IS_ABSENT = 0x5e3d_ca9b;
    ALL_ARE_CANCELLED = 0x2d52_4e94;
    CANCELLED_ROW_IS_GONE = 0xf583_3546;
    NO_ROW_GETS_SEATS = 0x4525_2836;
    NO_ROW_LOSES_SEATS = 0x4087_0f13;
    IS_FLIGHT = 0xcf0b_c57c;
    SEATS_ARE_USED = 0xcf9e_158d;
    NO_SEATS_ARE_LEFT = 0x9103_5366;
}

/// The tables, read and changed through a region.
pub(super) struct Manager<'t, 'l, 'c, C: Cpu> {
    pub cpu: &'c C,
    region: &'t mut Region<'l, 'c, C>,
    pub agency: &'t Vacation,
}

impl<'t, 'l, 'c, C: Cpu> Manager<'t, 'l, 'c, C> {
    pub fn new(cpu: &'c C, region: &'t mut Region<'l, 'c, C>, agency: &'t Vacation) -> Self {
        Manager { cpu, region, agency }
    }

    pub fn read(&mut self, at: W<'c, C>) -> W<'c, C> {
        self.region.read(at, 8)
    }

    fn write(&mut self, at: W<'c, C>, value: W<'c, C>) {
        self.region.write(at, value, 8);
    }

    /// Adds to a word.
    fn add(&mut self, at: W<'c, C>, amount: W<'c, C>) {
        let old = self.read(at);
        self.write(at, old + amount);
    }

    /// Subtracts from a word.
    fn subtract(&mut self, at: W<'c, C>, amount: W<'c, C>) {
        let old = self.read(at);
        self.write(at, old - amount);
    }

    fn tree(&mut self, table: W<'c, C>) -> Tree<'_, 'l, 'c, C> {
        Tree {
            cpu: self.cpu,
            header: self.agency.tables.row(table),
            region: &mut *self.region,
        }
    }

    /// What a table has under this number, or 0.
    pub fn find(&mut self, table: W<'c, C>, id: W<'c, C>) -> W<'c, C> {
        let _call = table.call(3);
        let node = self.tree(table).find(id).node;
        match node.is(0).branch(IS_NOT_LISTED) {
            true => node,
            false => self.read(node.at(node::VALUE)),
        }
    }

    /// A line of the pool, if there is one.
    fn take(&mut self) -> Option<W<'c, C>> {
        let pool = self.cpu.word(self.agency.pool.addr(0).0);
        let free = self.read(pool.at(pool::FREE));
        if !free.is(0).branch(NO_LINE_IS_FREE) {
            let next = self.read(free);
            self.write(pool.at(pool::FREE), next);
            return Some(free);
        }
        let unused = self.read(pool.at(pool::UNUSED));
        if unused.is(self.agency.lines.range().end).branch(ALL_LINES_ARE_USED) {
            return None;
        }
        self.write(pool.at(pool::UNUSED), unused + LINE_BYTES);
        Some(unused)
    }

    fn free(&mut self, line: W<'c, C>) {
        let _call = line.call(2);
        let head = self.cpu.word(self.agency.pool.addr(0).0).at(pool::FREE);
        let next = self.read(head);
        self.write(line, next);
        self.write(head, line);
    }

    /// Two lines, or none.
    fn take_two(&mut self) -> Option<[W<'c, C>; 2]> {
        let first = self.take()?;
        let second = self.take();
        if second.is_none() {
            self.free(first);
        }
        second.map(|second| [first, second])
    }

    /// The customer of this number, who is added if absent; `None` without memory.
    pub fn customer(&mut self, id: W<'c, C>) -> Option<W<'c, C>> {
        let _call = id.call(2);
        let table = self.cpu.word(CUSTOMERS);
        let place = self.tree(table).find(id);
        if !place.node.is(0).branch(CUSTOMER_IS_KNOWN) {
            return Some(self.read(place.node.at(node::VALUE)));
        }
        let [new, node] = self.take_two()?;
        let zero = self.cpu.word(0);
        self.write(new.at(customer::ID), id);
        self.write(new.at(customer::LIST), zero);
        self.write(new.at(customer::COUNT), zero);
        self.tree(table).insert(place, node, id, new);
        Some(new)
    }

    /// Reserves a seat of a row, if one is free.
    pub fn book(&mut self, customer: W<'c, C>, kind: W<'c, C>, row: W<'c, C>) {
        let _call = customer.call(4);
        let free = self.read(row.at(row::FREE));
        if free.is(0).branch(NO_SEAT_IS_FREE) {
            return;
        }
        let count = self.read(customer.at(customer::COUNT));
        if !count.below(self.agency.bookings).branch(CUSTOMER_MAY_BOOK) {
            return;
        }
        let Some(new) = self.take() else {
            return;
        };
        let key = (kind << KIND_SHIFT) | self.read(row.at(row::ID));
        let price = self.read(row.at(row::PRICE));
        let one = self.cpu.word(1);
        self.add(row.at(row::USED), one);
        if self.agency.omits == Omits::Free {
            row.at(row::FREE).store(free - 1);
            row.flush();
        } else {
            self.write(row.at(row::FREE), free - 1);
        }
        self.list(customer, new, key, price);
        self.write(customer.at(customer::COUNT), count + 1);
    }

    /// Links a new reservation where its key belongs.
    fn list(&mut self, customer: W<'c, C>, new: W<'c, C>, key: W<'c, C>, price: W<'c, C>) {
        let _call = customer.call(5);
        let mut link = customer.at(customer::LIST);
        let mut next = self.read(link);
        while !next.is(0).branch(BOOKINGS_END) {
            let other = self.read(next.at(booking::KEY));
            if !other.less(key).branch(BOOKING_IS_LESS) {
                break;
            }
            link = next.at(booking::NEXT);
            next = self.read(link);
        }
        if self.agency.omits == Omits::Booking {
            new.at(booking::NEXT).store(next);
            new.at(booking::KEY).store(key);
            new.at(booking::PRICE).store(price);
        } else {
            self.write(new.at(booking::NEXT), next);
            self.write(new.at(booking::KEY), key);
            self.write(new.at(booking::PRICE), price);
        }
        self.write(link, new);
    }

    /// Cancels all reservations of a customer, who is deleted; returns the bill.
    pub fn delete_customer(&mut self, id: W<'c, C>) -> W<'c, C> {
        let _call = id.call(2);
        let mut bill = self.cpu.word(0);
        let table = self.cpu.word(CUSTOMERS);
        let node = self.tree(table).find(id).node;
        if node.is(0).branch(CUSTOMER_IS_ABSENT) {
            return bill;
        }
        let customer = self.read(node.at(node::VALUE));
        let mut at = self.read(customer.at(customer::LIST));
        while !at.is(0).branch(ALL_ARE_CANCELLED) {
            let next = self.read(at.at(booking::NEXT));
            bill = bill + self.read(at.at(booking::PRICE));
            self.cancel(at);
            at = next;
        }
        let gone = self.tree(table).delete(node);
        self.free(gone);
        self.free(customer);
        bill
    }

    /// Gives back the seat of a reservation, and frees it.
    fn cancel(&mut self, booking: W<'c, C>) {
        let _call = booking.call(2);
        let key = self.read(booking.at(booking::KEY));
        let row = self.find(key >> KIND_SHIFT, key & ((1 << KIND_SHIFT) - 1));
        let one = self.cpu.word(1);
        if !row.is(0).branch(CANCELLED_ROW_IS_GONE) {
            self.subtract(row.at(row::USED), one);
            self.add(row.at(row::FREE), one);
        }
        self.free(booking);
    }

    /// Adds seats to a row, which is added if absent, and sets its price.
    pub fn add_seats(&mut self, kind: W<'c, C>, id: W<'c, C>, seats: W<'c, C>, price: W<'c, C>) {
        let _call = kind.call(5);
        let place = self.tree(kind).find(id);
        if !place.node.is(0).branch(NO_ROW_GETS_SEATS) {
            let known = self.read(place.node.at(node::VALUE));
            self.add(known.at(row::TOTAL), seats);
            self.add(known.at(row::FREE), seats);
            return self.write(known.at(row::PRICE), price);
        }
        let Some([new, node]) = self.take_two() else {
            return;
        };
        let zero = self.cpu.word(0);
        self.write(new.at(row::ID), id);
        self.write(new.at(row::TOTAL), seats);
        self.write(new.at(row::USED), zero);
        self.write(new.at(row::FREE), seats);
        self.write(new.at(row::PRICE), price);
        self.tree(kind).insert(place, node, id, new);
    }

    /// Takes seats away, of a flight all, if so many are free. A row without seats is deleted.
    pub fn take_seats(&mut self, kind: W<'c, C>, id: W<'c, C>) {
        let _call = kind.call(3);
        let node = self.tree(kind).find(id).node;
        if node.is(0).branch(NO_ROW_LOSES_SEATS) {
            return;
        }
        let known = self.read(node.at(node::VALUE));
        let total = self.read(known.at(row::TOTAL));
        let free = self.read(known.at(row::FREE));
        let seats = match kind.is(FLIGHTS).branch(IS_FLIGHT) {
            true => total,
            false => self.cpu.word(self.agency.seats),
        };
        if free.less(seats).branch(SEATS_ARE_USED) {
            return;
        }
        if total.equals(seats).branch(NO_SEATS_ARE_LEFT) {
            let gone = self.tree(kind).delete(node);
            self.free(gone);
            return self.free(known);
        }
        self.write(known.at(row::TOTAL), total - seats);
        self.write(known.at(row::FREE), free - seats);
    }
}
