//! A directory at the device keeps the copies of hosts alike: it knows which hosts have a line, and invalidates copies
//! (CXL 3, back-invalidate). It has room for all lines. What a host has written of a line it brings to the device before another
//! host gets the line.

use super::access::Blocked;
use super::hardware::Hardware;
use super::hosts::{Host, HostId};
use super::running::Running;
use crate::cache::{Sharers, State};
use crate::config::{HostCoherence, MachineConfig};
use std::collections::HashMap;
use strandline_design::{Access, Wants};
use strandline_isa::{CoreId, Flush, Line};
use strandline_rules::{any_broken, broken, Rule};

/// The hosts that have a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Holders {
    /// A bit each.
    hosts: u8,
    /// The only one may have written it.
    owned: bool,
    /// The host that waits for what others have written of it, and until when these wait in turn: they could take it back
    /// endlessly (livelock).
    awaits: Option<(HostId, u64)>,
}

/// Cycles after which a host looks again whether the device has accepted a line.
const LOOKS_AGAIN: u64 = 32;

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

/// Who brings to the device what a host has written of a line that another asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brings {
    /// The host that has written it, before the other gets the line.
    Writer,
    /// The host that asks, which gets it dirty: the design orders what leaves the caches, and a buffer may hold what is older.
    Asker,
}

/// Which hosts have which lines of persistent memory.
pub struct Directory {
    lines: HashMap<Line, Holders>,
    /// Who brings dirty lines to the device.
    brings: Brings,
}

impl Directory {
    /// That of a machine whose hosts are coherent, under a design that wants this.
    pub fn of(machine: &MachineConfig, wants: &Wants) -> Option<Directory> {
        let coherent = machine.hosts > 1 && machine.cxl.coherence == HostCoherence::Hardware;
        let goes_along = wants.orders_evictions && !broken(Rule::DirtyGoesAlong);
        coherent.then(|| Directory {
            lines: HashMap::new(),
            brings: if goes_along { Brings::Asker } else { Brings::Writer },
        })
    }

    fn holders(&self, line: Line) -> Holders {
        self.lines.get(&line).copied().unwrap_or_default()
    }

    /// All hosts have the line, which none has written.
    pub fn warm(&mut self, hosts: usize, line: Line) {
        if line.is_persistent() {
            (0..hosts).for_each(|host| self.grants(HostId(host as u8), line, Access::Read));
        }
    }

    /// A host has the line no longer.
    pub fn leaves(&mut self, host: HostId, line: Line) {
        if let Some(holders) = self.lines.get_mut(&line) {
            holders.hosts &= !Holders::bit(host);
            holders.owned &= holders.hosts != 0;
        }
    }

    fn grants(&mut self, host: HostId, line: Line, access: Access) {
        let holders = self.lines.entry(line).or_default();
        let own = Holders::bit(host);
        holders.hosts = match access {
            Access::Read if broken(Rule::DirectoryKnowsReaders) => holders.hosts & !own,
            Access::Read => holders.hosts | own,
            Access::Own => own,
        };
        holders.owned = holders.hosts == own;
        holders.awaits = None;
    }

    /// Until when a host waits for its turn, while another waits for what hosts have written of the line.
    fn waits_behind(&self, host: HostId, line: Line, now: u64) -> Option<u64> {
        let (first, until) = self.holders(line).awaits?;
        (first != host && until >= now).then_some(until)
    }

    /// Whether a host has the line alone and may write it without asking.
    fn is_owner(&self, host: HostId, line: Line) -> bool {
        let holders = self.holders(line);
        holders.owned && holders.hosts == Holders::bit(host)
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
        for line in lines.into_iter().filter(|_| !broken(Rule::FailedLinesReturn)) {
            let mut data = device.line(line);
            self.writes.lay_over(None, line, &mut data);
            self.hosts[0].memory.set_line(line, &data);
        }
        let directory = self
            .directory
            .iter_mut()
            .flat_map(|directory| directory.lines.values_mut());
        for holders in directory {
            holders.hosts &= !Holders::bit(host);
            holders.owned &= holders.hosts != 0;
            holders.awaits = holders.awaits.filter(|(first, _)| *first != host);
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

    /// Whether a core's host may write a line without asking. One that had it together with others may not, although these have it
    /// no longer: the directory would not know that there is something newer than the device has.
    pub fn may_write(&self, core: CoreId, line: Line) -> bool {
        let directory = self.directory.as_ref().filter(|_| line.is_persistent());
        directory.is_none_or(|directory| directory.is_owner(self.host_of(core), line))
    }

    /// Lines that cores have in write-combining buffers, which nothing has sent.
    pub fn combined_lines(&self, cores: &[CoreId]) -> Vec<Line> {
        let harts = self.harts.iter().filter(|hart| cores.contains(&hart.core.id));
        let open = harts.flat_map(|hart| hart.combining.iter().filter(|open| !open.sent));
        open.map(|open| open.line).filter(|line| line.is_persistent()).collect()
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

    /// Other hosts write back what they have of a line. Fails until the device has accepted it.
    pub(super) fn recall(&mut self, core: CoreId, line: Line, access: Access, at: u64) -> Result<(), Blocked> {
        let host = self.hw.host_of(core);
        let brings = |directory: &&Directory| line.is_persistent() && directory.brings == Brings::Writer;
        let Some(directory) = self.hw.directory.as_ref().filter(brings) else {
            return Ok(());
        };
        if let Some(until) = directory.waits_behind(host, line, at) {
            return Err(Blocked::Filling(until));
        }
        let is_owned = directory.holders(line).owned;
        // Nobody sees what a host combines before it is sent.
        self.hw.send_combined_of_others(host, line, at.max(self.hw.now()));
        if is_owned {
            self.asks_owner(core, line, access, at);
        }
        let arrives = self.hw.writes.arrival_of_others(host, line);
        let Some(arrives) = arrives.filter(|_| !broken(Rule::AnswersBehindWriteBack)) else {
            return Ok(());
        };
        let again = arrives.max(at + LOOKS_AGAIN);
        if let Some(directory) = &mut self.hw.directory {
            let holders = directory.lines.entry(line).or_default();
            holders.awaits = Some((host, again + LOOKS_AGAIN));
        }
        Err(Blocked::Filling(again))
    }

    /// The host that may have written a line brings that to the device, once the device has asked.
    fn asks_owner(&mut self, core: CoreId, line: Line, access: Access, at: u64) {
        let asked = at.max(self.hw.now()) + self.hw.machine.cxl.way().0;
        let takes = access == Access::Own && !broken(Rule::OwnerTakesCopies);
        for (owner, sharers) in self.hw.other_holders(core, line) {
            let from = self.hw.cores_of(owner).next();
            if let (true, Some(from)) = (self.gives_up(owner, line, sharers, takes), from) {
                self.write_back(from, line, asked);
                if let Some(directory) = &mut self.hw.directory {
                    directory.lines.entry(line).or_default().owned = false;
                }
            }
        }
    }

    /// Asks the other hosts for a line, by way of the device.
    pub(super) fn ask_hosts(&mut self, core: CoreId, line: Line, access: Access, here: bool) -> FromHosts {
        let Some(directory) = self.hw.directory.as_ref().filter(|_| line.is_persistent()) else {
            return FromHosts::default();
        };
        let (host, way) = (self.hw.host_of(core), self.hw.machine.cxl.way().0);
        let holders = directory.holders(line);
        let is_owner = directory.is_owner(host, line);
        debug_assert!(
            !here || holders.hosts & Holders::bit(host) != 0 || any_broken(),
            "{host:?} has {line:?}"
        );
        if here && (access == Access::Read || is_owner) {
            return FromHosts::default();
        }
        let (brings, mut dirty) = (directory.brings, false);
        let asked = self.hw.other_holders(core, line);
        let must_ask = !asked.is_empty() && (access == Access::Own || holders.owned);
        let tells = must_ask && !broken(Rule::OwnerTakesCopies);
        for (other, sharers) in asked.iter().filter(|_| tells) {
            if self.gives_up(*other, line, *sharers, access == Access::Own) {
                match brings {
                    Brings::Asker => dirty = true,
                    Brings::Writer => self.hands_back(*other, line),
                }
            }
        }
        if brings == Brings::Asker {
            // The answer comes behind what hosts have written of the line.
            self.hw.writes.make_certain(line);
        }
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

    /// A flush looks for a line in the other hosts: whether what one has written of it is the flush's to bring to the device, and
    /// the cycles that it takes.
    pub(super) fn flush_in_hosts(&mut self, core: CoreId, line: Line, kind: Flush) -> (bool, u64) {
        let asked = self.hw.other_holders(core, line);
        let brings = self.hw.directory.as_ref().map(|directory| directory.brings);
        let Some(brings) = brings.filter(|_| !asked.is_empty()) else {
            return (false, 0);
        };
        let way = self.hw.machine.cxl.way().0;
        let (reached, mut dirty) = (self.hw.now() + way, false);
        for (host, sharers) in asked {
            let found = self.gives_up(host, line, sharers, kind != Flush::Clwb);
            let from = self.hw.cores_of(host).next();
            match from.filter(|_| found && brings == Brings::Writer) {
                Some(from) => self.write_back(from, line, reached),
                None => dirty |= found,
            }
        }
        (dirty, 4 * way)
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
