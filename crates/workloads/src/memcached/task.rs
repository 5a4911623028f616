//! Requests.

use super::{item, Memcached, CLASS_SHIFT, LEAST_BYTES, LINE_WORDS, MOST_BYTES, TIME_SHIFT};
use crate::maps::{draw_key, value_of};
use crate::operations::View;
use strandline_isa::{sites, Cpu, LINE_BYTES, W};
use strandline_runtime::{Step, ThreadState};

sites! {
    REQUEST_GETS = 0xaaf2_f76f;
    REQUEST_DELETES = 0x24ec_a66e;
    SIZE_IS_RANDOM = 0x6bf0_6f9f;
    MORE_TO_RECEIVE = 0x26db_9f35;
    FITS_FIRST_CLASS = 0xc769_0dcb;
    FITS_SECOND_CLASS = 0xf5ea_39fb;
    CHAIN_ENDS = 0x1f83_90af;
    KEY_BEGINS_SO = 0x942c_1f06;
    KEY_MATCHES = 0x41be_912f;
    GET_MISSES = 0x8e52_72a6;
    MORE_TO_SEND = 0x9525_1dee;
    LINE_GOES_ON = 0x6ec4_e9dc;
    WAS_MOVED_LATELY = 0xf658_b6de;
    NOTHING_TO_DELETE = 0x9490_fe4b;
    KEY_IS_NEW = 0xaceb_4c81;
}

/// A word that links to an item, the first of its chain or a later one; and the item, or 0.
pub(super) struct ItemPlace<'c, C: Cpu> {
    pub link: W<'c, C>,
    pub item: W<'c, C>,
}

/// A request to set a value: what the connection's buffer holds.
pub(super) struct Set<'c, C: Cpu> {
    pub key: [W<'c, C>; 2],
    /// Where the value is, and its size.
    pub value: W<'c, C>,
    pub words: W<'c, C>,
    /// Its slab class.
    pub class: W<'c, C>,
}

/// The second half of a key.
fn second_half<C: Cpu>(first: W<'_, C>) -> W<'_, C> {
    first ^ u64::MAX
}

impl Memcached {
    /// A task: one request.
    pub(super) fn serve<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let _call = thread.cpu.call(1);
        if self.reads + self.deletes == 0 {
            return self.set(thread);
        }
        let draw = thread.random.below(100);
        if draw.below(self.reads).branch(REQUEST_GETS) {
            self.get(thread);
        } else if draw.below(self.reads + self.deletes).branch(REQUEST_DELETES) {
            self.delete(thread);
        } else {
            self.set(thread);
        }
    }

    /// Receives a key.
    fn key<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>) -> [W<'c, C>; 2] {
        let _call = thread.cpu.call(1);
        let buffer = self.buffers.of(thread);
        let first = draw_key(&mut thread.random, self.keys);
        let second = second_half(first);
        buffer.store(first);
        buffer.at(8).store(second);
        [first, second]
    }

    /// Receives a key and a value.
    fn receive<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>) -> Set<'c, C> {
        let _call = thread.cpu.call(1);
        let cpu = thread.cpu;
        let key = self.key(thread);
        let mut words = cpu.word(self.value_bytes.div_ceil(8));
        if self.varied > 0 && thread.random.below(100).below(self.varied).branch(SIZE_IS_RANDOM) {
            words = thread.random.below((MOST_BYTES - LEAST_BYTES) / 8 + 1) + LEAST_BYTES / 8;
        }
        let value = self.buffers.of(thread).at(16);
        let mut word = value_of(&mut thread.random, key[0]);
        let (mut at, end) = (value, value + (words << 3));
        loop {
            at.store(word);
            (at, word) = (at + 8, word + 1);
            if !at.less(end).branch(MORE_TO_RECEIVE) {
                break;
            }
        }
        let class = if words.below(LINE_WORDS + 1).branch(FITS_FIRST_CLASS) {
            0
        } else if words.below(2 * LINE_WORDS + 1).branch(FITS_SECOND_CLASS) {
            1
        } else {
            2
        };
        Set {
            key,
            value,
            words,
            class: cpu.word(class),
        }
    }

    /// The place of a key in its chain; the place behind the last item, if it is absent.
    pub(super) fn find<'c, C: Cpu>(
        &self,
        view: &mut View<'_, '_, 'c, C>,
        chain: W<'c, C>,
        [first, second]: [W<'c, C>; 2],
    ) -> ItemPlace<'c, C> {
        let _call = chain.call(2);
        let mut link = chain;
        loop {
            let item = view.read(link);
            if item.is(0).branch(CHAIN_ENDS) {
                return ItemPlace { link, item };
            }
            if view.read(item.at(item::KEY)).equals(first).branch(KEY_BEGINS_SO) {
                let rest = view.read(item.at(item::KEY + 8));
                if rest.equals(second).branch(KEY_MATCHES) {
                    return ItemPlace { link, item };
                }
            }
            link = item.at(item::CHAIN);
        }
    }

    fn set<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let _call = thread.cpu.call(1);
        let cpu = thread.cpu;
        let set = self.receive(thread);
        let chain = self.chain(set.key[0]);
        let lock = self.lock.first(cpu);
        thread.log.lock(lock);

        let mut region = thread.log.begin();
        let class = self.classes.row(set.class);
        let chunk = self.allocate(cpu, &mut region, set.class, class);
        let old = self.find(&mut View(Some(&mut region)), chain, set.key);
        if !old.item.is(0).branch(KEY_IS_NEW) {
            self.remove(cpu, &mut region, old, Step::More);
        }
        self.link(cpu, &mut region, chunk, class, chain, &set);

        thread.log.unlock(lock);
    }

    fn delete<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let _call = thread.cpu.call(1);
        let key = self.key(thread);
        let chain = self.chain(key[0]);
        let lock = self.lock.first(thread.cpu);
        thread.log.lock(lock);
        let place = self.find(&mut View(None), chain, key);
        if !place.item.is(0).branch(NOTHING_TO_DELETE) {
            let cpu = thread.cpu;
            let mut region = thread.log.begin();
            self.remove(cpu, &mut region, place, Step::Last);
        }
        thread.log.unlock(lock);
    }

    fn get<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let _call = thread.cpu.call(1);
        let cpu = thread.cpu;
        let key = self.key(thread);
        let chain = self.chain(key[0]);
        let buffer = self.buffers.of(thread).at(16);
        let lock = self.lock.first(cpu);
        thread.log.lock(lock);
        let item = self.find(&mut View(None), chain, key).item;
        if !item.is(0).branch(GET_MISSES) {
            let meta = item.at(item::META).load();
            send(item, (meta & 0xff) >> 3, buffer);
            let now = cpu.word(self.cache.addr(0).0).load();
            if !now.less((meta >> TIME_SHIFT) + self.interval).branch(WAS_MOVED_LATELY) {
                let class = self.classes.row((meta >> CLASS_SHIFT) & 0xff);
                let fresh = (meta & ((1 << TIME_SHIFT) - 1)) | (now << TIME_SHIFT);
                let mut region = thread.log.begin();
                Self::move_to_front(cpu, &mut region, item, class, fresh);
            }
        }
        thread.log.unlock(lock);
    }
}

/// Copies an item's value of this number of words to the connection's buffer.
fn send<'c, C: Cpu>(item: W<'c, C>, words: W<'c, C>, buffer: W<'c, C>) {
    let _call = item.call(3);
    let (mut line, mut to, end) = (item, buffer, buffer + (words << 3));
    while to.less(end).branch(MORE_TO_SEND) {
        line = line + LINE_BYTES;
        for i in 0..LINE_WORDS {
            to.store(line.at(8 * i).load());
            to = to + 8;
            if !to.less(end).branch(LINE_GOES_ON) {
                return;
            }
        }
    }
}
