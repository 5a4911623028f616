//! A directory at the device keeps the copies of hosts alike: it knows which hosts have a line, and invalidates copies
//! (CXL 3, back-invalidate). It has room for all lines.

use super::access::Blocked;
use super::hardware::Hardware;
use super::hosts::{Host, HostId};
use super::running::Running;
use crate::cache::{Sharers, State};
use crate::config::{HostCoherence, MachineConfig};
use std::collections::HashMap;
use strandline_design::Access;
use strandline_isa::{CoreId, Flush, Line};
use strandline_rules::{broken, Rule};

/// The hosts that have a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Holders {
    /// A bit each.
    hosts: u8,
    /// The only one may have written it.
    owned: bool,
}

impl Holders {
    fn bit(host: HostId) -> u8 {
        1 << host.0
    }

    fn others(self, host: HostId) -> impl Iterator<Item = HostId> {
        let others = self.hosts & !Holders::bit(host);
        (0..8).filter(move |bit| others >> bit & 1 != 0).map(HostId)
    }
}

/// What other hosts have answered to a request for a line.
#[derive(Clone, Copy, Debug, Default)]
pub struct FromHosts {
    /// Cycles beyond an access to the LLC, if the line is there, or to the device.
    pub takes: u64,
    /// It comes newer than the device has it.
    pub dirty: bool,
}

/// Which hosts have which lines of persistent memory.
#[derive(Default)]
pub struct Directory(HashMap<Line, Holders>);

impl Directory {
    /// That of a machine whose hosts are coherent.
    pub fn of(machine: &MachineConfig) -> Option<Directory> {
        let coherent = machine.hosts > 1 && machine.cxl.coherence == HostCoherence::Hardware;
        coherent.then(Directory::default)
    }

    fn holders(&self, line: Line) -> Holders {
        self.0.get(&line).copied().unwrap_or_default()
    }

    /// All hosts have the line, which none has written.
    pub fn warm(&mut self, hosts: usize, line: Line) {
        if line.is_persistent() {
            (0..hosts).for_each(|host| self.grants(HostId(host as u8), line, Access::Read));
        }
    }

    /// A host has the line no longer.
    pub fn leaves(&mut self, host: HostId, line: Line) {
        if let Some(holders) = self.0.get_mut(&line) {
            holders.hosts &= !Holders::bit(host);
            holders.owned &= holders.hosts != 0;
        }
    }

    fn grants(&mut self, host: HostId, line: Line, access: Access) {
        let holders = self.0.entry(line).or_default();
        let own = Holders::bit(host);
        holders.hosts = match access {
            Access::Read => holders.hosts | own,
            Access::Own => own,
        };
        holders.owned = holders.hosts == own;
    }

    /// Whether another host has the line.
    pub fn is_shared(&self, host: HostId, line: Line) -> bool {
        self.holders(line).others(host).next().is_some()
    }
}

impl Hardware {
    /// Persistent lines that are dirty in a host's caches.
    pub fn dirty_lines(&mut self, host: HostId, cores: &[CoreId]) -> Vec<Line> {
        let harts = &self.harts;
        let modified = |line: Line| {
            let of_host = cores
                .iter()
                .map(|core| harts[core.index()].core.private.borrow().state(line));
            of_host.into_iter().flatten().any(|state| state == State::Modified)
        };
        let mut lines = Vec::new();
        self.hosts[host.index()].llc.change_all(|line, known| {
            if line.is_persistent() && (known.dirty || modified(line)) {
                lines.push(line);
            }
        });
        lines
    }

    /// What a host that failed had of these lines is gone: all see what the device holds, and what is on its way there.
    pub fn return_to_device(&mut self, host: HostId, lines: Vec<Line>) {
        let Some(device) = &self.device else { return };
        for line in lines {
            let mut data = device.line(line);
            self.writes.lay_over(None, line, &mut data);
            self.hosts[0].memory.set_line(line, &data);
        }
        let directory = self.directory.iter_mut().flat_map(|directory| directory.0.values_mut());
        for holders in directory {
            holders.hosts &= !Holders::bit(host);
            holders.owned &= holders.hosts != 0;
        }
    }

    /// The cores of other hosts that have a line.
    pub fn sharers_elsewhere(&self, core: CoreId, line: Line) -> Sharers {
        let others = self.other_holders(core, line).into_iter();
        others.fold(Sharers::default(), |all, (_, sharers)| all.and(sharers))
    }

    /// Whether another host than a core's has a line.
    pub fn is_elsewhere(&self, core: CoreId, line: Line) -> bool {
        let directory = self.directory.as_ref();
        directory.is_some_and(|directory| directory.is_shared(self.host_of(core), line))
    }

    /// The hosts other than a core's that have a line, and the cores of each.
    fn other_holders(&self, core: CoreId, line: Line) -> Vec<(HostId, Sharers)> {
        let Some(directory) = self.directory.as_ref().filter(|_| line.is_persistent()) else {
            return Vec::new();
        };
        let of = |host: HostId| {
            self.hosts[host.index()]
                .llc
                .peek(line)
                .map(|known| (host, known.sharers))
        };
        directory
            .holders(line)
            .others(self.host_of(core))
            .filter_map(of)
            .collect()
    }
}

impl Running {
    /// Fails while the line is on its way to another host, or a store there is due.
    pub(super) fn await_hosts(&self, core: CoreId, line: Line, at: u64) -> Result<(), Blocked> {
        let holders = self.hw.other_holders(core, line);
        holders
            .into_iter()
            .try_for_each(|(_, sharers)| self.await_owner(core, line, sharers, at))
    }

    /// Asks the other hosts for a line, by way of the device.
    pub(super) fn ask_hosts(&mut self, core: CoreId, line: Line, access: Access, here: bool) -> FromHosts {
        let Some(directory) = self.hw.directory.as_ref().filter(|_| line.is_persistent()) else {
            return FromHosts::default();
        };
        let (host, way) = (self.hw.host_of(core), self.hw.machine.cxl.way().0);
        let holders = directory.holders(line);
        let is_owner = holders.owned && holders.hosts == Holders::bit(host);
        if here && (access == Access::Read || is_owner) {
            return FromHosts::default();
        }
        let goes_along = self.wants.orders_evictions && !broken(Rule::DirtyGoesAlong);
        let mut dirty = false;
        let asked = self.hw.other_holders(core, line);
        let must_ask = !asked.is_empty() && (access == Access::Own || holders.owned);
        for (other, sharers) in asked.iter().filter(|_| must_ask) {
            if self.gives_up(*other, line, *sharers, access == Access::Own) {
                match goes_along {
                    true => dirty = true,
                    false => self.hands_back(*other, line),
                }
            }
        }
        // The answer comes behind what hosts have written of the line.
        self.hw.writes.make_certain(line);
        if let Some(directory) = &mut self.hw.directory {
            directory.grants(host, line, access);
        }
        let to_device = if here { 2 * way } else { 0 };
        let to_others = 2 * way + 2 * self.hw.hop() + self.hw.llc(core).latency;
        FromHosts {
            takes: to_device + if must_ask { to_others } else { 0 },
            dirty,
        }
    }

    /// A host gives up a line, or what it has written of it: whether that was dirty.
    fn gives_up(&mut self, host: HostId, line: Line, sharers: Sharers, whole: bool) -> bool {
        let mut dirty = false;
        for sharer in sharers.cores() {
            if whole {
                self.wake(sharer);
            }
            let mut private = self.hw.harts[sharer.index()].core.private.borrow_mut();
            dirty |= match whole {
                true => private.remove(line),
                false => private.set_state(line, State::Shared),
            };
        }
        let Host { llc, .. } = &mut self.hw.hosts[host.index()];
        llc.change(line, |entry| {
            dirty |= std::mem::take(&mut entry.dirty);
            entry.owned = false;
        });
        if whole {
            llc.remove(line);
            if let Some(directory) = &mut self.hw.directory {
                directory.leaves(host, line);
            }
        }
        dirty
    }

    /// The answer to a snoop has brought a dirty line to the device.
    fn hands_back(&mut self, host: HostId, line: Line) {
        let now = self.hw.now();
        let Some(core) = self.hw.cores_of(host).next() else {
            return;
        };
        self.write_back(core, line, now);
    }

    /// A flush looks for a line in the other hosts: whether it was dirty there, and the cycles that it takes.
    pub(super) fn flush_in_hosts(&mut self, core: CoreId, line: Line, kind: Flush) -> (bool, u64) {
        let asked = self.hw.other_holders(core, line);
        if asked.is_empty() {
            return (false, 0);
        }
        let mut dirty = false;
        for (host, sharers) in asked {
            dirty |= self.gives_up(host, line, sharers, kind != Flush::Clwb);
        }
        (dirty, 4 * self.hw.machine.cxl.way().0)
    }

    /// A line leaves the caches of all other hosts.
    #[inline(never)]
    pub(super) fn evict_in_hosts(&mut self, core: CoreId, line: Line, at: u64) {
        for (host, _) in self.hw.other_holders(core, line) {
            let of_host = self.hw.cores_of(host).next();
            of_host.into_iter().for_each(|of_host| self.evict(of_host, line, at));
        }
    }
}
