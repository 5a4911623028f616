use super::*;
use crate::{Access, AccessKind, Block, Ending, Event, Region, TurnAt, Writer};
use crate::{Edit, Edits, Marker, Turn};

const POOL: u64 = 0x10_0000;
/// A volatile word.
const LOCK: u64 = 0x20_0000;

fn block(pc: u64, code: &[u8], instructions: u32, accesses: &[(u16, AccessKind, u16)]) -> Block {
    let access = |(instruction, kind, size): &(u16, AccessKind, u16)| Access {
        instruction: *instruction,
        kind: *kind,
        size: *size,
    };
    Block {
        pc,
        code: code.to_vec(),
        instructions,
        accesses: accesses.iter().map(access).collect(),
        repeats: false,
        fences: vec![],
    }
}

fn writer() -> Writer<Vec<u8>> {
    let mut writer = Writer::new(Vec::new(), &["test".to_owned()]).expect("memory can be written");
    writer.region(Region {
        start: POOL,
        bytes: 0x1000,
        offset: 0,
        path: "/pm/pool".to_owned(),
    });
    writer
}

/// Where [`library`] lies.
const LIBRARY: u64 = 0x7f00_0000_0000;

fn library(writer: &mut Writer<Vec<u8>>, name: &str) {
    writer.module(crate::Module {
        base: LIBRARY,
        end: LIBRARY + 0x1000,
        offset: 0,
        path: format!("/nowhere/{name}"),
    });
}

fn ops(writer: Writer<Vec<u8>>, ending: Ending) -> Result<Vec<PmOp>, RecordError> {
    let bytes = writer.finish(ending).expect("memory can be written");
    let recording = Arc::new(Recording::from_bytes(bytes).expect("what was written can be read"));
    let places = Arc::new(Places::of(recording.regions()));
    Interleaved::new(&recording, &places)?.collect()
}

fn piece(word: u64, bytes: [u8; 8], mask: u8) -> Piece {
    Piece { word, bytes, mask }
}

#[test]
fn a_block_gives_its_operations_in_program_order_with_their_addresses() {
    let mut writer = writer();
    let nop = [&[0x0f, 0x1f, 0x80][..], &Marker::TaskEnd.displacement().to_le_bytes()].concat();
    // mov [rdi], rax; clwb [rdi]; sfence; the marker; clwb [rsi], which is not persistent.
    let code = [
        &[0x48, 0x89, 0x07, 0x66, 0x0f, 0xae, 0x37, 0x0f, 0xae, 0xf8][..],
        &nop,
        &[0x66, 0x0f, 0xae, 0x36],
    ]
    .concat();
    let accesses = [
        (0, AccessKind::Store, 8),
        (1, AccessKind::Clwb, 64),
        (4, AccessKind::Clwb, 64),
    ];
    let number = writer.block(block(0x1000, &code, 5, &accesses));
    writer
        .execute(0, number, 5, &[POOL + 8, POOL + 8, LOCK], &[7], &[true])
        .expect("it fits");
    // Cut short after the store.
    writer
        .execute(0, number, 1, &[POOL + 16], &[9], &[true])
        .expect("it fits");
    let expected = [
        (0x1000, What::Store(piece(8, [7, 0, 0, 0, 0, 0, 0, 0], 0xff))),
        (0x1003, What::Flush(Flush::Clwb, Some(0))),
        (0x1007, What::Fence(Fence::Sfence)),
        (0x100a, What::Marker(Marker::TaskEnd)),
        (0x1011, What::Flush(Flush::Clwb, None)),
        (0x1000, What::Store(piece(16, [9, 0, 0, 0, 0, 0, 0, 0], 0xff))),
    ];
    let found = ops(writer, Ending::default()).expect("it can be read");
    assert_eq!(found.iter().map(|op| (op.at.pc, op.what)).collect::<Vec<_>>(), expected);
}

#[test]
fn changes_leave_out_or_weaken_flushes_and_fences() {
    let mut writer = writer();
    // mov [rdi], rax; clwb [rdi]; sfence; clflush [rdi]; mfence.
    let code = [
        &[0x48, 0x89, 0x07][..],
        &[0x66, 0x0f, 0xae, 0x37, 0x0f, 0xae, 0xf8],
        &[0x0f, 0xae, 0x3f, 0x0f, 0xae, 0xf0],
    ]
    .concat();
    let accesses = [
        (0, AccessKind::Store, 8),
        (1, AccessKind::Clwb, 64),
        (3, AccessKind::Clflush, 64),
    ];
    let number = writer.block(block(0x1000, &code, 5, &accesses));
    writer
        .execute(0, number, 5, &[POOL, POOL, POOL], &[7], &[true])
        .expect("it fits");
    let bytes = writer.finish(Ending::default()).expect("memory can be written");
    let changed = |changes: &[(u64, Edit)]| {
        let ops = edited(&bytes, changes).into_iter();
        ops.skip(1).map(|(_, what)| what).collect::<Vec<_>>()
    };
    let (clwb, clflush) = (What::Flush(Flush::Clwb, Some(0)), What::Flush(Flush::Clflush, Some(0)));
    let (sfence, mfence) = (What::Fence(Fence::Sfence), What::Fence(Fence::Mfence));
    assert_eq!(changed(&[]), [clwb, sfence, clflush, mfence]);
    assert_eq!(
        changed(&[(0x1003, Edit::Drop), (0x100d, Edit::Drop)]),
        [sfence, clflush]
    );
    let weakened = [0x1003, 0x1007, 0x100a, 0x100d].map(|pc| (pc, Edit::Weaken));
    assert_eq!(changed(&weakened), [clwb, sfence, clwb, sfence]);
    assert_eq!(changed(&[(0x1000, Edit::Drop)]), [clwb, sfence, clflush, mfence]);
}

/// The operations of a program with these changes.
fn edited(bytes: &[u8], changes: &[(u64, Edit)]) -> Vec<(u64, What)> {
    let recording = Recording::from_bytes(bytes.to_vec()).expect("what was written can be read");
    let code = changes.iter().copied().collect();
    let recording = Arc::new(recording.edited(Edits {
        code,
        ..Edits::default()
    }));
    let places = Arc::new(Places::of(recording.regions()));
    let ops = Interleaved::new(&recording, &places).expect("it can be read");
    ops.map(|op| op.expect("it can be read"))
        .map(|op| (op.at.pc, op.what))
        .collect()
}

fn stored(at: u64, value: u8) -> What {
    What::Store(piece(at, [value, 0, 0, 0, 0, 0, 0, 0], 0xff))
}

const CLWB: fn(u64) -> What = |line| What::Flush(Flush::Clwb, Some(line));
const SFENCE: What = What::Fence(Fence::Sfence);

/// Executes stores of the program, each at 0x1000 plus 0x10 times its number, and returns the recording.
fn stores(places: &[(u64, u64, u8)]) -> Vec<u8> {
    let mut writer = writer();
    for (number, place, value) in places {
        let code = block(
            0x1000 + 0x10 * number,
            &[0x48, 0x89, 0x07],
            1,
            &[(0, AccessKind::Store, 8)],
        );
        let number = writer.block(code);
        let ran = writer.execute(0, number, 1, &[POOL + place], &[u64::from(*value)], &[true]);
        ran.expect("it fits");
    }
    writer.finish(Ending::default()).expect("memory can be written")
}

#[test]
fn what_is_stored_is_flushed_and_fenced_where_that_is_asked() {
    let bytes = stores(&[(0, 0, 1), (1, 64, 2)]);
    let expected = [
        (0x1000, stored(0, 1)),
        (0x1000, CLWB(0)),
        (0x1010, stored(64, 2)),
        (0x1010, CLWB(64)),
        (0x1010, SFENCE),
    ];
    assert_eq!(
        edited(&bytes, &[(0x1000, Edit::Flush), (0x1010, Edit::Persist)]),
        expected
    );
}

#[test]
fn a_later_store_comes_behind_its_instruction_or_before_it_would_be_overtaken() {
    let late = [(0x1000, Edit::Later(0x1010))];
    let bytes = stores(&[(0, 0, 1), (1, 64, 2), (2, 128, 3)]);
    let expected = [
        (0x1010, stored(64, 2)),
        (0x1000, stored(0, 1)),
        (0x1010, CLWB(0)),
        (0x1010, SFENCE),
        (0x1020, stored(128, 3)),
    ];
    assert_eq!(edited(&bytes, &late), expected);
    // Another store to the same bytes, its own next execution, and the end of the program.
    let same = stores(&[(0, 0, 1), (2, 0, 3), (1, 64, 2)]);
    assert_eq!(edited(&same, &late), edited(&same, &[]));
    let again = stores(&[(0, 0, 1), (0, 64, 3)]);
    assert_eq!(edited(&again, &late), edited(&again, &[]));
}

#[test]
fn a_call_persists_at_its_return_what_a_library_stores_for_it() {
    let mut writer = writer();
    library(&mut writer, "libpmem.so.1");
    // The program: call rax; mov [rdi], rax. The library: mov [rdi], rax; ret.
    let call = writer.block(block(0x1000, &[0xff, 0xd0], 1, &[(0, AccessKind::Store, 8)]));
    let copies = [(0, AccessKind::Store, 8), (1, AccessKind::Load, 8)];
    let copies = writer.block(block(LIBRARY, &[0x48, 0x89, 0x07, 0xc3], 2, &copies));
    let own = writer.block(block(0x1002, &[0x48, 0x89, 0x07], 1, &[(0, AccessKind::Store, 8)]));
    let stack = 0x7fff_0000;
    let mut run = |block, instructions, addresses: &[u64], values: &[u64], persistent: &[bool]| {
        let ran = writer.execute(0, block, instructions, addresses, values, persistent);
        ran.expect("it fits");
    };
    run(call, 1, &[stack], &[0], &[false]);
    run(copies, 2, &[POOL, stack], &[7], &[true]);
    run(own, 1, &[POOL + 64], &[8], &[true]);
    let bytes = writer.finish(Ending::default()).expect("memory can be written");
    let copied = (LIBRARY, stored(0, 7));
    let expected = [copied, (LIBRARY, CLWB(0)), (0x1000, SFENCE), (0x1002, stored(64, 8))];
    assert_eq!(edited(&bytes, &[(0x1000, Edit::Persist)]), expected);
    let late = [(0x1002, stored(64, 8)), copied, (0x1002, CLWB(0)), (0x1002, SFENCE)];
    assert_eq!(edited(&bytes, &[(0x1000, Edit::Later(0x1002))]), late);
}

#[test]
fn a_store_that_leaves_the_region_is_persistent_within_it() {
    let mut writer = writer();
    let number = writer.block(block(0x1000, &[0x48, 0x89, 0x07], 1, &[(0, AccessKind::Store, 8)]));
    let value = u64::from_le_bytes([1, 2, 3, 4, 5, 6, 7, 8]);
    for address in [POOL - 4, POOL + 0xffc] {
        writer
            .execute(0, number, 1, &[address], &[value], &[true])
            .expect("it fits");
    }
    let expected = [
        What::Store(piece(0, [5, 6, 7, 8, 0, 0, 0, 0], 0x0f)),
        What::Store(piece(0xff8, [0, 0, 0, 0, 1, 2, 3, 4], 0xf0)),
    ];
    let found = ops(writer, Ending::default()).expect("it can be read");
    assert_eq!(found.iter().map(|op| op.what).collect::<Vec<_>>(), expected);
}

#[test]
fn a_locked_instruction_is_a_fence_before_and_after_its_store() {
    let mut writer = writer();
    let number = writer.block(block(0x1000, &[0x48, 0x87, 0x07], 1, &[(0, AccessKind::Atomic, 8)]));
    writer.execute(0, number, 1, &[POOL], &[1], &[true]).expect("it fits");
    let found = ops(writer, Ending::default()).expect("it can be read");
    let kinds: Vec<bool> = found.iter().map(|op| op.what == What::Fence(Fence::Locked)).collect();
    assert_eq!(kinds, [true, false, true]);
}

#[test]
fn a_thread_waits_for_its_turn_at_a_lock() {
    let mut writer = writer();
    let xchg = writer.block(block(0x1000, &[0x48, 0x87, 0x07], 1, &[(0, AccessKind::Atomic, 8)]));
    let store = writer.block(block(0x2000, &[0x48, 0x89, 0x07], 1, &[(0, AccessKind::Store, 8)]));
    // The second thread takes the lock first, and thread 0 executes first in the order.
    for thread in 0..2u32 {
        writer
            .execute(thread, xchg, 1, &[LOCK], &[0], &[false])
            .expect("it fits");
        writer
            .execute(thread, store, 1, &[POOL], &[u64::from(thread)], &[true])
            .expect("it fits");
        writer
            .execute(thread, store, 1, &[LOCK], &[0], &[false])
            .expect("it fits");
    }
    let turn = |step: u64, before: u32| TurnAt {
        step,
        turn: Turn { access: 0, before },
    };
    let ending = Ending {
        turns: vec![vec![turn(0, 2), turn(2, 3)], vec![turn(0, 0), turn(2, 1)]],
        ..Ending::default()
    };
    let found = ops(writer, ending).expect("it can be read");
    let stores = found.iter().filter(|op| matches!(op.what, What::Store(_)));
    assert_eq!(stores.map(|op| op.thread).collect::<Vec<_>>(), [1, 0]);
}

#[test]
fn a_thread_waits_for_a_signal_and_a_cycle_is_refused() {
    let mut signalled = writer();
    let store = signalled.block(block(0x2000, &[0x48, 0x89, 0x07], 1, &[(0, AccessKind::Store, 8)]));
    signalled
        .event(0, Event::Wait { number: 1, times: 1 })
        .expect("it fits");
    signalled.execute(0, store, 1, &[POOL], &[0], &[true]).expect("it fits");
    signalled.execute(1, store, 1, &[POOL], &[1], &[true]).expect("it fits");
    signalled.event(1, Event::Signal { number: 1 }).expect("it fits");
    let found = ops(signalled, Ending::default()).expect("it can be read");
    assert_eq!(found.iter().map(|op| op.thread).collect::<Vec<_>>(), [1, 0]);

    let mut cycle = writer();
    cycle.event(0, Event::Wait { number: 1, times: 1 }).expect("it fits");
    let error = ops(cycle, Ending::default()).expect_err("nobody signals");
    assert!(
        error
            .to_string()
            .contains("thread 0 waits for signal 1 to be given 1 times"),
        "{error}"
    );
}

#[test]
fn a_return_from_main_into_the_c_library_begins_the_end() {
    let mut writer = writer();
    library(&mut writer, "libc.so.6");
    // main: call rax; mov [rdi], rax; ret. The library: ret; lock inc [rdi].
    let call = writer.block(block(0x1000, &[0xff, 0xd0], 1, &[(0, AccessKind::Store, 8)]));
    let back = writer.block(block(LIBRARY, &[0xc3], 1, &[(0, AccessKind::Load, 8)]));
    let store = [(0, AccessKind::Store, 8), (1, AccessKind::Load, 8)];
    let leaves = writer.block(block(0x1002, &[0x48, 0x89, 0x07, 0xc3], 2, &store));
    let atomic = [(0, AccessKind::Atomic, 8)];
    let lock = writer.block(block(LIBRARY + 8, &[0xf0, 0x48, 0xff, 0x07], 1, &atomic));
    let stack = 0x7fff_0000;
    let mut run = |block, instructions, addresses: &[u64], values: &[u64], persistent: &[bool]| {
        let ran = writer.execute(0, block, instructions, addresses, values, persistent);
        ran.expect("it fits");
    };
    run(call, 1, &[stack - 8], &[0], &[false]);
    run(back, 1, &[stack - 8], &[], &[]);
    run(leaves, 2, &[POOL, stack], &[7], &[true]);
    run(lock, 1, &[LOCK], &[0], &[false]);
    let found = ops(writer, Ending::default()).expect("it can be ordered");
    let found: Vec<(u64, What)> = found.into_iter().map(|op| (op.at.pc, op.what)).collect();
    let expected = [
        (0x1002, What::Store(piece(0, [7, 0, 0, 0, 0, 0, 0, 0], 0xff))),
        (LIBRARY + 8, What::Exit),
        (LIBRARY + 8, What::Fence(Fence::Locked)),
        (LIBRARY + 8, What::Fence(Fence::Locked)),
    ];
    assert_eq!(found, expected);
}

#[test]
fn operations_are_told_with_the_innermost_own_call() {
    let mut writer = writer();
    library(&mut writer, "libpmem.so.1");
    // The program: call rax; mov [rdi], rax. The library: call rax; mov [rdi], rax; ret.
    let push = [(0, AccessKind::Store, 8)];
    let call = writer.block(block(0x1000, &[0xff, 0xd0], 1, &push));
    let calls_on = writer.block(block(LIBRARY, &[0xff, 0xd0], 1, &push));
    let stores = [(0, AccessKind::Store, 8), (1, AccessKind::Load, 8)];
    let copies = writer.block(block(LIBRARY + 0x40, &[0x48, 0x89, 0x07, 0xc3], 2, &stores));
    let leaves = writer.block(block(LIBRARY + 2, &[0x48, 0x89, 0x07, 0xc3], 2, &stores));
    let own = writer.block(block(0x1002, &[0x48, 0x89, 0x07], 1, &push));
    let stack = 0x7fff_0000;
    let mut run = |block, instructions, addresses: &[u64], values: &[u64], persistent: &[bool]| {
        let ran = writer.execute(0, block, instructions, addresses, values, persistent);
        ran.expect("it fits");
    };
    run(call, 1, &[stack], &[0], &[false]);
    run(calls_on, 1, &[stack - 8], &[0], &[false]);
    run(copies, 2, &[POOL, stack - 8], &[7], &[true]);
    run(leaves, 2, &[POOL + 64, stack], &[7], &[true]);
    run(own, 1, &[POOL + 128], &[7], &[true]);
    let found = ops(writer, Ending::default()).expect("it can be ordered");
    let found: Vec<(u64, u64)> = found.iter().map(|op| (op.at.pc, op.at.from)).collect();
    assert_eq!(found, [(LIBRARY + 0x40, 0x1000), (LIBRARY + 2, 0x1000), (0x1002, 0)]);
}
