//! The addresses of a test's locations.

use strandline_isa::{Addr, Memory, LINE_BYTES, PM_BASE};
use strandline_kernel::Rng;
use strandline_order::litmus::{LocationId, LocationKind};
use strandline_order::Test;

/// Number of lines of each memory for locations: more than a test has, so that placements vary.
const LINES: u64 = 32;

/// The addresses of a test's locations.
#[derive(Clone, Debug)]
pub struct Layout {
    addresses: Vec<Addr>,
}

impl Layout {
    /// Lines of locations at random places.
    pub fn of(test: &Test, rng: &mut Rng) -> Layout {
        let mut free: Vec<u64> = (0..LINES).collect();
        let mut lines = vec![None; test.locations.len()];
        let mut used = vec![0u64; test.locations.len()];
        let addresses = test.locations.iter().map(|location| {
            let line =
                *lines[location.line].get_or_insert_with(|| free.swap_remove(rng.below(free.len() as u64) as usize));
            let offset = used[location.line] * 8;
            used[location.line] += 1;
            let base = match location.kind {
                LocationKind::Volatile => 0,
                LocationKind::Persistent | LocationKind::Output => PM_BASE,
            };
            Addr(base + line * LINE_BYTES + offset)
        });
        Layout {
            addresses: addresses.collect(),
        }
    }

    /// The address of a location in memory.
    pub fn address(&self, id: LocationId) -> Addr {
        self.addresses[id.0 as usize]
    }

    /// An address in each used line of persistent memory.
    pub fn persistent(&self, test: &Test) -> Vec<Addr> {
        let ids = test
            .ids()
            .filter(|id| test.location(*id).kind == LocationKind::Persistent);
        let mut lines: Vec<Addr> = ids.map(|id| self.address(id).line().addr()).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// The unused lines of persistent memory.
    pub fn spare(&self) -> Vec<Addr> {
        let used = |line: &Addr| self.addresses.iter().any(|addr| addr.line() == line.line());
        (0..LINES)
            .map(|line| Addr(PM_BASE + line * LINE_BYTES))
            .filter(|line| !used(line))
            .collect()
    }

    /// The unused lines of volatile memory.
    pub fn spare_volatile(&self) -> impl Iterator<Item = Addr> + '_ {
        let lines = (0..LINES).map(|line| Addr(line * LINE_BYTES));
        lines.filter(|line| self.addresses.iter().all(|addr| addr.line() != line.line()))
    }

    /// The locations' lines, as ranges of addresses.
    pub fn lines(&self) -> Vec<std::ops::Range<u64>> {
        let starts = self.addresses.iter().map(|addr| addr.line().addr().0);
        starts.map(|start| start..start + LINE_BYTES).collect()
    }

    /// Memory with the test's initial values.
    pub fn memory(&self, test: &Test) -> Memory {
        let memory = Memory::new(LINES * LINE_BYTES, LINES * LINE_BYTES);
        for id in test.ids().filter(|id| test.location(*id).kind != LocationKind::Output) {
            memory.write(self.address(id), 8, u64::from(test.location(id).initial));
        }
        memory
    }
}
