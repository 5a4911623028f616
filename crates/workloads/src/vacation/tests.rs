use super::check::{Books, Seats};
use super::*;
use crate::testing::{self, drawn, plain, try_built};
use strandline_runtime::Random;

/// An agency as STAMP's paper describes it.
struct Model<'a> {
    agency: &'a Vacation,
    books: Books,
    /// What happened: reservations, full rows, full customers, deletions, rows added, changed, reduced, deleted.
    seen: [u64; 8],
}

type Draws<'c, 'm> = Random<'c, Plain<'m>>;

impl Model<'_> {
    /// A number of rows, and as many rows.
    fn rows(&self, random: &mut Draws<'_, '_>, mut each: impl FnMut(&mut Draws<'_, '_>, (u64, u64))) {
        let queries = match self.agency.queries {
            1 => 1,
            queries => drawn(random, queries) + 1,
        };
        for _ in 0..queries {
            let kind = drawn(random, KINDS);
            let id = drawn(random, self.agency.range) + 1;
            each(random, (kind, id));
        }
    }

    fn reserve(&mut self, random: &mut Draws<'_, '_>) {
        let customer = drawn(random, self.agency.range) + 1;
        let mut best: [Option<(u64, u64)>; KINDS as usize] = [None; KINDS as usize];
        self.rows(random, |_, row| {
            let Some(seats) = self.books.rows.get(&row) else { return };
            let known = &mut best[row.0 as usize];
            if known.is_none_or(|(price, _)| price < seats.price) {
                *known = Some((seats.price, row.1));
            }
        });
        if best.iter().all(Option::is_none) {
            return;
        }
        let booked = self.books.customers.entry(customer).or_default();
        for (kind, found) in (0..).zip(best) {
            let Some((price, id)) = found else { continue };
            let seats = self.books.rows.get_mut(&(kind, id)).unwrap();
            if seats.used == seats.total {
                self.seen[1] += 1;
            } else if booked.len() as u64 == self.agency.bookings {
                self.seen[2] += 1;
            } else {
                seats.used += 1;
                let at = booked.partition_point(|(row, _)| *row < (kind, id));
                booked.insert(at, ((kind, id), price));
                self.seen[0] += 1;
            }
        }
    }

    fn delete(&mut self, random: &mut Draws<'_, '_>) {
        let customer = drawn(random, self.agency.range) + 1;
        let Some(booked) = self.books.customers.remove(&customer) else {
            return;
        };
        for (row, _) in booked {
            self.books.rows.get_mut(&row).unwrap().used -= 1;
        }
        self.seen[3] += 1;
    }

    fn change(&mut self, random: &mut Draws<'_, '_>) {
        let mut changes = Vec::new();
        self.rows(random, |random, row| {
            let adds = drawn(random, 2) == 1;
            changes.push((row, adds, finish(|| client::draw_price(random)).unwrap().bits()));
        });
        for (row, adds, price) in changes {
            let unit = self.agency.seats;
            match self.books.rows.get_mut(&row) {
                None if adds => {
                    self.books.rows.insert(
                        row,
                        Seats {
                            total: unit,
                            used: 0,
                            price,
                        },
                    );
                    self.seen[4] += 1;
                }
                None => {}
                Some(seats) if adds => {
                    (seats.total, seats.price) = (seats.total + unit, price);
                    self.seen[5] += 1;
                }
                Some(seats) => {
                    let less = if row.0 == FLIGHTS { seats.total } else { unit };
                    if seats.total == less && seats.used == 0 {
                        self.books.rows.remove(&row);
                        self.seen[7] += 1;
                    } else if seats.total - seats.used >= less {
                        seats.total -= less;
                        self.seen[6] += 1;
                    }
                }
            }
        }
    }

    /// The next transaction, as a thread with these random numbers draws it.
    fn transact(&mut self, random: &mut Draws<'_, '_>) {
        let draw = drawn(random, 100);
        if draw < self.agency.user {
            self.reserve(random);
        } else if draw & 1 == 0 {
            self.delete(random);
        } else {
            self.change(random);
        }
    }
}

/// A hundred thousand transactions; in `make thorough` a million.
#[test]
fn transactions_do_what_the_agency_should() {
    let parts = testing::many() / 1000;
    for (seats, queries) in [("1", "4"), ("3", "1")] {
        let set = [
            ("relations", "60"),
            ("queries", queries),
            ("queried", "90"),
            ("user", "70"),
            ("seats", seats),
            ("bookings", "5"),
            ("pool", "4000"),
        ];
        let (agency, memory) = testing::built::<Vacation, _>(PARAMS, 5, &set);
        let mut model = Model {
            agency: &agency,
            books: agency.books(&memory).unwrap(),
            seen: [0; 8],
        };
        assert_eq!((model.books.rows.len(), model.books.customers.len()), (180, 60));
        let cpu = plain(&memory);
        for part in 0..parts / 2 {
            testing::run(&agency, &cpu, 90 + part, 2000);
            let mut random = Random::new(&cpu, 90 + part, 0);
            for _ in 0..2000 {
                model.transact(&mut random);
            }
            assert_eq!(agency.books(&memory).unwrap(), model.books);
        }
        assert!(
            model.seen.iter().all(|count| *count > parts),
            "{seats} {queries}: {:?}",
            model.seen
        );
    }
}

/// A pool that is too small: transactions that find no memory do nothing, and what is freed is used again.
#[test]
fn without_memory_nothing_is_half_done() {
    let (agency, memory) = testing::built::<Vacation, _>(
        PARAMS,
        5,
        &[("relations", 10), ("pool", 82), ("bookings", 9), ("user", 90)],
    );
    let cpu = plain(&memory);
    let mut full = 0;
    for seed in 0..300 {
        testing::run(&agency, &cpu, seed, 10);
        agency.check(&memory).unwrap();
        let word = |offset| memory.word(Addr(agency.pool.addr(0).0 + offset));
        full += u64::from(word(pool::FREE) == 0 && word(pool::UNUSED) == agency.lines.range().end);
    }
    assert!(full > 50, "{full}");
}

#[test]
fn a_pool_must_hold_the_relations() {
    let error = try_built::<Vacation, _>(PARAMS, 5, &[("relations", 10), ("pool", 79)])
        .err()
        .expect("refused");
    assert!(
        error
            .to_string()
            .contains("workload.pool=79 with workload.relations=10"),
        "{error}"
    );
}
