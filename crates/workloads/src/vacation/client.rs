//! Clients: what a transaction is about, and its parts.

use super::{manager::Manager, row, Vacation, KINDS, KIND_SHIFT, LEAST_PRICE, PRICES, PRICE_STEP};
use strandline_isa::{sites, Cpu, W};
use strandline_runtime::{Random, ThreadState};

sites! {
    TRANSACTION_RESERVES = 0x5b5c_2d9d;
    TRANSACTION_DELETES = 0xab7f_a62d;
    MORE_TO_DRAW = 0xaa71_b767;
    MORE_CHANGES_TO_DRAW = 0x3bcf_8603;
    MORE_TO_QUERY = 0x3f89_98df;
    ROW_IS_ABSENT = 0xecbb_4cd4;
    IS_DEARER = 0x0dbc_3310;
    NOTHING_WAS_FOUND = 0x3413_de5e;
    NONE_OF_THE_KIND = 0xe7a1_725c;
    MORE_TO_CHANGE = 0x3c7f_e206;
    ADDS_SEATS = 0x69bb_7c90;
}

/// A new price.
pub(super) fn draw_price<'c, C: Cpu>(random: &mut Random<'c, C>) -> W<'c, C> {
    random.below(PRICES) * PRICE_STEP + LEAST_PRICE
}

impl Vacation {
    /// A random number of a row or customer.
    fn draw<'c, C: Cpu>(&self, random: &mut Random<'c, C>) -> W<'c, C> {
        random.below(self.range) + 1
    }

    /// How many rows a transaction uses.
    fn draw_queries<'c, C: Cpu>(&self, cpu: &'c C, random: &mut Random<'c, C>) -> W<'c, C> {
        match self.queries {
            1 => cpu.word(1),
            queries => random.below(queries) + 1,
        }
    }

    /// A task: one transaction.
    pub(super) fn transact<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let _call = thread.cpu.call(1);
        let draw = thread.random.below(100);
        if draw.below(self.user).branch(TRANSACTION_RESERVES) {
            self.reserve(thread);
        } else if (draw & 1).is(0).branch(TRANSACTION_DELETES) {
            self.delete_customer(thread);
        } else {
            self.change_tables(thread);
        }
    }

    /// Looks up rows, and reserves the dearest of each kind.
    fn reserve<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let _call = thread.cpu.call(1);
        let cpu = thread.cpu;
        let best = self.lists.of(thread);
        let first = best + 16 * KINDS;
        let id = self.draw(&mut thread.random);
        let end = first + (self.draw_queries(cpu, &mut thread.random) << 3);
        let mut at = first;
        loop {
            let kind = thread.random.below(KINDS);
            at.store((kind << KIND_SHIFT) | self.draw(&mut thread.random));
            at = at + 8;
            if !at.less(end).branch(MORE_TO_DRAW) {
                break;
            }
        }
        let lock = self.lock.first(cpu);
        thread.log.lock(lock);
        let mut region = thread.log.begin();
        let mut manager = Manager::new(cpu, &mut region, self);
        if manager.query(best, first, end) {
            if let Some(customer) = manager.customer(id) {
                for kind in 0..KINDS {
                    let row = best.at(16 * kind + 8).load();
                    if !row.is(0).branch(NONE_OF_THE_KIND) {
                        manager.book(customer, cpu.word(kind), row);
                    }
                }
            }
        }
        region.end();
        thread.log.unlock(lock);
    }

    fn delete_customer<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let _call = thread.cpu.call(1);
        let cpu = thread.cpu;
        let id = self.draw(&mut thread.random);
        let lock = self.lock.first(cpu);
        thread.log.lock(lock);
        let mut region = thread.log.begin();
        Manager::new(cpu, &mut region, self).delete_customer(id);
        region.end();
        thread.log.unlock(lock);
    }

    /// Adds seats to rows, or takes them away.
    fn change_tables<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let _call = thread.cpu.call(1);
        let cpu = thread.cpu;
        let first = self.lists.of(thread) + 16 * KINDS;
        let end = first + (self.draw_queries(cpu, &mut thread.random) << 4);
        let mut at = first;
        loop {
            let kind = thread.random.below(KINDS);
            at.store((kind << KIND_SHIFT) | self.draw(&mut thread.random));
            let adds = thread.random.below(2);
            at.at(8).store((draw_price(&mut thread.random) << 1) | adds);
            at = at + 16;
            if !at.less(end).branch(MORE_CHANGES_TO_DRAW) {
                break;
            }
        }
        let lock = self.lock.first(cpu);
        thread.log.lock(lock);
        let mut region = thread.log.begin();
        let mut manager = Manager::new(cpu, &mut region, self);
        manager.change(first, end);
        region.end();
        thread.log.unlock(lock);
    }
}

impl<'c, C: Cpu> Manager<'_, '_, 'c, C> {
    /// Looks up the rows in the list from `first` to `end`, and writes the price and the row of the dearest of each kind to
    /// `best`; whether there is any.
    fn query(&mut self, best: W<'c, C>, first: W<'c, C>, end: W<'c, C>) -> bool {
        let _call = best.call(4);
        for kind in 0..KINDS {
            best.at(16 * kind).store(self.cpu.word(0));
            best.at(16 * kind + 8).store(self.cpu.word(0));
        }
        let mut any = self.cpu.word(0);
        let mut at = first;
        while at.less(end).branch(MORE_TO_QUERY) {
            let wanted = at.load();
            at = at + 8;
            let kind = wanted >> KIND_SHIFT;
            let found = self.find(kind, wanted & ((1 << KIND_SHIFT) - 1));
            if found.is(0).branch(ROW_IS_ABSENT) {
                continue;
            }
            let price = self.read(found.at(row::PRICE));
            let known = best + (kind << 4);
            if known.load().less(price).branch(IS_DEARER) {
                known.store(price);
                known.at(8).store(found);
                any = found;
            }
        }
        !any.is(0).branch(NOTHING_WAS_FOUND)
    }

    /// Changes the rows in the list from `first` to `end`.
    fn change(&mut self, first: W<'c, C>, end: W<'c, C>) {
        let _call = first.call(3);
        let mut at = first;
        while at.less(end).branch(MORE_TO_CHANGE) {
            let (wanted, how) = (at.load(), at.at(8).load());
            at = at + 16;
            let (kind, id) = (wanted >> KIND_SHIFT, wanted & ((1 << KIND_SHIFT) - 1));
            if (how & 1).is(1).branch(ADDS_SEATS) {
                let seats = self.cpu.word(self.agency.seats);
                self.add_seats(kind, id, seats, how >> 1);
            } else {
                self.take_seats(kind, id);
            }
        }
    }
}
