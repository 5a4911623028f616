//! Makes traces, and reads recordings back.

use crate::import::{drmemtrace, ImportOptions, Imported};
use crate::recording::{Event, FenceClass, Step, Turn};
use crate::{RecordError, Recording};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The kinds of records, by their numbers in DynamoRIO's `trace_entry.h`.
pub mod kind {
    pub const READ: u16 = 0;
    pub const WRITE: u16 = 1;
    pub const PREFETCHT0: u16 = 3;
    pub const INSTR: u16 = 10;
    pub const INDIRECT_CALL: u16 = 15;
    pub const RETURN: u16 = 16;
    pub const BUNDLE: u16 = 17;
    pub const DATA_FLUSH: u16 = 20;
    pub const THREAD: u16 = 22;
    pub const THREAD_EXIT: u16 = 23;
    pub const PID: u16 = 24;
    pub const HEADER: u16 = 25;
    pub const FOOTER: u16 = 26;
    pub const MARKER: u16 = 28;
    pub const NO_FETCH: u16 = 29;
    pub const ENCODING: u16 = 47;
    pub const TAKEN: u16 = 48;
    pub const UNTAKEN: u16 = 49;
}

/// The kinds of markers.
pub mod marker {
    pub const KERNEL_EVENT: u16 = 0;
    pub const TIMESTAMP: u16 = 2;
    pub const CPU: u16 = 3;
    pub const FILETYPE: u16 = 9;
    pub const CACHE_LINE: u16 = 10;
    pub const VERSION: u16 = 12;
    pub const WINDOW: u16 = 14;
    pub const CHUNK_FOOTER: u16 = 21;
    pub const SYSCALL: u16 = 25;
    pub const KERNEL_BEGINS: u16 = 27;
    pub const KERNEL_ENDS: u16 = 28;
    pub const TARGET: u16 = 29;
}

/// x86-64, with encodings and numbers of system calls.
pub const FILE_TYPE: u64 = 0x40 | 0x200 | 0x400;

/// The process.
pub const PROCESS: u64 = 77;

/// A trace's file while it is made.
#[derive(Clone, Debug)]
pub struct Trace {
    pub bytes: Vec<u8>,
    /// The address of the next instruction.
    pub pc: u64,
    thread: u64,
}

impl Trace {
    /// The beginning of a thread's file, without a timestamp.
    pub fn of(thread: u64, version: u64, file_type: u64) -> Trace {
        let mut trace = Trace {
            bytes: Vec::new(),
            pc: 0x1000,
            thread,
        };
        trace
            .put(kind::HEADER, 0, version)
            .mark(marker::VERSION, version)
            .mark(marker::FILETYPE, file_type)
            .put(kind::THREAD, 0, thread)
            .put(kind::PID, 0, PROCESS)
            .mark(marker::CACHE_LINE, 64);
        trace
    }

    /// The beginning of a thread's file.
    pub fn new(thread: u64, time: u64) -> Trace {
        let mut trace = Trace::of(thread, 6, FILE_TYPE);
        trace.mark(marker::TIMESTAMP, time).mark(marker::CPU, 3);
        trace
    }

    /// A record.
    pub fn put(&mut self, kind: u16, size: u16, value: u64) -> &mut Trace {
        self.bytes.extend(kind.to_le_bytes());
        self.bytes.extend(size.to_le_bytes());
        self.bytes.extend(value.to_le_bytes());
        self
    }

    pub fn mark(&mut self, marker: u16, value: u64) -> &mut Trace {
        self.put(kind::MARKER, marker, value)
    }

    /// An instruction of this kind, with its encoding.
    pub fn run(&mut self, kind: u16, code: &[u8]) -> &mut Trace {
        for part in code.chunks(8) {
            let mut bytes = [0; 8];
            bytes[..part.len()].copy_from_slice(part);
            self.put(kind::ENCODING, part.len() as u16, u64::from_le_bytes(bytes));
        }
        self.put(kind, code.len() as u16, self.pc);
        self.pc += code.len() as u64;
        self
    }

    /// An instruction that goes on to the next.
    pub fn plain(&mut self, code: &[u8]) -> &mut Trace {
        self.run(kind::INSTR, code)
    }

    pub fn read(&mut self, size: u16, address: u64) -> &mut Trace {
        self.put(kind::READ, size, address)
    }

    pub fn write(&mut self, size: u16, address: u64) -> &mut Trace {
        self.put(kind::WRITE, size, address)
    }

    /// The end of the file.
    pub fn end(&mut self) -> Trace {
        let thread = self.thread;
        self.put(kind::THREAD_EXIT, 0, thread).put(kind::FOOTER, 0, 0);
        self.clone()
    }
}

/// What a thread did, with copies of what is borrowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Did {
    Block {
        block: u32,
        addresses: Vec<u64>,
        fences: Vec<FenceClass>,
        turns: Vec<Turn>,
    },
    Event(Event),
}

/// All steps of a thread.
pub fn steps(recording: &Recording, thread: usize) -> Vec<Did> {
    let mut stream = recording.stream(thread).expect("the thread was recorded");
    let mut all = Vec::new();
    while let Some(step) = stream.next().expect("the recording was just written") {
        all.push(match step {
            Step::Event(event) => Did::Event(event),
            Step::Block(executed) => {
                assert!(executed.values.iter().all(|word| *word == 0), "there are no values");
                Did::Block {
                    block: executed.block,
                    addresses: executed.addresses.to_vec(),
                    fences: executed.fences.to_vec(),
                    turns: executed.turns.to_vec(),
                }
            }
        });
    }
    all
}

/// A folder that is removed at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("strandline-import-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder can be made");
        Folder(path)
    }

    /// Writes a file.
    pub fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().expect("it is in the folder")).expect("a folder can be made");
        std::fs::write(&path, bytes).expect("a file can be written");
        path
    }

    pub fn out(&self) -> PathBuf {
        self.0.join("out.strand")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Where persistent memory is in tests.
pub const PM: u64 = 0x7000_0000;

/// Imports; persistent memory is a page at [`PM`].
pub fn import_at(path: &Path, out: &Path) -> Result<Imported, RecordError> {
    let options = ImportOptions {
        persistent: Vec::from([Range {
            start: PM,
            end: PM + 4096,
        }]),
    };
    drmemtrace(path, out, &options, &mut |_| {})
}

/// Imports a single file of these bytes.
pub fn import_bytes(name: &str, bytes: &[u8]) -> Result<(Imported, Recording), RecordError> {
    let folder = Folder::new();
    let path = folder.file(name, bytes);
    let imported = import_at(&path, &folder.out())?;
    Ok((imported, Recording::open(&folder.out()).expect("it was just written")))
}

/// Imports several threads as the folder that DynamoRIO makes.
pub fn import_threads(traces: &[Trace]) -> (Imported, Recording) {
    let folder = Folder::new();
    for trace in traces {
        let name = format!("d.dir/trace/drmemtrace.app.{}.0001.trace", trace.thread);
        folder.file(&name, &trace.bytes);
    }
    let imported = import_at(&folder.0.join("d.dir"), &folder.out()).expect("the trace is right");
    (imported, Recording::open(&folder.out()).expect("it was just written"))
}

/// What is wrong with a trace of these bytes.
pub fn refusal(bytes: &[u8]) -> RecordError {
    import_bytes("t.trace", bytes)
        .map(|_| ())
        .expect_err("the trace is wrong")
}
