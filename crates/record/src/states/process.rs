//! What a recording says of its process: which addresses were volatile memory, and which code is of locks.

use super::Image;
use crate::order::{Places, PmPlace};
use crate::ranges::Ranges;
use crate::{RecordError, Recording, Source};
use std::ops::Range;

/// Smaller values count as numbers: programs without position-independent code have addresses there, too.
const LOWEST: u64 = 1 << 32;

/// Functions of the C library whose words are locks, without leading underscores.
const LOCKING: [&str; 9] = [
    "pthread_mutex_",
    "pthread_rwlock_",
    "pthread_cond_",
    "pthread_spin_",
    "pthread_barrier_",
    "sem_wait",
    "sem_post",
    "sem_trywait",
    "new_sem_",
];

/// The process of a recording.
#[derive(Debug)]
pub struct Process {
    source: Source,
    places: Places,
    volatile: Vec<Range<u64>>,
    c_library: Ranges,
}

impl Process {
    /// Of a recording, and its memory at first.
    ///
    /// # Errors
    /// The recording cannot be read.
    pub fn of(recording: &Recording, places: &Places) -> Result<(Process, Image), RecordError> {
        let mut c_library = Ranges::default();
        for module in recording.modules() {
            let name = module.path.rsplit('/').next().unwrap_or_default();
            if ["libc.", "libc-", "libpthread", "ld-musl"]
                .iter()
                .any(|start| name.starts_with(start))
            {
                c_library.add(module.base..module.end);
            }
        }
        let process = Process {
            source: Source::of(recording),
            places: places.clone(),
            volatile: recording.volatile_pages().to_vec(),
            c_library,
        };
        Ok((process, Image::initial(recording, places)?))
    }

    /// Whether a value is an address of memory that the program has touched and that is not persistent.
    pub fn is_volatile(&self, value: u64) -> bool {
        let next = self.volatile.partition_point(|range| range.start <= value);
        let touched = next.checked_sub(1).is_some_and(|last| value < self.volatile[last].end);
        value >= LOWEST && touched && self.place(value).is_none()
    }

    /// Where in persistent memory a value points, if it is an address there.
    pub fn place(&self, value: u64) -> Option<PmPlace> {
        self.places.of_address(value).map(|(place, _)| place)
    }

    /// Whether an instruction is of the C library.
    pub fn is_of_c_library(&self, pc: u64) -> bool {
        self.c_library.contains(pc)
    }

    /// Whether an instruction that stores to a word makes it a lock: of a function of the C library for locks, or of
    /// libpmemobj, whose locked instructions store to its locks alone.
    pub fn locks(&mut self, pc: u64, locked: bool) -> bool {
        let site = self.source.site(pc);
        let name = site.symbol.as_deref().unwrap_or_default().trim_start_matches('_');
        let in_libpmemobj = site
            .module
            .as_deref()
            .is_some_and(|module| module.starts_with("libpmemobj.so"));
        LOCKING.iter().any(|start| name.starts_with(start)) || (locked && in_libpmemobj)
    }
}
