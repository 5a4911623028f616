//! The memory by which the threads of a recording may communicate.

use crate::{AccessKind, RecordError, Recording, ThreadStep};
use std::collections::{HashMap, HashSet};

/// Bytes of a line.
const LINE: u64 = 64;

/// Entries of a thread's table of recent lines, most of which it accesses again at once.
const RECENT: usize = 1 << 10;

/// Lines that several threads access, one of which writes; and those of locked instructions, if there are several threads.
#[derive(Clone, Debug, Default)]
pub struct SharedLines {
    lines: HashSet<u64>,
}

/// How a line is used.
#[derive(Clone, Copy, Debug)]
struct Use {
    /// The first thread that accessed it.
    thread: u32,
    by_several: bool,
    written: bool,
    locked: bool,
}

impl SharedLines {
    /// Reads through all threads of a recording.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn of(recording: &Recording) -> Result<SharedLines, RecordError> {
        let mut uses: HashMap<u64, Use> = HashMap::new();
        let threads = recording.threads().len();
        for thread in 0..if threads > 1 { threads } else { 0 } {
            let mut recent = vec![(u64::MAX, false, false); RECENT];
            let mut stream = recording.stream(thread)?;
            while let Some(step) = stream.next()? {
                let ThreadStep::Block(executed) = step else { continue };
                let accesses = &recording.blocks()[executed.block as usize].accesses;
                for (access, address) in accesses.iter().zip(executed.addresses) {
                    if access.kind.flushes() {
                        continue;
                    }
                    let (written, locked) = (access.kind.writes(), access.kind == AccessKind::Atomic);
                    let last = address.saturating_add(u64::from(access.size.max(1)) - 1);
                    for line in address / LINE..=last / LINE {
                        let known = &mut recent[line as usize % RECENT];
                        if *known != (line, written, locked) {
                            *known = (line, written, locked);
                            Use::add(&mut uses, line, thread as u32, written, locked);
                        }
                    }
                }
            }
        }
        let shared = uses
            .into_iter()
            .filter(|(_, by)| by.locked || by.by_several && by.written);
        Ok(SharedLines {
            lines: shared.map(|(line, _)| line).collect(),
        })
    }

    /// Whether the line of an address is among them.
    #[must_use]
    pub fn contains(&self, address: u64) -> bool {
        self.lines.contains(&(address / LINE))
    }

    /// The first address of each, in no order.
    pub fn addresses(&self) -> impl Iterator<Item = u64> + '_ {
        self.lines.iter().map(|line| line * LINE)
    }
}

impl Use {
    fn add(uses: &mut HashMap<u64, Use>, line: u64, thread: u32, written: bool, locked: bool) {
        let first = Use {
            thread,
            by_several: false,
            written,
            locked,
        };
        let by = uses.entry(line).or_insert(first);
        by.by_several |= by.thread != thread;
        by.written |= written;
        by.locked |= locked;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Access, Block, Ending, Writer};

    /// A recording of threads whose accesses are these: kind and address.
    fn recording(threads: &[&[(AccessKind, u64)]]) -> Recording {
        let mut writer = Writer::new(Vec::new(), &[]).expect("memory takes it");
        for (thread, accesses) in threads.iter().enumerate() {
            writer.thread(thread as u32).expect("threads have numbers in order");
            for (number, (kind, address)) in accesses.iter().enumerate() {
                let access = Access {
                    instruction: 0,
                    kind: *kind,
                    size: 8,
                };
                let block = writer.block(Block {
                    pc: 0x1000 * (thread as u64 + 1) + 16 * number as u64,
                    code: vec![0x90],
                    instructions: 1,
                    accesses: vec![access],
                    repeats: false,
                    fences: Vec::new(),
                });
                let (values, present) = match access.value_words() {
                    0 => (vec![], vec![]),
                    _ => (vec![0], vec![false]),
                };
                let executed = writer.execute(thread as u32, block, 1, &[*address], &values, &present);
                executed.expect("an execution of a known block");
            }
        }
        Recording::from_bytes(writer.finish(Ending::default()).expect("a recording")).expect("it can be read")
    }

    #[test]
    fn lines_are_shared_that_threads_write_for_each_other() {
        use AccessKind::{Atomic, Load, Store};
        let shared = SharedLines::of(&recording(&[
            &[
                (Store, 0x1000),
                (Load, 0x2000),
                (Load, 0x3000),
                (Store, 0x4000),
                (Store, 0x60_3c),
            ],
            &[
                (Load, 0x1038),
                (Load, 0x2000),
                (Store, 0x3008),
                (Atomic, 0x5000),
                (Load, 0x6040),
            ],
        ]))
        .expect("it can be read");
        // An access reaches into the next line.
        for address in [0x1000, 0x3000, 0x5000, 0x6040] {
            assert!(shared.contains(address), "{address:#x}");
        }
        // Two threads read it; one alone writes it; the other thread's part of the line before.
        for address in [0x2000, 0x4000, 0x6000] {
            assert!(!shared.contains(address), "{address:#x}");
        }
        assert_eq!(shared.addresses().count(), 4);
    }

    #[test]
    fn a_thread_alone_shares_nothing() {
        let shared = SharedLines::of(&recording(&[&[(AccessKind::Atomic, 0x1000)]])).expect("it can be read");
        assert_eq!(shared.addresses().count(), 0);
    }
}
