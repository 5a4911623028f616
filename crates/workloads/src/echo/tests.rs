use super::*;
use crate::testing;
use std::collections::VecDeque;
use strandline_isa::Note;

fn build(set: &[(&str, &str)]) -> (Echo, Memory) {
    testing::built(PARAMS, 5, set)
}

/// Keys with all values that they were given, the newest last; and puts whose batch is not committed.
struct Model {
    values: BTreeMap<u64, Vec<u64>>,
    pending: VecDeque<(u64, u64)>,
    /// Puts merged, puts without room, gets of an absent and of a present key, gets of the own batch.
    seen: [u64; 5],
}

impl Model {
    fn newest(&self, key: u64) -> Option<u64> {
        self.values.get(&key).and_then(|values| values.last()).copied()
    }

    /// Follows the notes of a thread's tasks.
    fn follow(&mut self, notes: Vec<Note>) {
        let mut search = None;
        let mut announced = 0;
        for note in notes {
            match note {
                Note::TaskBegin => announced = 0,
                Note::TaskEnd => self.seen[4] += u64::from(announced == 0),
                Note::OperationBegin { key, value } => {
                    announced += 1;
                    self.pending.push_back((key, value.expect("nothing is deleted")));
                }
                Note::OperationDurable { changed } => {
                    let (key, value) = self.pending.pop_front().expect("it has begun");
                    self.seen[usize::from(!changed)] += 1;
                    if changed {
                        self.values.entry(key).or_default().push(value);
                    }
                }
                Note::SearchBegin { key } => {
                    announced += 1;
                    search = Some(key);
                }
                Note::SearchEnd { value } => {
                    let key = search.take().expect("it has begun");
                    assert!(
                        self.pending.iter().all(|(pending, _)| *pending != key),
                        "the batch has {key:#x}"
                    );
                    assert_eq!(value, self.newest(key));
                    self.seen[2 + usize::from(value.is_some())] += 1;
                }
                _ => {}
            }
        }
    }

    /// The versions that the store should keep of each key, the newest first.
    fn kept(&self, versions: usize) -> BTreeMap<u64, Vec<u64>> {
        let kept = |values: &Vec<u64>| values.iter().rev().take(versions).copied().collect();
        self.values.iter().map(|(key, values)| (*key, kept(values))).collect()
    }
}

fn run(store: &Echo, memory: &Memory, tasks: u64) -> Model {
    let mut model = Model {
        values: store
            .newest(memory)
            .into_iter()
            .map(|(key, value)| (key, vec![value]))
            .collect(),
        pending: VecDeque::new(),
        seen: [0; 5],
    };
    for part in 0..tasks / 1000 {
        let cpu = Plain::recording(memory, CoreId(0), Lowering::NOTHING);
        testing::run(store, &cpu, 90 + part, 1000);
        model.follow(cpu.take_notes());
        store.check(memory).unwrap();
        let found = store.table(memory).unwrap().keys.into_iter();
        let found: BTreeMap<u64, Vec<u64>> = found
            .map(|(key, list)| (key, list.iter().map(|found| found.value).collect()))
            .collect();
        assert_eq!(found, model.kept(store.kept as usize));
    }
    model
}

/// A hundred thousand operations; in `make thorough` a million.
#[test]
fn operations_do_what_a_store_of_versions_does() {
    let tasks = testing::many();
    let set = [
        ("keys", "500"),
        ("batch", "37"),
        ("reads", "40"),
        ("buckets", "100"),
        ("versions", "3"),
        ("value_bytes", "48"),
        ("pool", "2000"),
    ];
    let (store, memory) = build(&set);
    let model = run(&store, &memory, tasks);
    let [put, refused, absent, present, own] = model.seen;
    assert!(
        put > tasks / 2 && absent > 50 && present > tasks / 4 && own > tasks / 200,
        "{:?}",
        model.seen
    );
    assert_eq!(refused, 0);
}

/// Keys and versions for which there is no room: puts do nothing then, after the batch is committed.
#[test]
fn without_room_puts_fail_and_the_store_stays_whole() {
    let (store, memory) = build(&[
        ("keys", "60"),
        ("batch", "20"),
        ("versions", "2"),
        ("pool", "64"),
        ("buckets", "7"),
    ]);
    let model = run(&store, &memory, 10_000);
    assert!(model.seen[0] > 50 && model.seen[1] > 1_000, "{:?}", model.seen);
}

/// Recovery of a batch that was submitted, merged in part or as a whole.
#[test]
fn recovery_merges_what_was_submitted() {
    let (store, memory) = build(&[
        ("keys", "9"),
        ("init_ops", "30"),
        ("batch", "64"),
        ("buckets", "3"),
        ("pool", "100"),
    ]);
    let cpu = Plain::recording(&memory, CoreId(0), Lowering::NOTHING);
    testing::run(&store, &cpu, 1, 40);
    let mut model: BTreeMap<u64, u64> = store.newest(&memory);
    for note in cpu.take_notes() {
        if let Note::OperationBegin {
            key,
            value: Some(value),
        } = note
        {
            model.insert(key, value);
        }
    }
    assert_ne!(model, store.newest(&memory));
    memory.set_word(Addr(store.batches.addr(0).0 + batch::STATE), 40);
    memory.set_word(Addr(store.batches.addr(0).0 + batch::STAMP), 0);
    for _ in 0..3 {
        let image = memory.persistent_half();
        assert!(store.check(&image).is_err());
        store.repair(&image);
        assert_eq!(store.check(&image), Ok(()));
        assert_eq!(store.newest(&image), model);
        let once = store.table(&image).unwrap().keys;
        // The state was not durable: all of it is merged again.
        image.set_word(Addr(store.batches.addr(0).0 + batch::STATE), 40);
        store.repair(&image);
        assert_eq!(store.check(&image), Ok(()));
        assert_eq!(store.table(&image).unwrap().keys, once);
    }
}
