//! Writes a small recording of a list in persistent memory, for tests that need one but no recorder.
//!
//! `synthetic KIND NODES OUT`, where KIND is `fenced`, `unfenced`, `unflushed`, `late` or `twice`. The pool has the offset of the first node at 8. Node n is at 64 n: the offset
//! of the next one, and n. `unfenced` leaves out the fence between a node and the pointer to it, `unflushed` the flush
//! of the nodes. `late` has no fence but the lock of a C library into which its `main` returns. `twice` maps the pool at
//! two addresses, and is else like `fenced`.

use std::fs::File;
use strandline_record::{Access, AccessKind, Block, Ending, FenceClass, Module, Region, Writer};

/// Where the pool is mapped.
const POOL: u64 = 0x7000_0000_0000;

/// `mov [rdi], rax`, `clwb [rdi]`, `sfence`, each as a block, one after the other.
const STORE_NEXT: u32 = 0;
const STORE_VALUE: u32 = 1;
const STORE_HEAD: u32 = 2;
const FLUSH: u32 = 3;
const FENCE: u32 = 4;

/// Where the C library is mapped.
const LIBRARY: u64 = 0x7f00_0000_0000;
const STACK: u64 = 0x7fff_0000_0000;

fn block(number: u64, code: &[u8], kind: Option<AccessKind>) -> Block {
    let access = |kind: AccessKind| Access {
        instruction: 0,
        kind,
        size: if kind.flushes() { 64 } else { 8 },
    };
    Block {
        pc: 0x40_1000 + 0x10 * number,
        code: code.to_vec(),
        instructions: 1,
        accesses: kind.map(access).into_iter().collect(),
        repeats: false,
        fences: if kind.is_none() { vec![0] } else { vec![] },
    }
}

/// `ret`, and `lock inc [rdi]` in the C library.
fn returns_from_main(writer: &mut Writer<File>) -> Result<(), Box<dyn std::error::Error>> {
    writer.module(Module {
        base: LIBRARY,
        end: LIBRARY + 0x1000,
        offset: 0,
        path: "/nowhere/libc.so.6".to_owned(),
    });
    let back = writer.block(block(5, &[0xc3], Some(AccessKind::Load)));
    let lock = Block {
        pc: LIBRARY,
        ..block(6, &[0xf0, 0x48, 0xff, 0x07], Some(AccessKind::Atomic))
    };
    let lock = writer.block(lock);
    writer.execute(0, back, 1, &[STACK], &[], &[])?;
    writer.execute(0, lock, 1, &[STACK - 0x1000], &[1], &[false])?;
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, nodes, out] = arguments.as_slice() else {
        return Err("usage: synthetic fenced|unfenced|unflushed|late|twice NODES OUT".into());
    };
    let mut writer = Writer::new(File::create(out)?, &["list".to_owned(), nodes.clone()])?;
    let store = [0x48, 0x89, 0x07];
    for number in 0..3 {
        writer.block(block(number, &store, Some(AccessKind::Store)));
    }
    writer.block(block(3, &[0x66, 0x0f, 0xae, 0x37], Some(AccessKind::Clwb)));
    writer.block(block(4, &[0x0f, 0xae, 0xf8], None));
    writer.module(Module {
        base: 0x40_0000,
        end: 0x40_2000,
        offset: 0,
        path: "/nowhere/list".to_owned(),
    });
    writer.region(Region {
        start: POOL,
        bytes: (64 * (nodes.parse::<u64>()? + 1)).next_multiple_of(0x10_0000),
        offset: 0,
        path: "/dev/shm/my pool".to_owned(),
    });
    if kind == "twice" {
        writer.region(Region {
            start: POOL + 0x1000_0000,
            bytes: 4096,
            offset: 0,
            path: "/dev/shm/my pool".to_owned(),
        });
    }
    let mut first = [0; 4096];
    first[..4].copy_from_slice(b"LIST");
    writer.page(POOL, &first);
    let mut classes = Vec::new();
    for node in 1..=nodes.parse::<u64>()? {
        let at = POOL + 64 * node;
        writer.execute(0, STORE_NEXT, 1, &[at], &[64 * (node - 1)], &[true])?;
        writer.execute(0, STORE_VALUE, 1, &[at + 8], &[node], &[true])?;
        if kind != "unflushed" {
            writer.execute(0, FLUSH, 1, &[at], &[], &[])?;
        }
        if kind == "fenced" || kind == "twice" {
            writer.execute(0, FENCE, 1, &[], &[], &[])?;
            classes.push(FenceClass::Order);
        }
        writer.execute(0, STORE_HEAD, 1, &[POOL + 8], &[64 * node], &[true])?;
        writer.execute(0, FLUSH, 1, &[POOL + 8], &[], &[])?;
        if kind != "late" {
            writer.execute(0, FENCE, 1, &[], &[], &[])?;
            classes.push(FenceClass::Durable);
        }
    }
    if kind == "late" {
        returns_from_main(&mut writer)?;
    }
    writer.finish(Ending {
        fences: vec![classes],
        ..Ending::default()
    })?;
    Ok(())
}
