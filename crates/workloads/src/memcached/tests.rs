use super::*;
use crate::populate::MAX_THREADS;
use crate::testing::{self, drawn, plain};
use std::collections::HashMap;
use strandline_runtime::{finish, Plain, Random};

/// A cache as its manual describes it.
struct Model<'a> {
    server: &'a Memcached,
    /// The class, words and first word of each key's value.
    items: HashMap<u64, (u64, u64, u64)>,
    /// When each key was last moved to the front.
    moved: HashMap<u64, u64>,
    /// Keys of each class, the most recently used last.
    used: [Vec<u64>; CLASSES as usize],
    /// Chunks that no item has, of each class.
    chunks: [u64; CLASSES as usize],
    pages: u64,
    sets: u64,
    evicted: [u64; CLASSES as usize],
    /// Gets that hit, and those that moved an item.
    hits: [u64; 2],
}

impl<'a> Model<'a> {
    fn new(server: &'a Memcached) -> Self {
        Model {
            server,
            items: HashMap::new(),
            moved: HashMap::new(),
            used: Default::default(),
            chunks: [0, 1, 2].map(|class| Model::of_page(server, class)),
            pages: CLASSES,
            sets: 0,
            evicted: [0; CLASSES as usize],
            hits: [0; 2],
        }
    }

    fn of_page(server: &Memcached, class: u64) -> u64 {
        server.page / LINE_BYTES / (class + 2)
    }

    fn remove(&mut self, key: u64) -> bool {
        let Some((class, ..)) = self.items.remove(&key) else {
            return false;
        };
        self.used[class as usize].retain(|other| *other != key);
        self.chunks[class as usize] += 1;
        true
    }

    fn set(&mut self, key: u64, words: u64, value: u64) {
        let class = (words - 1) / LINE_WORDS;
        let at = class as usize;
        if self.chunks[at] == 0 && self.pages < self.server.pages.rows() {
            self.pages += 1;
            self.chunks[at] = Model::of_page(self.server, class);
        } else if self.chunks[at] == 0 {
            let oldest = self.used[at][0];
            self.remove(oldest);
            self.evicted[at] += 1;
        }
        self.chunks[at] -= 1;
        self.remove(key);
        self.sets += 1;
        self.items.insert(key, (class, words, value));
        self.moved.insert(key, self.sets);
        self.used[at].push(key);
    }

    fn get(&mut self, key: u64) {
        let Some((class, ..)) = self.items.get(&key) else {
            return;
        };
        let used = &mut self.used[*class as usize];
        self.hits[0] += 1;
        if self.sets >= self.moved[&key] + self.server.interval {
            used.retain(|other| *other != key);
            used.push(key);
            self.moved.insert(key, self.sets);
            self.hits[1] += 1;
        }
    }

    /// The next request, as a thread with these random numbers draws it.
    fn serve(&mut self, random: &mut Random<'_, Plain<'_>>) {
        let server = self.server;
        let kind = match server.reads + server.deletes {
            0 => 100,
            _ => drawn(random, 100),
        };
        let key = finish(|| maps::draw_key(random, server.keys)).unwrap();
        if kind < server.reads {
            return self.get(key.bits());
        }
        if kind < server.reads + server.deletes {
            self.remove(key.bits());
            return;
        }
        let mut words = server.value_bytes / 8;
        if server.varied > 0 && drawn(random, 100) < server.varied {
            words = drawn(random, 15) + 2;
        }
        let value = finish(|| maps::value_of(random, key)).unwrap().bits();
        self.set(key.bits(), words, value);
    }

    /// Whether memory holds the same items, in the same order of use.
    fn compare(&self, memory: &Memory) {
        let server = self.server;
        server.check(memory).unwrap();
        let seen = server.chained(memory).unwrap();
        for class in 0..CLASSES {
            let found = server.used(memory, class, &seen).unwrap();
            let expected: Vec<_> = self.used[class as usize].iter().rev().collect();
            assert_eq!(found.iter().map(|found| &found.key).collect::<Vec<_>>(), expected);
            for item in found {
                assert_eq!((item.class, item.words, item.value), self.items[&item.key]);
            }
            let evicted = memory.word(Addr(server.classes.addr(class).0 + class::EVICTED));
            assert_eq!(evicted, self.evicted[class as usize]);
        }
    }
}

fn build(set: &[(&str, &str)]) -> (Memcached, Memory) {
    testing::built(PARAMS, 5, set)
}

/// Runs `tasks` tasks, a thousand at a time, beside the model.
fn run<'a>(server: &'a Memcached, memory: &Memory, tasks: u64) -> Model<'a> {
    let cpu = plain(memory);
    let mut model = Model::new(server);
    let mut initial = Random::new(&cpu, 5, MAX_THREADS);
    (0..server.init_ops).for_each(|_| model.serve(&mut initial));
    model.compare(memory);
    for part in 0..tasks / 1000 {
        testing::run(server, &cpu, 90 + part, 1000);
        let mut random = Random::new(&cpu, 90 + part, 0);
        (0..1000).for_each(|_| model.serve(&mut random));
        model.compare(memory);
    }
    model
}

/// A hundred thousand requests; in `make thorough` a million.
#[test]
fn requests_do_what_a_cache_does() {
    let tasks = testing::many();
    let set = [
        ("keys", "300"),
        ("init_ops", "100"),
        ("buckets", "64"),
        ("pages", "9"),
        ("page", "60"),
        ("varied", "70"),
        ("reads", "30"),
        ("deletes", "10"),
        ("interval", "20"),
    ];
    let (server, memory) = build(&set);
    let model = run(&server, &memory, tasks);
    assert!(
        model.evicted.iter().all(|evicted| *evicted > tasks / 1000),
        "{:?}",
        model.evicted
    );
    assert!(model.hits.iter().all(|hits| *hits > tasks / 100), "{:?}", model.hits);
    assert_eq!(model.pages, 9);
}

/// ASAP's run: sets of 64-byte values. There is room for them, until there are fewer pages.
#[test]
fn sets_of_equal_values_evict_only_without_room() {
    let (server, memory) = build(&[]);
    let model = run(&server, &memory, 8_000);
    assert_eq!(model.evicted, [0; 3]);
    let (server, memory) = build(&[("pages", "20")]);
    let model = run(&server, &memory, 8_000);
    assert!(model.evicted[1] > 3_000 && model.evicted[0] == 0, "{:?}", model.evicted);
}

#[test]
fn shares_that_exceed_all_requests_are_refused() {
    let set = [("reads", "60"), ("deletes", "50")];
    let error = testing::try_built::<Memcached, _>(PARAMS, 5, &set)
        .err()
        .expect("refused");
    assert!(error.to_string().contains("together at most 100 percent"), "{error}");
}
