//! The invariant of the tables.

use super::{booking, customer, pool, row, Vacation, CUSTOMERS, KINDS, KIND_SHIFT, LEAST_PRICE, PRICES, PRICE_STEP};
use crate::rb_tree::check::nodes;
use crate::rb_tree::tree::{header, node};
use std::collections::{BTreeMap, BTreeSet};
use strandline_isa::{Addr, Image, LINE_BYTES};

/// A row's seats and price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seats {
    pub total: u64,
    pub used: u64,
    pub price: u64,
}

/// A customer's reservations: of each the row, by kind and number, and the price.
pub(super) type Bookings = Vec<((u64, u64), u64)>;

/// All tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Books {
    /// The rows, by kind and number.
    pub rows: BTreeMap<(u64, u64), Seats>,
    pub customers: BTreeMap<u64, Bookings>,
}

/// Lines of the pool, each in one place.
struct Lines<'a> {
    agency: &'a Vacation,
    known: BTreeSet<u64>,
    unused: u64,
}

impl Lines<'_> {
    /// A line has been found.
    fn see(&mut self, at: u64, what: &str) -> Result<(), String> {
        if self.agency.lines.index_of(at).is_none() || at >= self.unused {
            return Err(format!("{what} is at {}, which is no line in use", Addr(at)));
        }
        match self.known.insert(at) {
            true => Ok(()),
            false => Err(format!("the line at {} is {what}, and something else, too", Addr(at))),
        }
    }
}

/// Whether this is a price.
fn check_price(price: u64, what: &str) -> Result<(), String> {
    let steps = price.wrapping_sub(LEAST_PRICE);
    match steps % PRICE_STEP == 0 && steps / PRICE_STEP < PRICES {
        true => Ok(()),
        false => Err(format!("{what} costs {price}, which is no price")),
    }
}

impl Vacation {
    /// The numbers of a table, and where their rows or customers are.
    fn listed(&self, image: &dyn Image, table: u64, lines: &mut Lines<'_>) -> Result<Vec<(u64, u64)>, String> {
        let header = self.tables.addr(table).0;
        let root = image.word(Addr(header + header::ROOT));
        let nodes = nodes(image, root, &|node| self.lines.index_of(node).is_some())?;
        let size = image.word(Addr(header + header::SIZE));
        if size != nodes.len() as u64 {
            return Err(format!(
                "table {table} has {} nodes, but its size is {size}",
                nodes.len()
            ));
        }
        let mut listed = Vec::new();
        for at in nodes {
            let (id, value) = (image.word(Addr(at + node::KEY)), image.word(Addr(at + node::VALUE)));
            lines.see(at, &format!("node {id} of table {table}"))?;
            lines.see(value, &format!("number {id} of table {table}"))?;
            // Both kinds of rows begin with their number.
            if image.word(Addr(value)) != id || !(1..=self.relations).contains(&id) {
                return Err(format!(
                    "number {id} of table {table} has {} as its number",
                    image.word(Addr(value))
                ));
            }
            listed.push((id, value));
        }
        Ok(listed)
    }

    fn seats(&self, image: &dyn Image, kind: u64, id: u64, at: u64) -> Result<Seats, String> {
        let word = |offset| image.word(Addr(at + offset));
        let (total, used, free) = (word(row::TOTAL), word(row::USED), word(row::FREE));
        if used.checked_add(free) != Some(total) || total == 0 || total % self.seats != 0 {
            return Err(format!(
                "row {id} of table {kind} has {used} used and {free} free of {total} seats"
            ));
        }
        check_price(word(row::PRICE), &format!("row {id} of table {kind}"))?;
        Ok(Seats {
            total,
            used,
            price: word(row::PRICE),
        })
    }

    /// The reservations of a customer.
    fn booked(&self, image: &dyn Image, id: u64, at: u64, lines: &mut Lines<'_>) -> Result<Bookings, String> {
        let mut booked = Vec::new();
        let mut next = image.word(Addr(at + customer::LIST));
        while next != 0 {
            lines.see(next, &format!("a reservation of customer {id}"))?;
            let (key, price) = (
                image.word(Addr(next + booking::KEY)),
                image.word(Addr(next + booking::PRICE)),
            );
            check_price(price, &format!("a reservation of customer {id}"))?;
            booked.push(((key >> KIND_SHIFT, key & ((1 << KIND_SHIFT) - 1)), price));
            next = image.word(Addr(next + booking::NEXT));
        }
        let count = image.word(Addr(at + customer::COUNT));
        if count != booked.len() as u64 || count > self.bookings {
            return Err(format!(
                "customer {id} has {} reservations, but their count is {count}",
                booked.len()
            ));
        }
        if !booked.is_sorted_by_key(|(row, _)| *row) {
            return Err(format!("the reservations of customer {id} are out of order"));
        }
        Ok(booked)
    }

    /// Walks the free lines; then each line is known that was ever used.
    fn check_pool(&self, image: &dyn Image, lines: &mut Lines<'_>) -> Result<(), String> {
        let mut free = image.word(Addr(self.pool.addr(0).0 + pool::FREE));
        while free != 0 {
            lines.see(free, "a free line")?;
            free = image.word(Addr(free));
        }
        let range = self.lines.range();
        if !(range.start..=range.end).contains(&lines.unused) || lines.unused % LINE_BYTES != 0 {
            return Err(format!(
                "the lines from {} on are unused, which are none",
                Addr(lines.unused)
            ));
        }
        let mut used = (range.start..lines.unused).step_by(LINE_BYTES as usize);
        match used.find(|line| !lines.known.contains(line)) {
            Some(lost) => Err(format!("the line at {} is lost: neither in use nor free", Addr(lost))),
            None => Ok(()),
        }
    }

    /// Everything that the tables hold, if the invariant does.
    pub(super) fn books(&self, image: &dyn Image) -> Result<Books, String> {
        let mut lines = Lines {
            agency: self,
            known: BTreeSet::new(),
            unused: image.word(Addr(self.pool.addr(0).0 + pool::UNUSED)),
        };
        let mut books = Books::default();
        for kind in 0..KINDS {
            for (id, at) in self.listed(image, kind, &mut lines)? {
                books.rows.insert((kind, id), self.seats(image, kind, id, at)?);
            }
        }
        let mut reserved: BTreeMap<(u64, u64), u64> = BTreeMap::new();
        for (id, at) in self.listed(image, CUSTOMERS, &mut lines)? {
            let booked = self.booked(image, id, at, &mut lines)?;
            booked
                .iter()
                .for_each(|(row, _)| *reserved.entry(*row).or_default() += 1);
            books.customers.insert(id, booked);
        }
        self.check_pool(image, &mut lines)?;
        if let Some(row) = reserved.keys().find(|row| !books.rows.contains_key(row)) {
            return Err(format!("row {} of table {} is reserved, and not there", row.1, row.0));
        }
        for ((kind, id), Seats { used, .. }) in &books.rows {
            let found = reserved.get(&(*kind, *id)).copied().unwrap_or_default();
            if found != *used {
                return Err(format!(
                    "row {id} of table {kind} has {used} used seats, and {found} reservations"
                ));
            }
        }
        Ok(books)
    }
}
