//! Single instructions and what becomes of them.

use super::trace::{import_bytes, kind, marker, steps, Did, Trace, PM};
use crate::recording::{Event, FenceClass, Origin};
use crate::Recording;
use strandline_capture::{Access, AccessKind, Marker};

fn access(instruction: u16, kind: AccessKind, size: u16) -> Access {
    Access {
        instruction,
        kind,
        size,
    }
}

fn ran(block: u32, addresses: &[u64]) -> Did {
    Did::Block {
        block,
        addresses: addresses.to_vec(),
        fences: vec![],
        turns: vec![],
    }
}

/// `rep movsb`
const REP_MOVSB: [u8; 2] = [0xf3, 0xa4];

fn recording(trace: &mut Trace) -> Recording {
    let bytes = trace.end().bytes;
    import_bytes("drmemtrace.app.9.0001.trace", &bytes)
        .expect("the trace is right")
        .1
}

/// The accesses of a single instruction that made these, as (kind, bytes, address).
fn accesses(code: &[u8], records: &[(u16, u16, u64)]) -> Vec<(AccessKind, u16, u64)> {
    let mut trace = Trace::new(9, 100);
    trace.plain(code);
    for (kind, size, address) in records {
        trace.put(*kind, *size, *address);
    }
    let recording = recording(&mut trace);
    let Did::Block { addresses, .. } = steps(&recording, 0).remove(0) else {
        panic!("an instruction was executed")
    };
    let block = recording.blocks()[0].accesses.iter().zip(addresses);
    block
        .map(|(access, address)| (access.kind, access.size, address))
        .collect()
}

#[test]
fn a_task_of_a_few_instructions_becomes_exactly_its_steps() {
    let mut trace = Trace::new(9, 100);
    let end = Marker::TaskEnd.displacement().to_le_bytes();
    let nop = [&[0x0f, 0x1f, 0x80][..], &end].concat();
    let codes: [&[u8]; 8] = [
        &[0x48, 0x8b, 0x06],       // mov rax, [rsi]
        &[0xf0, 0x48, 0x01, 0x07], // lock add [rdi], rax
        &[0x48, 0x01, 0x47, 0x08], // add [rdi+8], rax
        &[0x66, 0x0f, 0xae, 0x37], // clwb [rdi]
        &[0x0f, 0xc3, 0x07],       // movnti [rdi], eax
        &[0x0f, 0xae, 0xf8],       // sfence
        &nop,                      // the task's end
        &[0x75, 0x10],             // jne
    ];
    trace.plain(codes[0]).read(8, 0x5000);
    trace.plain(codes[1]).read(8, PM).write(8, PM);
    trace.plain(codes[2]).read(8, PM + 8).write(8, PM + 8);
    // DynamoRIO takes clwb for a load of a byte.
    trace.plain(codes[3]).read(1, PM);
    trace.plain(codes[4]).write(4, PM + 64);
    trace.plain(codes[5]).plain(codes[6]).run(kind::UNTAKEN, codes[7]);
    let string = trace.pc;
    trace.plain(&REP_MOVSB).read(1, 0x5100).write(1, 0x5200);
    for i in 1..3 {
        trace
            .put(kind::NO_FETCH, 2, string)
            .read(1, 0x5100 + i)
            .write(1, 0x5200 + i);
    }
    trace.run(kind::RETURN, &[0xc3]).read(8, 0x8000);

    let recording = recording(&mut trace);
    assert_eq!(recording.meta().origin, Origin::Drmemtrace);
    assert!(!recording.meta().values);
    assert_eq!(recording.meta().program, ["app"]);
    let [first, string_block, last] = recording.blocks() else {
        panic!("there are three blocks")
    };
    assert_eq!((first.pc, first.instructions, first.repeats), (0x1000, 8, false));
    assert_eq!(first.code, codes.concat());
    assert_eq!(first.fences, [5]);
    assert_eq!(
        first.accesses,
        [
            access(0, AccessKind::Load, 8),
            access(1, AccessKind::Atomic, 8),
            access(2, AccessKind::Update, 8),
            access(3, AccessKind::Clwb, 64),
            access(4, AccessKind::StoreNt, 4),
        ]
    );
    assert_eq!(
        (string_block.pc, string_block.instructions, string_block.repeats),
        (string, 1, true)
    );
    let copies = [access(0, AccessKind::Load, 1), access(0, AccessKind::Store, 1)];
    assert_eq!(
        (&string_block.code[..], &string_block.accesses[..]),
        (&REP_MOVSB[..], &copies[..])
    );
    assert_eq!((last.pc, last.instructions), (string + 2, 1));

    let body = Did::Block {
        block: 0,
        addresses: vec![0x5000, PM, PM + 8, PM, PM + 64],
        fences: vec![FenceClass::Durable],
        turns: vec![],
    };
    let expected = [
        body,
        ran(1, &[0x5100, 0x5200]),
        ran(1, &[0x5101, 0x5201]),
        ran(1, &[0x5102, 0x5202]),
        ran(2, &[0x8000]),
    ];
    assert_eq!(steps(&recording, 0), expected);
    let totals = recording.totals();
    assert_eq!(
        (totals.instructions, totals.tasks, totals.clwbs, totals.sfences),
        (12, 1, 1, 1)
    );
    assert_eq!((totals.atomics, totals.stores_nt, totals.persistent_stores), (1, 1, 3));
}

#[test]
fn a_loop_executes_its_block_again_without_new_encodings() {
    let mut trace = Trace::new(9, 100);
    trace.plain(&[0xff, 0xc9]).run(kind::TAKEN, &[0x75, 0xfc]);
    trace.put(kind::INSTR, 2, 0x1000).put(kind::TAKEN, 2, 0x1002);
    trace.put(kind::INSTR, 2, 0x1000).put(kind::UNTAKEN, 2, 0x1002);
    let recording = recording(&mut trace);
    assert_eq!(recording.blocks().len(), 1);
    assert_eq!(steps(&recording, 0), [ran(0, &[]), ran(0, &[]), ran(0, &[])]);
}

#[test]
fn code_that_changed_is_another_block() {
    let mut trace = Trace::new(9, 100);
    trace.plain(&[0x90]).run(kind::TAKEN, &[0xeb, 0xfd]);
    trace.pc = 0x1000;
    trace.plain(&[0xf8]).put(kind::TAKEN, 2, 0x1001);
    let recording = recording(&mut trace);
    let code: Vec<&[u8]> = recording.blocks().iter().map(|block| &block.code[..]).collect();
    assert_eq!(code, [&[0x90, 0xeb, 0xfd], &[0xf8, 0xeb, 0xfd]]);
}

#[test]
fn a_string_instruction_that_repeats_not_at_all_accesses_nothing() {
    let mut trace = Trace::new(9, 100);
    trace.plain(&REP_MOVSB).plain(&[0x90]);
    let recording = recording(&mut trace);
    let [none, nop] = recording.blocks() else {
        panic!("there are two blocks")
    };
    assert_eq!((none.repeats, none.accesses.len(), nop.repeats), (false, 0, false));
}

#[test]
fn xchg_with_memory_is_atomic_without_a_prefix() {
    let code = [0x48, 0x87, 0x07];
    let records = [(kind::READ, 8, 0x5000), (kind::WRITE, 8, 0x5000)];
    assert_eq!(accesses(&code, &records), [(AccessKind::Atomic, 8, 0x5000)]);
}

#[test]
fn a_compare_and_exchange_is_an_update_unless_locked() {
    let records = [(kind::READ, 8, 0x5000), (kind::WRITE, 8, 0x5000)];
    let plain = [0x48, 0x0f, 0xb1, 0x0f];
    assert_eq!(accesses(&plain, &records), [(AccessKind::Update, 8, 0x5000)]);
    let locked = [0xf0, 0x48, 0x0f, 0xb1, 0x0f];
    assert_eq!(accesses(&locked, &records), [(AccessKind::Atomic, 8, 0x5000)]);
}

#[test]
fn an_update_of_the_stack_through_two_places_is_a_load_and_a_store() {
    // push qword ptr [rdi], where rdi is where the push goes
    let records = [(kind::READ, 8, 0x5000), (kind::WRITE, 8, 0x5000)];
    let found = accesses(&[0xff, 0x37], &records);
    assert_eq!(found, [(AccessKind::Load, 8, 0x5000), (AccessKind::Store, 8, 0x5000)]);
}

#[test]
fn a_call_through_memory_loads_its_target_and_pushes() {
    let mut trace = Trace::new(9, 100);
    trace.mark(marker::TARGET, 0x9000);
    trace
        .run(kind::INDIRECT_CALL, &[0xff, 0x17])
        .read(8, 0x5000)
        .write(8, 0x8000);
    let recording = recording(&mut trace);
    let expected = [access(0, AccessKind::Load, 8), access(0, AccessKind::Store, 8)];
    assert_eq!(recording.blocks()[0].accesses, expected);
}

#[test]
fn all_three_flushes_are_of_a_line() {
    let clflush = accesses(&[0x0f, 0xae, 0x3f], &[(kind::DATA_FLUSH, 1, 0x5008)]);
    assert_eq!(clflush, [(AccessKind::Clflush, 64, 0x5008)]);
    let clflushopt = accesses(&[0x66, 0x0f, 0xae, 0x3f], &[(kind::READ, 1, 0x5008)]);
    assert_eq!(clflushopt, [(AccessKind::ClflushOpt, 64, 0x5008)]);
    let clwb = accesses(&[0x66, 0x0f, 0xae, 0x37], &[(kind::READ, 1, 0x5008)]);
    assert_eq!(clwb, [(AccessKind::Clwb, 64, 0x5008)]);
}

#[test]
fn what_only_names_memory_accesses_none() {
    assert_eq!(accesses(&[0x48, 0x8d, 0x07], &[]), []);
    // prefetcht0, which the trace lists as a prefetch
    assert_eq!(accesses(&[0x0f, 0x18, 0x0f], &[(kind::PREFETCHT0, 1, 0x5000)]), []);
    // cldemote, which DynamoRIO may take for a load
    assert_eq!(accesses(&[0x0f, 0x1c, 0x07], &[(kind::READ, 1, 0x5000)]), []);
}

#[test]
fn a_gather_loads_what_its_mask_says() {
    // vpgatherdd xmm0, [rdi + xmm1*4], xmm2
    let code = [0xc4, 0xe2, 0x69, 0x90, 0x04, 0x8f];
    let two = [(kind::READ, 4, 0x5000), (kind::READ, 4, 0x5010)];
    assert_eq!(
        accesses(&code, &two),
        [(AccessKind::Load, 4, 0x5000), (AccessKind::Load, 4, 0x5010)]
    );
}

#[test]
fn a_signal_ends_a_block_and_the_kernel_is_left_out() {
    let mut trace = Trace::new(9, 100);
    trace.plain(&[0x90]).mark(marker::KERNEL_EVENT, 0x1001);
    trace.pc = 0x2000;
    trace
        .plain(&[0x0f, 0x05])
        .mark(marker::SYSCALL, 1)
        .mark(marker::KERNEL_BEGINS, 1);
    trace
        .put(kind::INSTR, 4, 0xffff_ffff_8100_0000)
        .read(8, 0xffff_8880_0000_0000);
    trace.mark(marker::KERNEL_ENDS, 1).plain(&[0x90]);
    let recording = recording(&mut trace);
    let expected = [ran(0, &[]), ran(1, &[]), Did::Event(Event::Syscall(1)), ran(2, &[])];
    assert_eq!(steps(&recording, 0), expected);
    let warned = recording
        .warnings()
        .iter()
        .any(|line| line.starts_with("1 instructions of the kernel"));
    assert!(warned, "{:?}", recording.warnings());
}

#[test]
fn timestamps_inside_straight_line_code_do_not_cut_it() {
    let mut trace = Trace::new(9, 100);
    trace
        .plain(&[0x90])
        .mark(marker::CHUNK_FOOTER, 0)
        .mark(marker::TIMESTAMP, 100)
        .plain(&[0x90]);
    assert_eq!(recording(&mut trace).blocks()[0].instructions, 2);
}

#[test]
fn fences_without_a_flush_of_persistent_memory_are_idle() {
    let mut trace = Trace::new(9, 100);
    let (clwb, sfence) = ([0x66, 0x0f, 0xae, 0x37], [0x0f, 0xae, 0xf8]);
    trace.plain(&clwb).read(1, 0x5000).plain(&sfence);
    for _ in 0..2 {
        trace.plain(&clwb).read(1, PM).plain(&sfence);
    }
    let recording = recording(&mut trace);
    let Did::Block { fences, .. } = steps(&recording, 0).remove(0) else {
        panic!("a block was executed")
    };
    // The thread's end makes its last fence durable.
    assert_eq!(fences, [FenceClass::Idle, FenceClass::Order, FenceClass::Durable]);
}

#[test]
fn a_gap_between_windows_ends_a_block_and_is_told() {
    let mut trace = Trace::new(9, 100);
    trace.mark(marker::WINDOW, 0).plain(&[0x90]);
    trace.mark(marker::WINDOW, 1).plain(&[0x90]);
    let recording = recording(&mut trace);
    assert_eq!(steps(&recording, 0), [ran(0, &[]), ran(1, &[])]);
    assert!(recording.warnings().iter().any(|line| line.contains("several windows")));
}

#[test]
fn long_straight_line_code_is_cut_into_blocks() {
    let mut trace = Trace::new(9, 100);
    for _ in 0..150 {
        trace.plain(&[0x90]);
    }
    let recording = recording(&mut trace);
    let lengths: Vec<u32> = recording.blocks().iter().map(|block| block.instructions).collect();
    assert_eq!(lengths, [64, 64, 22]);
}
