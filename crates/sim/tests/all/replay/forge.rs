//! Recordings with damaged contents and right checksums, written by the format of `docs/recording-format.md`.

use std::hash::Hasher;
use twox_hash::XxHash3_64;

/// Bytes before the first block, of a block's header, and after the last block.
const PREFIX: usize = 16;
const HEAD: usize = 32;
const SUFFIX: usize = 16;

/// The numbers of kinds of blocks.
const STEPS: u32 = 2;
const INDEX: u32 = 7;

fn field(block: &[u8], number: usize) -> u32 {
    let at = 8 + 4 * number;
    u32::from_le_bytes(block[at..at + 4].try_into().expect("four bytes"))
}

/// The blocks of a recording, each with its header and its content.
fn blocks(bytes: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let (mut at, mut blocks) = (PREFIX, Vec::new());
    while at + SUFFIX < bytes.len() {
        let head = bytes[at..at + HEAD].to_vec();
        let end = at + HEAD + field(&head, 4) as usize;
        let content = zstd::bulk::decompress(&bytes[at + HEAD..end], field(&head, 3) as usize);
        blocks.push((head, content.expect("the recording is whole")));
        at = end;
    }
    blocks
}

/// Changes the content of a block of steps, and corrects lengths and checksums.
pub fn with_steps(bytes: &[u8], which: usize, change: &mut dyn FnMut(&mut Vec<u8>)) -> Vec<u8> {
    let mut blocks = blocks(bytes);
    let steps: Vec<usize> = (0..blocks.len())
        .filter(|at| field(&blocks[*at].0, 0) == STEPS)
        .collect();
    change(&mut blocks[steps[which % steps.len()]].1);
    let (mut out, mut stored) = (bytes[..PREFIX].to_vec(), Vec::new());
    for (head, mut content) in blocks {
        let place = out.len() as u64;
        let is_index = field(&head, 0) == INDEX;
        if is_index {
            content = with_lengths(&content, &stored);
        }
        let sealed = sealed(&head, &content, place);
        stored.push(sealed.len() - HEAD);
        out.extend(sealed);
        if is_index {
            out.extend(place.to_le_bytes());
        }
    }
    out.extend(b"strandED");
    out
}

fn sealed(head: &[u8], content: &[u8], place: u64) -> Vec<u8> {
    let stored = zstd::bulk::compress(content, 1).expect("zstd works");
    let mut block = head.to_vec();
    block[20..24].copy_from_slice(&(content.len() as u32).to_le_bytes());
    block[24..28].copy_from_slice(&(stored.len() as u32).to_le_bytes());
    block.extend(stored);
    let mut hash = XxHash3_64::with_seed(place);
    // Header and content are hashed one after the other.
    hash.write(&block[8..]);
    let sum = hash.finish();
    block[..8].copy_from_slice(&sum.to_le_bytes());
    block
}

/// An index with these stored lengths of blocks.
fn with_lengths(index: &[u8], stored: &[usize]) -> Vec<u8> {
    let mut at = 0;
    number(index, &mut at);
    list(index, &mut at, 0, 1);
    list(index, &mut at, 3, 1);
    list(index, &mut at, 3, 1);
    list(index, &mut at, 2, 0);
    skip(index, &mut at, 13);
    list(index, &mut at, 2, 0);
    let mut out = index[..at].to_vec();
    put(&mut out, number(index, &mut at));
    for bytes in stored {
        (0..3).for_each(|_| put(&mut out, number(index, &mut at)));
        number(index, &mut at);
        put(&mut out, *bytes as u64);
    }
    out
}

/// Skips a list whose items have this many numbers and texts.
fn list(bytes: &[u8], at: &mut usize, numbers: usize, texts: usize) {
    for _ in 0..number(bytes, at) {
        skip(bytes, at, numbers);
        for _ in 0..texts {
            let length = number(bytes, at) as usize;
            *at += length;
        }
    }
}

/// Skips `numbers` numbers.
fn skip(bytes: &[u8], at: &mut usize, numbers: usize) {
    for _ in 0..numbers {
        number(bytes, at);
    }
}

/// A number in groups of seven bits.
pub fn number(bytes: &[u8], at: &mut usize) -> u64 {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = bytes[*at];
        *at += 1;
        number |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            return number;
        }
    }
}

/// Appends a number in groups of seven bits.
pub fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
