//! Real memory and the instructions on it: all `unsafe` code is here.
//!
//! A program's address plus [`OFFSET`] is the real address, for DRAM and persistent memory alike. So translation is a
//! constant displacement, which costs no instruction, and the program's persistent data holds no address of this
//! process.
//!
//! Loads acquire and stores release, as all loads and stores of x86 do. The compiler neither reorders nor removes them.

use std::arch::asm;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::{with_exposed_provenance, with_exposed_provenance_mut};
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, AtomicU8, Ordering};
use strandline_isa::Rmw;
use strandline_isa::{Addr, Flush, Image, Plain, Primitive, PM_BASE};

/// The real address of a program's address 0: above the system's reserved range, below loaded programs, and small
/// enough for an instruction's displacement.
const OFFSET: u64 = 1 << 28;

/// Maximum DRAM of a program, in bytes.
const MOST_DRAM: u64 = 1 << 30;

/// A program's DRAM and persistent memory, mapped at fixed addresses: a process has one at a time.
///
/// Users must access only its addresses. As in any native program, a stray access faults or corrupts memory.
pub(crate) struct Real {
    dram_bytes: u64,
    pm_bytes: u64,
}

impl Real {
    /// Maps zeroed DRAM and persistent memory. The latter is `file`, shared and at least as long, or anonymous.
    ///
    /// # Errors
    /// The system refuses, or these addresses are already mapped.
    pub fn map(dram_bytes: u64, pm_bytes: u64, file: Option<&File>) -> io::Result<Real> {
        if dram_bytes > MOST_DRAM {
            let text =
                format!("{dram_bytes} bytes of DRAM: at most {MOST_DRAM} are possible; make the workload smaller");
            return Err(io::Error::other(text));
        }
        map_at(OFFSET, dram_bytes, None)?;
        // On failure of the second mapping, the first is dropped and unmapped.
        let mut real = Real {
            dram_bytes,
            pm_bytes: 0,
        };
        map_at(OFFSET + PM_BASE, pm_bytes, file)?;
        real.pm_bytes = pm_bytes;
        Ok(real)
    }

    /// Writes persistent memory back to its file, on any file system.
    ///
    /// # Errors
    /// The system refuses.
    pub fn sync(&self) -> io::Result<()> {
        // SAFETY: the mapping exists as long as `self`.
        #[allow(unsafe_code, reason = "a system call on a mapping of our own")]
        let result = unsafe { libc::msync(place(PM_BASE), self.pm_bytes as usize, libc::MS_SYNC) };
        errno_unless(result == 0)
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        for (base, bytes) in [(0, self.dram_bytes), (PM_BASE, self.pm_bytes)] {
            if bytes > 0 {
                // SAFETY: `map` made the mapping, and nothing can use it any more.
                #[allow(unsafe_code, reason = "a system call on a mapping of our own")]
                unsafe {
                    libc::munmap(place(base), bytes as usize);
                }
            }
        }
    }
}

impl Image for Real {
    fn word(&self, addr: Addr) -> u64 {
        load(addr, 8)
    }

    fn set_word(&self, addr: Addr, value: u64) {
        store(addr, 8, value);
    }
}

fn place(addr: u64) -> *mut libc::c_void {
    with_exposed_provenance_mut((addr + OFFSET) as usize)
}

fn errno_unless(fine: bool) -> io::Result<()> {
    match fine {
        true => Ok(()),
        false => Err(io::Error::last_os_error()),
    }
}

fn map_at(at: u64, bytes: u64, file: Option<&File>) -> io::Result<()> {
    let wanted = with_exposed_provenance_mut(at as usize);
    let (kind, fd) = match file {
        Some(file) => (libc::MAP_SHARED, file.as_raw_fd()),
        None => (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1),
    };
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = kind | libc::MAP_FIXED_NOREPLACE;
    // SAFETY: a new mapping, which replaces none.
    #[allow(unsafe_code, reason = "a system call that makes memory of our own")]
    let got = unsafe { libc::mmap(wanted, bytes as usize, protection, flags, fd, 0) };
    errno_unless(got != libc::MAP_FAILED)?;
    // Kernels before 4.17 treat the address as a hint.
    if got != wanted {
        return Err(io::Error::other("something else lies where the memory should"));
    }
    got.expose_provenance();
    Ok(())
}

/// The word of type `A` at `addr`.
#[inline(always)]
#[allow(unsafe_code, reason = "real memory")]
fn at<A>(addr: Addr) -> &'static A {
    let pointer = with_exposed_provenance::<A>(addr.0.wrapping_add(OFFSET) as usize);
    debug_assert!(pointer.is_aligned(), "{addr} is not aligned");
    // SAFETY: `Real` maps all addresses that its program may access, and `A` is an atomic integer, valid for all bit
    // patterns.
    unsafe { &*pointer }
}

/// A load of 1, 2, 4 or 8 bytes.
#[inline(always)]
pub(crate) fn load(addr: Addr, size: u8) -> u64 {
    match size {
        1 => at::<AtomicU8>(addr).load(Ordering::Acquire).into(),
        2 => at::<AtomicU16>(addr).load(Ordering::Acquire).into(),
        4 => at::<AtomicU32>(addr).load(Ordering::Acquire).into(),
        _ => at::<AtomicU64>(addr).load(Ordering::Acquire),
    }
}

/// A store of 1, 2, 4 or 8 bytes.
#[inline(always)]
pub(crate) fn store(addr: Addr, size: u8, value: u64) {
    match size {
        1 => at::<AtomicU8>(addr).store(value as u8, Ordering::Release),
        2 => at::<AtomicU16>(addr).store(value as u16, Ordering::Release),
        4 => at::<AtomicU32>(addr).store(value as u32, Ordering::Release),
        _ => at::<AtomicU64>(addr).store(value, Ordering::Release),
    }
}

/// A non-temporal store of 4 or 8 bytes.
///
/// # Panics
/// There are no other sizes.
#[inline(always)]
#[allow(unsafe_code, reason = "real memory")]
pub(crate) fn store_nt(addr: Addr, size: u8, value: u64) {
    // SAFETY: as in `at`.
    match size {
        4 => unsafe {
            asm!("movnti [{} + {}], {:e}", in(reg) addr.0, const OFFSET, in(reg) value, options(nostack, preserves_flags))
        },
        8 => unsafe {
            asm!("movnti [{} + {}], {}", in(reg) addr.0, const OFFSET, in(reg) value, options(nostack, preserves_flags))
        },
        _ => panic!("x86-64 has no non-temporal store of {size} bytes"),
    }
}

/// A locked instruction on 8 bytes; returns the old value.
#[inline(always)]
pub(crate) fn rmw(addr: Addr, op: Rmw, operand: u64) -> u64 {
    let word = at::<AtomicU64>(addr);
    match op {
        Rmw::Swap => word.swap(operand, Ordering::SeqCst),
        Rmw::Add => word.fetch_add(operand, Ordering::SeqCst),
        Rmw::CompareSwap(expected) => word
            .compare_exchange(expected, operand, Ordering::SeqCst, Ordering::SeqCst)
            .unwrap_or_else(|found| found),
        Rmw::Merge(_) => word
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |old| Some(op.apply(old, operand)))
            .unwrap_or_else(|found| found),
    }
}

/// Writes the line of `addr` back.
#[inline(always)]
#[allow(unsafe_code, reason = "instructions that Rust has no word for")]
pub(crate) fn flush(addr: Addr, flush: Flush) {
    // SAFETY: as in `at`; the line's bytes do not change.
    match flush {
        Flush::Clwb => unsafe {
            asm!("clwb [{} + {}]", in(reg) addr.0, const OFFSET, options(nostack, preserves_flags))
        },
        Flush::ClflushOpt => unsafe {
            asm!("clflushopt [{} + {}]", in(reg) addr.0, const OFFSET, options(nostack, preserves_flags))
        },
        Flush::Clflush => unsafe {
            asm!("clflush [{} + {}]", in(reg) addr.0, const OFFSET, options(nostack, preserves_flags))
        },
    }
}

/// A persist primitive. The store barrier emits nothing, because x86 stores stay in order and the compiler preserves
/// that order.
///
/// # Panics
/// On `pcommit`, which no machine has.
#[inline(always)]
#[allow(unsafe_code, reason = "instructions that Rust has no word for")]
pub(crate) fn primitive(primitive: Primitive) {
    // SAFETY: fences only order.
    match primitive.plain() {
        Plain::Sfence => unsafe { asm!("sfence", options(nostack, preserves_flags)) },
        Plain::Mfence => unsafe { asm!("mfence", options(nostack, preserves_flags)) },
        Plain::Queued => panic!("pcommit was withdrawn: no machine has it"),
        Plain::Dmb | Plain::Nothing => {}
    }
}

/// Executes the marker with this displacement ([`Marker::displacement`]).
#[inline(always)]
#[allow(unsafe_code, reason = "an instruction that Rust has no word for")]
pub(crate) fn mark<const DISPLACEMENT: u32>() {
    // SAFETY: it does nothing.
    unsafe { asm!("nop dword ptr [rax + {}]", const DISPLACEMENT, options(nostack, preserves_flags)) }
}
