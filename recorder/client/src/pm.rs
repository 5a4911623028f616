//! Persistent memory: mappings of the user's files, and ranges of addresses.

use std::ffi::c_void;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

use dynamorio_sys::{dr_mem_info_t, dr_mem_type_t_DR_MEMTYPE_FREE, dr_query_memory_ex, dr_safe_read, DR_MEMPROT_READ};
use strandline_capture::{Control, PacketKind, PAGE_BYTES};

use crate::stream::{words, Stream};
use crate::sys;
use crate::thread::Thread;
use crate::{heap, recorder, State};

/// A mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    range: Range<u64>,
    /// The offset of its start in the file.
    offset: u64,
    /// Empty for a range of addresses; [`heap::NAME`] for the heap library's arena.
    path: String,
    /// Of a file.
    file: Option<FileId>,
}

impl Mapping {
    /// Its part of the file.
    fn offsets(&self) -> Range<u64> {
        self.offset..self.offset + (self.range.end - self.range.start)
    }
}

/// A file, whatever its names and descriptors are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileId {
    /// The number of its file system.
    system: u64,
    /// Its number there.
    number: u64,
    /// When it was made, if the file system says so: the number of a removed file is given again.
    born: Option<SystemTime>,
}

impl FileId {
    /// The file behind a descriptor.
    fn of(descriptor: i32) -> Option<FileId> {
        let file = std::fs::metadata(format!("/proc/self/fd/{descriptor}")).ok()?;
        Some(FileId {
            system: file.dev(),
            number: file.ino(),
            born: file.created().ok(),
        })
    }
}

/// What a call made durable.
#[derive(Clone, Copy, Debug)]
pub enum Synced {
    /// All files (`sync`).
    All,
    /// All files of the file system of this descriptor's file (`syncfs`).
    FileSystem(i32),
    /// The file of this descriptor (`fsync`).
    File(i32),
}

impl Mapping {
    /// Its addresses.
    pub fn range(&self) -> Range<u64> {
        self.range.clone()
    }
}

/// The kernel's suffix for the name of a removed file.
const REMOVED: &str = " (deleted)";

/// Whether this file is persistent memory.
fn named(path: &str) -> bool {
    let path = path.strip_suffix(REMOVED).unwrap_or(path);
    let inside = |folder: &String| {
        path.strip_prefix(folder.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    recorder().options.pm.iter().any(inside)
}

/// The ranges of addresses that the user named.
pub fn ranges(ranges: &[(u64, u64)]) -> Vec<Mapping> {
    let mapping = |(start, end): &(u64, u64)| Mapping {
        range: *start..*end,
        offset: 0,
        path: String::new(),
        file: None,
    };
    ranges.iter().map(mapping).collect()
}

/// Something was mapped.
pub fn mapped(thread: &mut Thread, range: Range<u64>, descriptor: i32, offset: u64) {
    let recorder = recorder();
    if recorder.options.pm.is_empty() && recorder.options.pm_heap.is_none() {
        return;
    }
    unmapped(thread, range.clone());
    let of_heap = heap::offset(&range).filter(|_| recorder.options.pm_heap.is_some());
    let found = match of_heap {
        Some(offset) => Some((offset, heap::NAME.to_owned(), None)),
        None => of_file(descriptor).map(|(path, file)| (offset, path, file)),
    };
    if let Some((offset, path, file)) = found {
        let mapping = Mapping {
            range,
            offset,
            path,
            file,
        };
        add(thread, mapping);
    }
}

/// The name of a descriptor's file, if it is persistent memory: the first one by which it was mapped.
fn of_file(descriptor: i32) -> Option<(String, Option<FileId>)> {
    let path = if descriptor < 0 { None } else { sys::file_of(descriptor) };
    let path = path.filter(|path| named(path))?;
    let file = FileId::of(descriptor);
    let known = ever_mapped().find(|known| known.file.is_some() && known.file == file);
    Some((known.map_or(path, |known| known.path), file))
}

fn add(thread: &mut Thread, mapping: Mapping) {
    let recorder = recorder();
    thread.flush();
    if recorder.state() == State::Recording {
        // What the file held there is told, and its stores since are recorded.
        let is_same = |known: &Mapping| known.file.is_some() && known.file == mapping.file;
        let told: Vec<Mapping> = ever_mapped().filter(is_same).collect();
        announce(&mut recorder.stream.lock(), &mapping, &told);
    }
    take(&mut recorder.unmapped.lock(), &mapping.range);
    let mut mappings = recorder.mappings.lock();
    recorder.gate.add(mapping.range());
    mappings.push(mapping);
    drop(mappings);
    for thread in recorder.threads.lock().iter() {
        // SAFETY: it runs, so it exists.
        unsafe { &mut **thread }.bound(recorder.gate.bounds());
    }
}

/// Something was unmapped.
pub fn unmapped(thread: &mut Thread, range: Range<u64>) {
    let recorder = recorder();
    let gone = take(&mut recorder.mappings.lock(), &range);
    if gone.is_empty() || recorder.state() != State::Recording {
        return;
    }
    thread.flush();
    for mapping in gone {
        remember(&mut recorder.unmapped.lock(), &mapping);
        let range = mapping.range;
        recorder.stream.lock().packet(
            PacketKind::PmUnmap,
            0,
            &[words(&[range.start, range.end - range.start])],
        );
    }
}

/// Keeps a mapping that is gone, unless one of the same part of its file is kept: a program may map windows of a file for ever.
fn remember(unmapped: &mut Vec<Mapping>, gone: &Mapping) {
    let (from, to) = (gone.offset, gone.offsets().end);
    let covers = |known: &Mapping| known.file == gone.file && known.offset <= from && to <= known.offsets().end;
    if gone.file.is_some() && !unmapped.iter().any(covers) {
        unmapped.push(gone.clone());
    }
}

/// A mapping was moved or has grown.
pub fn moved(thread: &mut Thread, old: Range<u64>, new: Range<u64>) {
    let recorder = recorder();
    let known = recorder
        .mappings
        .lock()
        .iter()
        .find(|mapping| !mapping.path.is_empty() && mapping.range.contains(&old.start))
        .cloned();
    unmapped(thread, old.clone());
    unmapped(thread, new.clone());
    if let Some(mapping) = known {
        let offset = mapping.offset + (old.start - mapping.range.start);
        add(
            thread,
            Mapping {
                range: new,
                offset,
                ..mapping
            },
        );
    }
}

/// Removes the parts of files' mappings in this range.
fn take(mappings: &mut Vec<Mapping>, range: &Range<u64>) -> Vec<Mapping> {
    let mut gone = Vec::new();
    for mapping in std::mem::take(mappings) {
        let cut = mapping.range.start.max(range.start)..mapping.range.end.min(range.end);
        if mapping.path.is_empty() || cut.is_empty() {
            mappings.push(mapping);
            continue;
        }
        let parts = [
            (mapping.range.start..cut.start, true),
            (cut.clone(), false),
            (cut.end..mapping.range.end, true),
        ];
        for (part, stays) in parts.into_iter().filter(|(part, _)| !part.is_empty()) {
            let offset = mapping.offset + (part.start - mapping.range.start);
            let part = Mapping {
                range: part,
                offset,
                ..mapping.clone()
            };
            if stays {
                mappings.push(part)
            } else {
                gone.push(part)
            }
        }
    }
    gone
}

/// Recording starts: reports the persistent memory.
pub fn announce_all() {
    let recorder = recorder();
    let mappings = recorder.mappings.lock().clone();
    let mut stream = recorder.stream.lock();
    for mapping in &mappings {
        announce(&mut stream, mapping, &[]);
    }
}

/// Reports a mapping, and the contents of what no earlier one has.
fn announce(stream: &mut Stream, mapping: &Mapping, told: &[Mapping]) {
    let Range { start, end } = mapping.range;
    if mapping.path.starts_with('/') {
        recorder().mapped_file.store(true, Ordering::Relaxed);
    }
    stream.packet(
        PacketKind::PmMap,
        0,
        &[words(&[start, end - start, mapping.offset]), mapping.path.as_bytes()],
    );
    for part in readable(&(start & !(PAGE_BYTES - 1)..end)) {
        pages(stream, mapping, told, part);
    }
}

/// The readable parts of a range of addresses: a user's range may be mostly unmapped.
fn readable(range: &Range<u64>) -> Vec<Range<u64>> {
    let (mut at, mut parts) = (range.start, Vec::new());
    while at < range.end {
        // SAFETY: zeros are a description that is filled.
        let mut info: dr_mem_info_t = unsafe { std::mem::zeroed() };
        // SAFETY: asking is safe.
        if unsafe { dr_query_memory_ex(at as *const u8, &mut info) } == 0 {
            break;
        }
        let end = (info.base_pc as u64).saturating_add(info.size as u64).min(range.end);
        if info.type_ != dr_mem_type_t_DR_MEMTYPE_FREE && info.prot & DR_MEMPROT_READ != 0 {
            parts.push(at..end);
        }
        if end <= at {
            break;
        }
        at = end;
    }
    parts
}

/// Reports the contents of a mapping's pages.
fn pages(stream: &mut Stream, mapping: &Mapping, told: &[Mapping], part: Range<u64>) {
    let start = mapping.range.start;
    let file = sys::Holes::open(&mapping.path);
    let mut page = part.start;
    let mut bytes = [0u8; PAGE_BYTES as usize];
    while page < part.end {
        // A hole of the file is skipped unread, because reading would fill it.
        let here = mapping.offset + page.saturating_sub(start);
        let data = file.data_after(here) & !(PAGE_BYTES - 1);
        if data > here {
            page = page.saturating_add(data - here);
            continue;
        }
        if told.iter().any(|told| told.offsets().contains(&here)) {
            page += PAGE_BYTES;
            continue;
        }
        let mut done = 0;
        // SAFETY: reading is safe.
        let read =
            unsafe { dr_safe_read(page as *const c_void, bytes.len(), bytes.as_mut_ptr().cast(), &mut done) } != 0;
        if read && bytes.iter().any(|byte| *byte != 0) {
            stream.packet(PacketKind::PmPage, 0, &[words(&[page]), &bytes]);
        }
        page += PAGE_BYTES;
    }
}

/// Number of persistent bytes in this range.
pub fn bytes_within(range: &Range<u64>) -> u64 {
    let mappings = recorder().mappings.lock();
    let within = |mapping: &Mapping| {
        let (start, end) = (mapping.range.start.max(range.start), mapping.range.end.min(range.end));
        end.saturating_sub(start)
    };
    mappings.iter().map(within).sum()
}

/// Whether the file of a descriptor is, or was, mapped as persistent memory.
pub fn maps(descriptor: i32) -> bool {
    // Of a part that is gone, too: its contents are not told again.
    let known = |asked: Option<FileId>| {
        ever_mapped().any(|mapping| mapping.file.is_some_and(|file| asked.is_none_or(|asked| asked == file)))
    };
    known(None) && FileId::of(descriptor).is_some_and(|file| known(Some(file)))
}

/// Number of mapped persistent bytes in this part of a file.
pub fn bytes_of_file(path: &str, part: &Range<u64>) -> u64 {
    let within = |mapping: &Mapping| {
        let Range { start, end } = mapping.offsets();
        end.min(part.end).saturating_sub(start.max(part.start))
    };
    let mappings = recorder().mappings.lock();
    mappings.iter().filter(|mapping| mapping.path == path).map(within).sum()
}

/// A range of addresses was made durable.
pub fn range_synced(thread: &mut Thread, range: &Range<u64>) {
    let mappings = recorder().mappings.lock().clone();
    for mapping in mappings {
        tell_synced(
            thread,
            mapping.range.start.max(range.start)..mapping.range.end.min(range.end),
        );
    }
}

/// Files were made durable.
pub fn synced(thread: &mut Thread, what: Synced) {
    let asked = match what {
        Synced::All => None,
        Synced::File(descriptor) | Synced::FileSystem(descriptor) => match FileId::of(descriptor) {
            None => return,
            asked => asked,
        },
    };
    let is_meant = |file: FileId| match (what, asked) {
        (Synced::File(_), Some(asked)) => file == asked,
        (_, Some(asked)) => file.system == asked.system,
        (_, None) => true,
    };
    for mapping in ever_mapped() {
        if mapping.file.is_some_and(is_meant) {
            tell_synced(thread, mapping.range);
        }
    }
}

/// The pages of a part of a descriptor's file were made durable.
pub fn part_synced(thread: &mut Thread, descriptor: i32, part: &Range<u64>) {
    let Some(asked) = FileId::of(descriptor) else { return };
    let (from, to) = (part.start & !(PAGE_BYTES - 1), part.end.next_multiple_of(PAGE_BYTES));
    for mapping in ever_mapped().filter(|mapping| mapping.file == Some(asked)) {
        let Range { start, end } = mapping.range;
        let address = |offset: u64| start.saturating_add(offset.saturating_sub(mapping.offset));
        tell_synced(thread, address(from)..address(to).min(end));
    }
}

/// The recorded mappings, also those that are gone: the file keeps what was stored to them. No lock is held, since a full
/// buffer makes DynamoRIO delete code.
fn ever_mapped() -> impl Iterator<Item = Mapping> {
    let (now, before) = (recorder().mappings.lock().clone(), recorder().unmapped.lock().clone());
    now.into_iter().chain(before)
}

fn tell_synced(thread: &mut Thread, range: Range<u64>) {
    if !range.is_empty() {
        thread.push(&[Control::Sync.word(0), range.start, range.end - range.start]);
    }
}
