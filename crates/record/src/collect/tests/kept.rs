//! The parts of a stream that the recording keeps.

use super::build::{code, collected, eight, steps, Stream, PM, PM_BYTES};
use crate::collect::collect;
use crate::{Event, FenceClass, Region};
use strandline_capture::{Access, AccessKind, Control, Marker, PacketKind, CONTROL};
use AccessKind::{Atomic, Clwb, Load, Store, StoreNt};

#[test]
fn values_of_persistent_stores_are_kept_and_others_are_not() {
    let mut stream = Stream::running();
    let block = stream.plain(&[Load, Store, Store, Atomic, Atomic]);
    let big = 0xffff_0000_0000_0001;
    stream.trace(
        0,
        &[block, 0x1000, PM, big, 0x2000, 7, PM + 8, 1, 2, 1, 0x3000, 3, 4, 2],
    );
    let (recording, collected) = collected(&stream.end(3)).expect("a good stream");
    let seen = steps(&recording, 0, |step| {
        step.map(|e| (e.addresses.to_vec(), e.values.to_vec()))
    });
    let addresses = vec![0x1000, PM, 0x2000, PM + 8, 0x3000];
    assert_eq!(seen, [Ok((addresses, vec![big, 0, 2, 0]))]);
    assert_eq!(
        (recording.status(), collected.complete, collected.instructions),
        (3, true, 5)
    );
    assert_eq!(recording.program(), ["prog", "arg"]);
    assert_eq!(recording.totals().persistent_stores, 2);
    assert_eq!(recording.volatile_pages(), std::slice::from_ref(&(0x1000..0x4000)));
}

#[test]
fn packets_may_be_split_between_any_two_words() {
    let mut stream = Stream::running();
    let (two, none) = (stream.plain(&[Store, Atomic]), stream.plain(&[]));
    let cut = Control::Cut.word(1);
    let call = [Control::Syscall.word(1), 5, Control::Returned.word(1), 0, 6];
    let words = [
        &[two, PM, 9, PM + 64, 1, 2, 4, none, two, PM, 8, PM + 64, cut][..],
        &call,
        &[two, 0x88, Control::Cut.word(0), none],
    ]
    .concat();
    let mut whole = stream.clone();
    whole.trace(0, &words);
    let (expected, _) = collected(&whole.end(0)).expect("a good stream");
    let text = |recording: &_| steps(recording, 0, |step| format!("{step:?}"));
    assert_eq!(expected.threads()[0].instructions, 2 + 1 + 1 + 1);
    for at in 0..words.len() {
        let mut split = stream.clone();
        split.trace(0, &words[..at]);
        split.trace(0, &words[at..]);
        let (recording, _) = collected(&split.end(0)).expect("a good stream");
        assert_eq!(text(&recording), text(&expected), "split at {at}");
    }
}

#[test]
fn a_block_that_is_cut_keeps_what_its_complete_instructions_did() {
    let mut stream = Stream::running();
    let block = stream.block(&[0x90; 4], 4, &[eight(0, Load), eight(1, Store), eight(3, Store)]);
    // The last store's address arrived, but not its value; before it are two instructions without accesses.
    stream.trace(
        0,
        &[
            block,
            0x1000,
            PM,
            5,
            PM + 8,
            Control::Cut.word(3),
            block,
            0x1000,
            PM,
            6,
            Control::Cut.word(2),
        ],
    );
    let (recording, _) = collected(&stream.end(139)).expect("a good stream");
    let seen = steps(&recording, 0, |step| {
        step.map(|e| (e.instructions, e.addresses.to_vec(), e.values.to_vec()))
    });
    let expected = |instructions, value| Ok((instructions, vec![0x1000, PM], vec![value]));
    assert_eq!(seen, [expected(3, 5), expected(2, 6)]);
}

#[test]
fn fences_are_what_they_order() {
    let mut stream = Stream::running();
    let flush = stream.plain(&[Clwb]);
    let fence = stream.block(&code(None), 1, &[]);
    let task = stream.block(&code(Some(Marker::TaskEnd)), 1, &[]);
    // A non-temporal store and a fence in one block, in this order.
    let both = [&[0x90][..], &code(None)].concat();
    let both = stream.block(
        &both,
        2,
        &[Access {
            instruction: 0,
            kind: StoreNt,
            size: 8,
        }],
    );
    let words = [
        &[fence, flush, 0x1000, fence][..], // Nothing, then nothing persistent.
        &[flush, PM, fence, fence],         // Orders, then nothing.
        &[both, PM, 1, task],               // The last before a task's end.
        &[flush, PM, fence],                // The last before the thread's end.
    ];
    stream.trace(0, &words.concat());
    let (recording, _) = collected(&stream.end(0)).expect("a good stream");
    let classes = steps(&recording, 0, |step| {
        step.map(|e| e.fences.to_vec()).unwrap_or_default()
    })
    .concat();
    use FenceClass::{Durable, Idle, Order};
    assert_eq!(classes, [Idle, Idle, Order, Idle, Durable, Durable]);
    let totals = recording.totals();
    assert_eq!((totals.sfences, totals.tasks, totals.clwbs), (6, 1, 3));
}

#[test]
fn a_fence_before_a_lock_is_let_go_is_durable() {
    let mut stream = Stream::running();
    let (atomic, store, flush) = (stream.plain(&[Atomic]), stream.plain(&[Store]), stream.plain(&[Clwb]));
    let fence = stream.block(&code(None), 1, &[]);
    let words = [
        &[atomic, 0x5000, 1, 1, 1][..], // Found it taken: no acquisition.
        &[flush, PM, fence],
        &[atomic, 0x5000, 0, 1, 2, flush, PM, fence, store, 0x5000, 0],
        &[flush, PM, fence, flush, PM, fence],
    ];
    stream.trace(0, &words.concat());
    let (recording, _) = collected(&stream.end(0)).expect("a good stream");
    let classes = steps(&recording, 0, |step| {
        step.map(|e| e.fences.to_vec()).unwrap_or_default()
    })
    .concat();
    use FenceClass::{Durable, Order};
    assert_eq!(classes, [Order, Durable, Order, Durable]);
}

#[test]
fn memory_is_what_it_was_when_it_first_was_persistent() {
    let mut stream = Stream::new();
    stream.map(PM, 0x2000, 0, "/pool");
    stream.page(PM, 1);
    stream.map(PM + 0x2000, 0x1000, 0x2000, "/pool");
    stream.page(PM + 0x2000, 2);
    stream.words(PacketKind::PmUnmap, 0, &[PM, 0x2000]);
    stream.map(PM, 0x2000, 0, "/pool");
    stream.page(PM, 9);
    stream.page(PM + 0x1000, 9); // Zero at first, written since.
    let (recording, _) = collected(&stream.end(0)).expect("a good stream");
    let pages = recording.initial_pages().expect("a good recording");
    assert_eq!(
        pages.map(|(address, bytes)| (address, bytes[5])).collect::<Vec<_>>(),
        [(PM, 1), (PM + 0x2000, 2)]
    );
    let region = Region {
        start: PM,
        bytes: 0x3000,
        offset: 0,
        path: "/pool".into(),
    };
    assert_eq!(recording.regions(), [region]);
}

#[test]
fn a_stream_without_an_end_is_kept_with_a_warning() {
    let mut stream = Stream::running();
    let block = stream.plain(&[Store, Store]);
    stream.trace(0, &[block, PM, 1, PM, 2, block, PM, 3, PM]);
    let (recording, collected) = collected(&stream.bytes).expect("what came is good");
    assert!(!collected.complete && collected.warnings[0].contains("was killed"));
    assert_eq!((recording.status(), recording.warnings().len()), (137, 1));
    assert!(recording.is_incomplete());
    let values = steps(&recording, 0, |step| step.map(|e| (e.instructions, e.values.to_vec())));
    assert_eq!(values, [Ok((2, vec![1, 2])), Ok((1, vec![3]))]);
}

#[test]
fn a_stream_that_begins_anew_replaces_what_was_before() {
    let mut wrapper = Stream::running();
    let before = wrapper.plain(&[Store]);
    wrapper.packet(PacketKind::Warning, 0, b"of the wrapper");
    wrapper.trace(0, &[before, PM, 1]);
    let mut stream = Stream::running();
    let block = stream.plain(&[Store, Store]);
    stream.trace(0, &[block, PM, 2, PM, 3]);
    let both = [wrapper.bytes.clone(), stream.end(5)].concat();
    let (recording, collected) = collected(&both).expect("both are good");
    assert_eq!(
        (collected.instructions, recording.status(), recording.blocks().len()),
        (2, 5, 1)
    );
    assert!(collected.complete && collected.warnings.is_empty());
    let values = steps(&recording, 0, |step| step.map(|e| e.values.to_vec()));
    assert_eq!(values, [Ok(vec![2, 3])]);
    let cut = [wrapper.bytes, strandline_capture::MAGIC.to_vec()].concat();
    let error = super::build::collected(&cut).expect_err("the other program never started");
    assert!(error.to_string().contains("did the program start?"), "{error}");
}

#[test]
fn calls_and_syncs_are_events() {
    let mut stream = Stream::running();
    stream.trace(
        0,
        &[
            Control::Syscall.word(26),
            1,
            Control::Sync.word(0),
            PM,
            PM_BYTES,
            Control::Returned.word(26),
            0,
            2,
        ],
    );
    let (recording, _) = collected(&stream.end(0)).expect("a good stream");
    let events = steps(&recording, 0, |step| step.map(|_| ()));
    assert_eq!(
        events,
        [
            Err(Event::Syscall(26)),
            Err(Event::Sync {
                start: PM,
                bytes: PM_BYTES
            })
        ]
    );
}

#[test]
fn what_cannot_be_recorded_leaves_no_file_and_says_why() {
    let folder = std::env::temp_dir().join(format!("strandline-collect-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    let out = folder.join("out.strand");
    let mut stream = Stream::running();
    stream.packet(PacketKind::Refused, 0, b"the program forks\nand that is refused");
    let error = collect(&stream.bytes[..], &out, &mut |_| ()).expect_err("it is refused");
    assert_eq!(error.to_string(), "the program forks and that is refused");
    assert_eq!(std::fs::read_dir(&folder).expect("the folder is there").count(), 0);
    let good = Stream::running().end(0);
    collect(&good[..], &out, &mut |_| ()).expect("a good stream");
    let names = std::fs::read_dir(&folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("readable").path());
    assert_eq!(names.collect::<Vec<_>>(), [out]);
    std::fs::remove_dir_all(&folder).expect("the test's folder can be removed");
}

#[test]
fn wrong_words_are_refused_with_their_place() {
    let base = Stream::running();
    let place = base.bytes.len() as u64 + 16;
    let refused = |words: &[u64], at: u64, what: &str| {
        let mut stream = base.clone();
        stream.trace(0, words);
        let error = collected(&stream.end(0)).expect_err(what);
        assert_eq!(error.offset(), Some(place + at), "{error}");
        assert!(error.to_string().contains(what), "{error}");
    };
    refused(&[Control::Syscall.word(1), 4, 5], 16, "0x5 in place of a control word");
    refused(&[Control::Block.word(0)], 0, "block 0 was not defined");
    refused(&[CONTROL | 0x55 << 56], 0, "in place of a control word");
    refused(&[Control::Cut.word(1)], 0, "cut short where none is executed");
    refused(
        &[Control::Syscall.word(1), 4, Control::Syscall.word(1), 3],
        16,
        "ticket 3 comes after ticket 4",
    );
    refused(&[Control::Futex.word(0), 4], 0, "futex without a system call");
}
