//! Crash states of a recording as files.

use std::fs;
use std::path::{Path, PathBuf};
use strandline_record::states::{Asked, Budget, CrashStates, Rules, Visit};
use strandline_record::{Access, AccessKind, Block, Ending, Marker, Recording, Region, Writer};

const POOL: u64 = 0x7000_0000_0000;
const BYTES: u64 = 0x10_0000;

/// An empty folder of the test, deleted at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("strandline {name} {}", std::process::id()));
        fs::create_dir_all(&folder).expect("the system has a folder for files that are temporary");
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn block(code: &[u8], kind: Option<AccessKind>) -> Block {
    let access = |kind| Access {
        instruction: 0,
        kind,
        size: 8,
    };
    Block {
        pc: 0x1000,
        code: code.to_vec(),
        instructions: 1,
        accesses: kind.map(access).into_iter().collect(),
        repeats: false,
        fences: if kind.is_none() { vec![0] } else { vec![] },
    }
}

fn pool() -> Region {
    Region {
        start: POOL,
        bytes: BYTES,
        offset: 0,
        path: "/pm/a pool".to_owned(),
    }
}

/// Stores `values` one after the other to separate lines, and flushes each; a fence follows.
fn recording(values: u64) -> Recording {
    let mut writer = Writer::new(Vec::new(), &[]).expect("memory can be written");
    writer.region(pool());
    writer.page(POOL, &[0x5a; 4096]);
    let store = writer.block(block(&[0x48, 0x89, 0x07], Some(AccessKind::Store)));
    let clwb = writer.block(block(&[0x66, 0x0f, 0xae, 0x37], Some(AccessKind::Clwb)));
    let fence = writer.block(block(&[0x0f, 0xae, 0xf8], None));
    for value in 1..=values {
        let address = POOL + 0x1000 * value;
        writer
            .execute(0, store, 1, &[address], &[value], &[true])
            .expect("it fits");
        writer.execute(0, clwb, 1, &[address], &[], &[]).expect("it fits");
    }
    writer.execute(0, fence, 1, &[], &[], &[]).expect("it fits");
    let bytes = writer.finish(Ending::default()).expect("memory can be written");
    Recording::from_bytes(bytes).expect("what was written can be read")
}

fn asked(budget: Budget, only: Option<&str>) -> Asked {
    Asked {
        rules: Rules::Flushed,
        budget,
        seed: 7,
        only: only.map(|name| name.parse().expect("a state's name")),
        fails: None,
        orders: None,
    }
}

fn visit_all(states: &mut CrashStates, folder: &Path) -> Vec<Visit> {
    let mut visits = Vec::new();
    while let Some(visit) = states
        .next(&mut |name| folder.join(name))
        .expect("states can be written")
    {
        visits.push(visit);
    }
    visits
}

fn values(folder: &Path, name: &str, values: u64) -> Vec<u8> {
    let pool = fs::read(folder.join(name).join("a pool")).expect("a state is a file");
    assert_eq!(pool.len() as u64, BYTES, "as long as the pool");
    assert!(pool[..4096].iter().all(|byte| *byte == 0x5a), "what was there at first");
    (1..=values).map(|value| pool[0x1000 * value as usize]).collect()
}

#[test]
fn every_state_of_an_interval_is_written_once() {
    let folder = Folder::new("all");
    let mut states = CrashStates::new(recording(3), asked(Budget::All, None)).expect("few states");
    assert_eq!(states.plan().states.exact, Some(8), "two to the power of three lines");
    let visits = visit_all(&mut states, &folder.0);
    let mut left: Vec<Vec<u8>> = visits.iter().map(|visit| values(&folder.0, &visit.name, 3)).collect();
    assert_eq!(
        (&left[0], &left[1]),
        (&vec![0, 0, 0], &vec![1, 2, 3]),
        "the ends come first"
    );
    let separating = [
        [1, 2, 3],
        [0, 2, 3],
        [1, 0, 0],
        [1, 0, 3],
        [0, 2, 0],
        [1, 2, 0],
        [0, 0, 3],
    ];
    assert_eq!(left[2..], separating, "all, then each line missing and each alone");
    left.sort();
    left.dedup();
    assert_eq!(left.len(), 8);
}

#[test]
fn a_state_is_visited_again_by_its_name() {
    for name in ["0:all,80=0", "0:none,80=1", "initial", "final", "0:r7.3"] {
        let (one, two) = (Folder::new("again"), Folder::new("again too"));
        let read = |folder: &Folder| {
            let mut states = CrashStates::new(recording(3), asked(Budget::Most(1), Some(name))).expect("few states");
            let visits = visit_all(&mut states, &folder.0);
            assert_eq!(visits.len(), 1);
            assert_eq!(visits[0].name, name);
            values(&folder.0, name, 3)
        };
        assert_eq!(read(&one), read(&two), "{name}");
    }
}

#[test]
fn a_state_that_there_is_not_is_refused() {
    let folder = Folder::new("none");
    for name in ["1:all", "0:all,81=0", "0:all,80=5"] {
        let mut states = CrashStates::new(recording(3), asked(Budget::Most(1), Some(name))).expect("few states");
        let error = states.next(&mut |name| folder.0.join(name)).expect_err("there is none");
        assert!(error.to_string().contains("no crash state"), "{error}");
    }
    assert_eq!(fs::read_dir(&folder.0).expect("a folder").count(), 0);
}

#[test]
fn of_too_many_states_some_are_drawn_and_all_are_counted() {
    let folder = Folder::new("many");
    let mut states = CrashStates::new(recording(200), asked(Budget::Most(450), None)).expect("a number was given");
    let plan = states.plan();
    assert!(
        (plan.states.log2 - 200.0).abs() < 1e-9,
        "two to the power of 200 lines: {:?}",
        plan.states
    );
    let names: Vec<String> = visit_all(&mut states, &folder.0)
        .into_iter()
        .map(|visit| visit.name)
        .collect();
    assert_eq!(names.len(), 452, "the budget and the two ends");
    assert!(
        names[2..403].iter().all(|name| !name.contains(":r")),
        "1 + 2 x 200 separate a line"
    );
    assert!(
        names[403..].iter().all(|name| name.contains(":r")),
        "the others are drawn"
    );
    let error = CrashStates::new(recording(200), asked(Budget::All, None)).expect_err("too many");
    assert!(error.to_string().contains("--points"), "{error}");
}

/// A program of threads that stores a line of its own for each number, by the instruction of that number.
struct Program {
    writer: Writer<Vec<u8>>,
    stores: Vec<u32>,
    clwb: u32,
    fence: u32,
    task_end: u32,
}

impl Program {
    fn new() -> Program {
        let mut writer = Writer::new(Vec::new(), &[]).expect("memory can be written");
        writer.region(pool());
        let store = |number: u64| Block {
            pc: 0x1000 + 16 * number,
            ..block(&[0x48, 0x89, 0x07], Some(AccessKind::Store))
        };
        let task_end = strandline_capture::MARKER + Marker::TaskEnd as u32;
        Program {
            stores: (0..4).map(|number| writer.block(store(number))).collect(),
            clwb: writer.block(block(&[0x66, 0x0f, 0xae, 0x37], Some(AccessKind::Clwb))),
            fence: writer.block(block(&[0x0f, 0xae, 0xf8], None)),
            task_end: writer.block(Block {
                code: [&[0x0f, 0x1f, 0x80][..], &task_end.to_le_bytes()].concat(),
                fences: vec![],
                ..block(&[], None)
            }),
            writer,
        }
    }

    fn store(mut self, thread: u32, line: u64, code: usize) -> Program {
        let (at, store) = (POOL + 64 * line, self.stores[code]);
        self.writer
            .execute(thread, store, 1, &[at], &[line + 1], &[true])
            .expect("it fits");
        self
    }

    fn flush(mut self, thread: u32, line: u64) -> Program {
        let at = POOL + 64 * line;
        self.writer
            .execute(thread, self.clwb, 1, &[at], &[], &[])
            .expect("it fits");
        self
    }

    fn fence(mut self, thread: u32) -> Program {
        self.writer
            .execute(thread, self.fence, 1, &[], &[], &[])
            .expect("it fits");
        self
    }

    fn ends(mut self, thread: u32) -> Program {
        self.writer
            .execute(thread, self.task_end, 1, &[], &[], &[])
            .expect("it fits");
        self
    }

    fn visits(self, name: &str, budget: Budget) -> (strandline_record::states::CrashPlan, Vec<Visit>) {
        let folder = Folder::new(name);
        let bytes = self.writer.finish(Ending::default()).expect("memory can be written");
        let recording = Recording::from_bytes(bytes).expect("what was written can be read");
        let mut states = CrashStates::new(recording, asked(budget, None)).expect("few states");
        let visits = visit_all(&mut states, &folder.0);
        (states.plan().clone(), visits)
    }
}

fn with_done(visits: &[Visit]) -> Vec<(&str, &[u64])> {
    visits
        .iter()
        .map(|visit| (visit.name.as_str(), &visit.done[..]))
        .collect()
}

#[test]
fn a_task_is_done_that_ended_before_its_interval_does() {
    let program = Program::new().store(0, 1, 0).flush(0, 1).fence(0).ends(0);
    let program = program.store(0, 2, 1).flush(0, 2).fence(0).ends(0);
    let (plan, visits) = program.visits("done", Budget::All);
    // The state `1:none` has the bytes of `0:all`, but a task more was acknowledged.
    let expected: [(&str, &[u64]); 5] = [
        ("initial", &[0]),
        ("final", &[2]),
        ("0:all", &[0]),
        ("1:all", &[1]),
        ("1:none", &[1]),
    ];
    assert_eq!(with_done(&visits), expected);
    assert_eq!((plan.states.exact, plan.visits), (Some(4), 5), "`final` is not counted");
}

#[test]
fn a_task_that_ends_before_its_store_is_durable_is_done_in_a_state_that_lacks_it() {
    let early = Program::new().store(0, 1, 0).ends(0).flush(0, 1).fence(0);
    let (_, visits) = early.visits("early", Budget::All);
    assert_eq!(with_done(&visits)[2..], [("0:all", &[1][..]), ("0:none", &[1])]);
    // Another line ends the first interval, so the task ends in one without a store of its own.
    let late = Program::new()
        .store(0, 1, 0)
        .store(0, 2, 1)
        .flush(0, 2)
        .fence(0)
        .ends(0);
    let (_, visits) = late.visits("late", Budget::All);
    assert!(
        with_done(&visits).contains(&("1:none", &[1])),
        "{:?}",
        with_done(&visits)
    );
}

#[test]
fn each_thread_has_its_own_number_of_tasks() {
    let program = Program::new()
        .store(1, 1, 0)
        .flush(1, 1)
        .fence(1)
        .ends(1)
        .ends(1)
        .ends(0);
    let (_, visits) = program.visits("threads", Budget::All);
    assert_eq!(with_done(&visits)[..2], [("initial", &[0, 0][..]), ("final", &[1, 2])]);
}

/// The same two stores many times, and once two others.
fn loop_with_an_exception() -> Program {
    (0..100).fold(Program::new(), |program, turn| {
        let code = if turn == 70 { 2 } else { 0 };
        let program = program.store(0, 2 * turn, code).store(0, 2 * turn + 1, code + 1);
        program.flush(0, 2 * turn).flush(0, 2 * turn + 1).fence(0)
    })
}

#[test]
fn representatives_of_classes_come_first_and_each_state_once() {
    let (plan, visits) = loop_with_an_exception().visits("classes", Budget::All);
    // Of each of two pairs of stores: both, the first, the second. The first interval begins without an instruction.
    assert_eq!(plan.classes, 9);
    let represents: Vec<bool> = visits[2..].iter().map(|visit| visit.represents).collect();
    assert!(represents[..9].iter().all(|represents| *represents), "{represents:?}");
    assert!(!represents[9..].iter().any(|represents| *represents), "{represents:?}");
    let mut names: Vec<&str> = visits.iter().map(|visit| visit.name.as_str()).collect();
    // Interval by interval, it would be the 214th.
    let rare = names.iter().position(|name| name.starts_with("70:all,"));
    assert_eq!(rare, Some(9), "the tenth state lacks a store of the exception");
    names.sort_unstable();
    names.dedup();
    assert_eq!(
        (names.len(), plan.states.exact),
        (302, Some(301)),
        "`final` is not counted"
    );
}

#[test]
fn few_points_are_representatives_of_different_classes() {
    let (plan, visits) = loop_with_an_exception().visits("few", Budget::Most(9));
    assert_eq!((plan.visits, visits.len()), (11, 11));
    let rare = visits.iter().filter(|visit| visit.name.starts_with("70:"));
    assert_eq!(rare.count(), 3, "the exception is among 9 of 300 states");
    let (_, visits) = loop_with_an_exception().visits("fewer", Budget::Most(4));
    assert!(visits[2..].iter().all(|visit| visit.represents), "{visits:?}");
    assert_eq!(visits.len(), 6);
}

#[cfg(unix)]
#[test]
fn pages_of_zeros_are_holes() {
    use std::os::unix::fs::MetadataExt;
    let folder = Folder::new("holes");
    let mut states = CrashStates::new(recording(3), asked(Budget::All, Some("final"))).expect("few states");
    visit_all(&mut states, &folder.0);
    let file = fs::metadata(folder.0.join("final/a pool")).expect("a state is a file");
    assert!(
        file.blocks() * 512 <= 64 << 10,
        "4 of 256 pages hold something: {} blocks",
        file.blocks()
    );
}

/// Where the writer's value and the reader's are.
const VALUE: u64 = POOL + 0x40;
const SEEN: u64 = POOL + 0x1080;

/// A writer (thread 0) stores a value and makes it durable. A reader loads it, and makes durable that it has seen it.
/// In the twin, it first makes durable what it has read. With `waits`, the writer says by a volatile flag that the value
/// is durable.
fn reader(twin: bool, waits: bool) -> Recording {
    let mut writer = Writer::new(Vec::new(), &[]).expect("memory can be written");
    writer.region(pool());
    let store = writer.block(block(&[0x48, 0x89, 0x07], Some(AccessKind::Store)));
    let load = writer.block(block(&[0x48, 0x8b, 0x07], Some(AccessKind::Load)));
    let clwb = writer.block(block(&[0x66, 0x0f, 0xae, 0x37], Some(AccessKind::Clwb)));
    let fence = writer.block(block(&[0x0f, 0xae, 0xf8], None));
    let flag = 0x1000;
    let mut stores = |thread: u32, address: u64| {
        let is_persistent = address >= POOL;
        writer
            .execute(thread, store, 1, &[address], &[7], &[is_persistent])
            .expect("it fits");
        if is_persistent {
            writer.execute(thread, clwb, 1, &[address], &[], &[]).expect("it fits");
            writer.execute(thread, fence, 1, &[], &[], &[]).expect("it fits");
        }
    };
    stores(0, VALUE);
    if waits {
        stores(0, flag);
        writer.execute(1, load, 1, &[flag], &[], &[]).expect("it fits");
    }
    writer.execute(1, load, 1, &[VALUE], &[], &[]).expect("it fits");
    if twin {
        writer.execute(1, clwb, 1, &[VALUE], &[], &[]).expect("it fits");
        writer.execute(1, fence, 1, &[], &[], &[]).expect("it fits");
    }
    writer.execute(1, store, 1, &[SEEN], &[7], &[true]).expect("it fits");
    writer.execute(1, clwb, 1, &[SEEN], &[], &[]).expect("it fits");
    writer.execute(1, fence, 1, &[], &[], &[]).expect("it fits");
    let bytes = writer.finish(Ending::default()).expect("memory can be written");
    Recording::from_bytes(bytes).expect("what was written can be read")
}

/// The names of the states in which the reader has seen a value that is not there.
fn unseen(recording: Recording, orders: Option<u32>) -> (Vec<String>, CrashStates) {
    let folder = Folder::new(&format!("orders {:?}", std::thread::current().id()));
    let mut asked = asked(Budget::All, None);
    asked.orders = orders;
    let mut states = CrashStates::new(recording, asked).expect("few states");
    let visits = visit_all(&mut states, &folder.0);
    let fails = |visit: &Visit| {
        let pool = fs::read(folder.0.join(&visit.name).join("a pool")).expect("a state is a file");
        pool[(SEEN - POOL) as usize] > pool[(VALUE - POOL) as usize]
    };
    let names = visits
        .iter()
        .filter(|visit| fails(visit))
        .map(|visit| visit.name.clone());
    (names.collect(), states)
}

#[test]
fn another_order_shows_a_reader_that_persists_too_early() {
    let (failing, states) = unseen(reader(false, false), Some(1));
    assert_eq!(
        failing, [""; 0],
        "in the recorded order, the value is durable before it is read"
    );
    assert_eq!(
        (states.plan().orders.as_slice(), states.plan().reads.len()),
        (&[0][..], 0)
    );

    let (failing, states) = unseen(reader(false, false), None);
    assert!(
        !failing.is_empty() && failing.iter().all(|name| name.starts_with('o')),
        "{failing:?}"
    );
    assert_eq!(states.plan().reads.values().sum::<u64>(), 1);
    assert!(states.plan().orders.contains(&1) && states.plan().orders_tried == 8);

    let folder = Folder::new("order again");
    let again = asked(Budget::Most(1), Some(&failing[0]));
    let mut states = CrashStates::new(reader(false, false), again).expect("few states");
    let visits = visit_all(&mut states, &folder.0);
    assert_eq!(
        visits.iter().map(|visit| visit.name.as_str()).collect::<Vec<_>>(),
        [failing[0].as_str()]
    );
    let pool = fs::read(folder.0.join(&failing[0]).join("a pool")).expect("a state is a file");
    assert_eq!((pool[(SEEN - POOL) as usize], pool[(VALUE - POOL) as usize]), (7, 0));
}

#[test]
fn a_reader_that_flushes_or_waits_recovers_in_every_order() {
    let (failing, states) = unseen(reader(true, false), None);
    assert_eq!(failing, [""; 0]);
    let plan = states.plan();
    assert!(plan.orders.len() > 1, "{:?}", plan.orders);
    assert!(plan.reads.is_empty());
    assert!(plan.audit.is_empty(), "its flush is necessary: {:?}", plan.audit);

    let (failing, states) = unseen(reader(false, true), None);
    assert_eq!(failing, [""; 0]);
    let plan = states.plan();
    assert_eq!(
        (plan.orders.as_slice(), plan.reads.len()),
        (&[0][..], 0),
        "the flag allows no other order"
    );
}

#[test]
fn an_order_of_a_single_thread_is_refused() {
    let folder = Folder::new("single order");
    let mut states = CrashStates::new(recording(3), asked(Budget::Most(1), Some("o1.0:all"))).expect("few states");
    assert_eq!(
        (states.plan().orders.as_slice(), states.plan().orders_tried),
        (&[0][..], 1)
    );
    let error = states.next(&mut |name| folder.0.join(name)).expect_err("there is none");
    assert!(error.to_string().contains("no crash state `o1.0:all`"), "{error}");
}
