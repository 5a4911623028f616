//! The DRAM of a device before its flash: a write-back cache of pages.
//!
//! A line that it has costs an access to DRAM. One that it lacks costs the read of its page from flash first, also to be
//! written. A dirty page that makes room is copied to the buffer of its flash bank, which is busy while it programs the
//! page: what needs the bank or the buffer waits. Simplified: pages lie in flash where their addresses say, nothing is
//! moved to level wear, and a program is not suspended for a read.

use crate::config::{MachineConfig, Warm};
use std::collections::BTreeMap;
use strandline_isa::{Line, LINE_BYTES};
use strandline_kernel::{Calendar, Cycles};

/// A device's cache, and the flash behind it.
pub struct DeviceCache {
    /// The pages of each set that has any, the latest used first.
    sets: BTreeMap<u64, Vec<Page>>,
    ways: usize,
    set_count: u64,
    page_lines: u64,
    /// Each set begins with the pages that are used of it first.
    is_warm: bool,
    /// The bandwidth of the DRAM, for reads and writes.
    port: Calendar,
    latency: u64,
    line: Cycles,
    flash: Flash,
    /// The numbers of dirty pages that have made room, if they are noted.
    given_up: Option<Vec<u64>>,
}

#[derive(Clone, Copy)]
struct Page {
    number: u64,
    is_dirty: bool,
    /// When it is there.
    there: u64,
}

/// Flash: banks that are busy with one page at a time, and bandwidth in each direction.
struct Flash {
    /// When each bank is free.
    free: Vec<u64>,
    reads: Calendar,
    writes: Calendar,
    read_latency: u64,
    write_latency: u64,
    read_page: Cycles,
    write_page: Cycles,
}

/// What an access to the cache found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// When the line is read or written.
    pub done: u64,
    /// Bytes that were written to flash to make room.
    pub written: u64,
}

impl DeviceCache {
    /// That of a controller's device; `None` if the machine has none.
    pub fn of(machine: &MachineConfig) -> Option<DeviceCache> {
        let cxl = &machine.cxl;
        let page_lines = cxl.cache_page_bytes / LINE_BYTES;
        (cxl.cache_bytes > 0).then(|| DeviceCache {
            sets: BTreeMap::new(),
            ways: cxl.cache_ways as usize,
            set_count: cxl.cache_bytes / (cxl.cache_ways * cxl.cache_page_bytes),
            page_lines,
            is_warm: machine.simulation.warm != Warm::Cold,
            port: Calendar::default(),
            latency: cxl.cache_latency.0,
            line: cxl.cache_line_cycles(&machine.core),
            flash: Flash::new(machine, page_lines),
            given_up: None,
        })
    }

    /// Notes the dirty pages that make room from now on. Those since the last call, in order.
    pub fn given_up(&mut self) -> Vec<u64> {
        self.given_up.replace(Vec::new()).unwrap_or_default()
    }

    /// Reads or writes a line that is asked for at `at`.
    pub fn access(&mut self, line: Line, at: u64, writes: bool) -> Found {
        let number = line.0 / self.page_lines;
        let (there, written) = self.bring(number, at);
        let set = self.sets.entry(number % self.set_count).or_default();
        set[0].is_dirty |= writes;
        let begins = self.port.book(Cycles(at), self.line).0.max(there);
        Found {
            done: begins + self.latency,
            written,
        }
    }

    /// Makes a page the latest used of its set: when it is there, and the bytes that were written to flash for it.
    fn bring(&mut self, number: u64, at: u64) -> (u64, u64) {
        let set = self.sets.entry(number % self.set_count).or_default();
        if let Some(place) = set.iter().position(|page| page.number == number) {
            set[..=place].rotate_right(1);
            return (at.max(set[0].there), 0);
        }
        let is_full = set.len() == self.ways;
        let victim = if is_full { set.pop() } else { None };
        let dirty = victim.filter(|page| page.is_dirty);
        if let (Some(given_up), Some(page)) = (&mut self.given_up, dirty) {
            given_up.push(page.number);
        }
        let begins = dirty.map_or(at, |page| self.flash.program(page.number, at.max(page.there)));
        let there = match self.is_warm && !is_full {
            true => at,
            false => self.flash.read(number, begins),
        };
        let page = Page {
            number,
            is_dirty: false,
            there,
        };
        set.insert(0, page);
        (there, dirty.map_or(0, |_| self.page_lines * LINE_BYTES))
    }
}

impl Flash {
    fn new(machine: &MachineConfig, page_lines: u64) -> Flash {
        let (pm, core) = (&machine.pm, &machine.core);
        Flash {
            free: vec![0; pm.banks as usize],
            reads: Calendar::default(),
            writes: Calendar::default(),
            read_latency: pm.read_latency.0,
            write_latency: pm.write_latency.0,
            read_page: Cycles(pm.read_line_cycles(core).0 * page_lines),
            write_page: Cycles(pm.write_line_cycles(core).0 * page_lines),
        }
    }

    /// When the bank of a page is free. Higher bits enter its number, so that the pages of a set spread over the banks.
    fn bank(&mut self, page: u64) -> &mut u64 {
        let folded = page ^ (page >> 5) ^ (page >> 11) ^ (page >> 17);
        let banks = self.free.len() as u64;
        &mut self.free[(folded % banks) as usize]
    }

    /// When a page that is wanted at `at` has been read.
    fn read(&mut self, page: u64, at: u64) -> u64 {
        let free = *self.bank(page);
        let sensed = at.max(free) + self.read_latency;
        let sent = self.reads.book(Cycles(sensed), self.read_page).0 + self.read_page.0;
        *self.bank(page) = sent;
        sent
    }

    /// Programs a page that is given up at `at`: when its bank's buffer has taken it.
    fn program(&mut self, page: u64, at: u64) -> u64 {
        let free = *self.bank(page);
        let taken = self.writes.book(Cycles(at.max(free)), self.write_page).0 + self.write_page.0;
        *self.bank(page) = taken + self.write_latency;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two pages in one set, and one bank of flash.
    fn cache(warm: Warm) -> DeviceCache {
        let mut machine = MachineConfig::preset("cmm-h").expect("a preset");
        (machine.cxl.cache_bytes, machine.cxl.cache_ways, machine.pm.banks) = (2 * 4096, 2, 1);
        machine.simulation.warm = warm;
        DeviceCache::of(&machine).expect("it has one")
    }

    /// 60 ns at 2 GHz.
    const HIT: u64 = 120;
    /// 50 us until the page is read, and 64 lines of 20 ns at 3.2 GB/s.
    const READ: u64 = 100_000 + 64 * 40;
    /// 64 lines of 32 ns at 2 GB/s until the buffer of the bank has the page; then it programs for 600 us.
    const COPIED: u64 = 64 * 64;
    const PROGRAMMED: u64 = 1_200_000;

    fn page(number: u64) -> Line {
        Line(number * 64)
    }

    fn read(cache: &mut DeviceCache, number: u64, at: u64) -> u64 {
        cache.access(page(number), at, false).done - at
    }

    #[test]
    fn a_page_that_is_there_costs_dram_and_another_one_flash() {
        for (warm, first) in [(Warm::Footprint, HIT), (Warm::Cold, READ + HIT)] {
            let mut cache = cache(warm);
            assert_eq!(read(&mut cache, 1, 0), first);
            assert_eq!(read(&mut cache, 2, 1_000_000), first);
            assert_eq!(read(&mut cache, 1, 2_000_000), HIT);
            assert_eq!(read(&mut cache, 3, 3_000_000), READ + HIT, "no room");
            assert_eq!(read(&mut cache, 1, 4_000_000), HIT, "used later than page 2");
            assert_eq!(read(&mut cache, 2, 5_000_000), READ + HIT);
        }
    }

    #[test]
    fn a_dirty_page_that_makes_room_is_programmed_first() {
        let mut cache = cache(Warm::Footprint);
        let written = Found { done: HIT, written: 0 };
        assert_eq!(cache.access(page(1), 0, true), written);
        read(&mut cache, 2, 1000);
        let (at, written) = (2000, 4096);
        let done = at + COPIED + PROGRAMMED + READ + HIT;
        assert_eq!(
            cache.access(page(3), at, false),
            Found { done, written },
            "the bank programs page 1"
        );
        let at = done;
        let found = cache.access(page(1), at, false);
        assert_eq!((found.done, found.written), (at + READ + HIT, 0), "page 2 is clean");
    }

    #[test]
    fn lines_share_the_bandwidth_of_the_dram() {
        let mut cache = cache(Warm::Footprint);
        // 64 bytes at 23.5 GB/s take 2.7 ns, five cycles.
        for behind in 0..4 {
            assert_eq!(read(&mut cache, 1, 0), HIT + 5 * behind);
        }
    }

    #[test]
    fn a_page_on_its_way_is_read_once() {
        let mut cache = cache(Warm::Cold);
        assert_eq!(read(&mut cache, 1, 0), READ + HIT);
        assert_eq!(read(&mut cache, 1, 1000), READ + HIT - 1000);
    }
}
