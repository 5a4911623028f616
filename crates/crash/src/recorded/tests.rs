//! A list in persistent memory, under designs that preserve its fences and under others.

use super::judgement::{judge_runs, observed_for, operations, Judgement};
use super::{spec, Asked, Name, SimulatedStates};
use crate::explore::points::Points;
use crate::explore::run::Observe;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::PathBuf;
use strandline_design::About;
use strandline_designs::{abouts, design};
use strandline_record::{Access, AccessKind, Block, Ending, FenceClass, RecordError, Recording, Region, Writer};
use strandline_rules::{breaking, Rule};
use strandline_sim::observe;

/// Address of the pool, and distance between the lists of two threads.
const POOL: u64 = 0x7000_0000_0000;
const APART: u64 = 0x1_0000;

/// `mov [rdi], rax`, `clwb [rdi]`, `sfence`.
const STORE: u32 = 0;
const FLUSH: u32 = 1;
const FENCE: u32 = 2;

/// A folder that is deleted when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("strandline {name} {}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        Folder(folder)
    }

    /// A recording of appends to a list in each thread. A node's line is flushed and, if `fenced`, ordered before the
    /// head's. The head is at 8; node n is at 64 n and holds the previous node and n.
    fn list(&self, nodes: u64, threads: u32, fenced: bool) -> PathBuf {
        let path = self.0.join("list.strand");
        written(&path, nodes, threads, fenced).expect("a recording");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // It is in the folder for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn written(path: &std::path::Path, nodes: u64, threads: u32, fenced: bool) -> Result<(), RecordError> {
    let mut writer = Writer::new(File::create(path).expect("a file"), &["list".to_owned()])?;
    let access = |kind, size| Access {
        instruction: 0,
        kind,
        size,
    };
    let block = |number: u64, code: &[u8], accesses: Vec<Access>, fences: Vec<u16>| Block {
        pc: 0x40_1000 + 0x10 * number,
        code: code.to_vec(),
        instructions: 1,
        accesses,
        repeats: false,
        fences,
    };
    writer.block(block(
        0,
        &[0x48, 0x89, 0x07],
        vec![access(AccessKind::Store, 8)],
        vec![],
    ));
    writer.block(block(
        1,
        &[0x66, 0x0f, 0xae, 0x37],
        vec![access(AccessKind::Clwb, 64)],
        vec![],
    ));
    writer.block(block(2, &[0x0f, 0xae, 0xf8], vec![], vec![0]));
    writer.region(Region {
        start: POOL,
        bytes: 0x10_0000,
        offset: 0,
        path: "/pm/pool".to_owned(),
    });
    let mut classes = vec![Vec::new(); threads as usize];
    for (thread, node) in (1..=nodes).flat_map(|node| (0..threads).map(move |thread| (thread, node))) {
        let list = POOL + APART * u64::from(thread);
        let store =
            |writer: &mut Writer<File>, at: u64, value: u64| writer.execute(thread, STORE, 1, &[at], &[value], &[true]);
        store(&mut writer, list + 64 * node, 64 * (node - 1))?;
        store(&mut writer, list + 64 * node + 8, node)?;
        writer.execute(thread, FLUSH, 1, &[list + 64 * node], &[], &[])?;
        if fenced {
            writer.execute(thread, FENCE, 1, &[], &[], &[])?;
            classes[thread as usize].push(FenceClass::Order);
        }
        store(&mut writer, list + 8, 64 * node)?;
        writer.execute(thread, FLUSH, 1, &[list + 8], &[], &[])?;
        writer.execute(thread, FENCE, 1, &[], &[], &[])?;
        classes[thread as usize].push(FenceClass::Durable);
    }
    writer.finish(Ending {
        fences: classes,
        ..Ending::default()
    })?;
    Ok(())
}

fn is_whole(pool: &[u8], list: u64) -> bool {
    let word = |at: u64| u64::from_le_bytes(pool[(list + at) as usize..][..8].try_into().expect("8 bytes"));
    let mut node = word(8);
    while node != 0 {
        if word(node + 8) != node / 64 || word(node) != node - 64 {
            return false;
        }
        node = word(node);
    }
    true
}

fn asked(recording: PathBuf, design: &str) -> Asked {
    Asked {
        recording,
        design: design.to_owned(),
        points: Points::All,
        seed: 1,
        only: None,
        edges: true,
    }
}

/// The pools of all requested states, by name.
fn pools(folder: &Folder, asked: &Asked) -> BTreeMap<String, Vec<u8>> {
    let mut states = SimulatedStates::new(asked, &mut |_| {}).expect("states");
    let mut pools = BTreeMap::new();
    while let Some((visit, _)) = states.next(&mut |name| folder.0.join(name)).expect("a state") {
        let written = folder.0.join(&visit.name);
        pools.insert(visit.name.clone(), fs::read(written.join("pool")).expect("a pool"));
        fs::remove_dir_all(written).expect("a folder");
    }
    assert_eq!(pools.len() as u64, states.plan().visits);
    pools
}

/// The designs that run recordings: all but those that interrupt programs.
fn replayed() -> Vec<About> {
    let replays = |about: &About| {
        let design = design(about.name).expect("a registered design");
        !design.lowering().interrupts()
    };
    abouts().into_iter().filter(replays).collect()
}

/// The number of states with a broken list.
fn broken(folder: &Folder, design: &str, threads: u32, fenced: bool) -> usize {
    let path = folder.list(12, threads, fenced);
    let pools = pools(folder, &asked(path, design));
    assert!(pools.len() > 20, "{design}: {} states", pools.len());
    let whole = |pool: &Vec<u8>| (0..u64::from(threads)).all(|thread| is_whole(pool, APART * thread));
    pools.values().filter(|pool| !whole(pool)).count()
}

#[test]
fn designs_that_keep_order_do_not_break_a_fenced_list_and_others_do() {
    let folder = Folder::new("fenced");
    for threads in [1, 2] {
        for about in replayed().iter().filter(|about| about.promises_recovery) {
            assert_eq!(broken(&folder, about.name, threads, true), 0, "{}", about.name);
        }
        assert!(broken(&folder, "unordered", threads, true) > 0);
        assert!(broken(&folder, "non-atomic", threads, true) > 0);
    }
}

#[test]
fn no_design_mends_a_list_without_fences() {
    let folder = Folder::new("unfenced");
    // If the caches are durable, or a buffer that receives stores when they become visible, stores are enough;
    // volatile's program flushes nothing. A buffer of dpo's drains one store after the other into durable queues.
    let spared = ["eadr", "bbb", "dpo", "volatile"];
    for design in replayed()
        .iter()
        .map(|about| about.name)
        .filter(|name| !spared.contains(name))
    {
        assert!(broken(&folder, design, 1, false) > 0, "{design}");
    }
}

#[test]
fn states_are_distinct_and_the_same_again_by_name() {
    let folder = Folder::new("names");
    let mut asked = asked(folder.list(12, 2, true), "unordered");
    let first = pools(&folder, &asked);
    // The state before the program is `initial`; the state after it may also be a state of a run.
    let shown: BTreeSet<&Vec<u8>> = first
        .iter()
        .filter(|(name, _)| *name != "final")
        .map(|(_, pool)| pool)
        .collect();
    assert_eq!(shown.len(), first.len() - 1);
    assert_eq!(first, pools(&folder, &asked));
    let (name, pool) = first.iter().next_back().expect("states");
    asked.only = Some(name.parse::<Name>().expect("a name"));
    assert_eq!(pools(&folder, &asked), BTreeMap::from([(name.clone(), pool.clone())]));
    asked.only = Some("run8:1".parse().expect("a name"));
    assert!(
        SimulatedStates::new(&asked, &mut |_| {}).is_err(),
        "there is no such run"
    );
}

#[test]
fn a_state_says_what_it_has_and_lacks() {
    let folder = Folder::new("words");
    let mut states = SimulatedStates::new(&asked(folder.list(12, 1, true), "unordered"), &mut |_| {}).expect("states");
    let mut lacking = 0;
    while let Some((visit, origin)) = states.next(&mut |name| folder.0.join(name)).expect("a state") {
        let pool = fs::read(folder.0.join(&visit.name).join("pool")).expect("a pool");
        // A broken list has a head that is newer than a node's stores.
        if !is_whole(&pool, 0) {
            lacking += 1;
            assert!(!visit.lacks.is_empty() && visit.differs > 0, "{}", visit.name);
            assert!(visit.has.iter().any(|store| store.place == 8), "{}", visit.name);
            // The first node's pointer is 0, as memory was before.
            assert!(visit.lacks.iter().all(|store| store.place != 64));
            assert!(
                visit.lacks.iter().all(|store| store.place >= 64 || store.place == 8),
                "{}",
                visit.name
            );
        }
        let run = visit.name.starts_with("run");
        assert_eq!(origin.is_some(), run);
    }
    assert!(lacking > 0);
}

#[test]
fn a_machine_whose_fences_do_not_wait_is_told_from_one_whose_fences_do() {
    let folder = Folder::new("judged");
    // What the threads do not share need not be traced.
    for (threads, is_whole) in [(1, true), (1, false), (2, true), (2, false)] {
        let path = folder.list(30, threads, true);
        let recording = Recording::open(&path).expect("a recording");
        let spec = spec(&path, "x86", 1);
        let observe = if is_whole {
            &observe as Observe<'_>
        } else {
            observed_for(&recording)
        };
        let judged = || judge_runs(&recording, &spec, 8, observe);
        let right = judged();
        assert_eq!(
            (right.judged, right.disorders.len(), right.not_judged.as_str()),
            (8, 0, "")
        );
        let wrong = breaking(Some(Rule::FenceWaitsForAll.any()), judged);
        assert_eq!((wrong.judged, wrong.not_judged.as_str()), (8, ""));
        assert!(!wrong.disorders.is_empty());
        // Both words of the violation are in the list, by the names of the pool's locations.
        assert!(
            wrong.disorders[0].what.matches("pool+0x").count() == 2,
            "{}",
            wrong.disorders[0].what
        );
    }
}

#[test]
fn a_recording_is_judged_by_the_number_of_its_operations() {
    let folder = Folder::new("operations");
    // A node is three stores, two flushes and two fences.
    for threads in [1, 2] {
        let recording = Recording::open(&folder.list(30, threads, true)).expect("a recording");
        let found = operations(&recording, u64::MAX).expect("it can be read");
        assert_eq!(found, 7 * 30 * u64::from(threads));
    }
    for (threads, what) in [
        (1, "accesses to persistent memory, flushes and fences"),
        (2, "accesses to memory that is persistent or shared, flushes and fences"),
    ] {
        let recording = Recording::open(&folder.list(30, threads, true)).expect("a recording");
        let most = 7 * 30 * u64::from(threads);
        let judgement = |most| Judgement::up_to(&recording, most).expect("it can be read");
        assert_eq!(judgement(most).not_judged, "");
        assert_eq!(
            judgement(most - 1).not_judged,
            format!("it has more than {} {what}", most - 1)
        );
    }
}
