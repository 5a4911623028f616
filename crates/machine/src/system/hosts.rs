//! Hosts: what each of those that share persistent memory has of its own, and the way from it to the device.
//!
//! Nothing keeps the copies of hosts alike. A host sees a line as its caches hold it, from when they were filled until the
//! line is written back, flushed or evicted. The device holds what its controllers have accepted.

use super::events::Event;
use super::hardware::{Hardware, ProgramState};
use super::running::Running;
use crate::cache::Llc;
use crate::config::{HostCoherence, MachineConfig};
use crate::memory::Dram;
use crate::timeline::Trip;
use std::rc::Rc;
use strandline_design::{ByteMask, Hook, WriteId};
use strandline_isa::{CoreId, Line, LineData, Memory};
use strandline_kernel::{Calendar, Cycles};
use strandline_rules::{broken, Rule};

/// Which of the hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostId(pub u8);

impl HostId {
    /// Its place among the hosts, from 0.
    #[must_use]
    pub fn index(self) -> usize {
        self.0.into()
    }
}

/// A host, but for its cores.
pub struct Host {
    /// Volatile memory, and persistent memory as this host's cores see it.
    pub memory: Rc<Memory>,
    pub llc: Llc,
    pub dram: Dram,
    link: Link,
    /// When it failed, if it has.
    pub failed: Option<u64>,
}

/// A host's link to the device.
struct Link {
    out: Calendar,
    back: Calendar,
    /// A line occupies a direction of it.
    line: Cycles,
    way: u64,
    /// When the reads that hold its credits are done, a ring; empty without a limit.
    credits: Vec<u64>,
    next_credit: usize,
}

impl Link {
    fn new(machine: &MachineConfig) -> Link {
        Link {
            out: Calendar::default(),
            back: Calendar::default(),
            line: machine.cxl.line_cycles(&machine.core),
            way: machine.cxl.way().0,
            credits: vec![0; machine.cxl.credits as usize],
            next_credit: 0,
        }
    }

    /// When a read that is wanted at `at` leaves the host.
    fn reads_from(&self, at: u64) -> u64 {
        self.credits.get(self.next_credit).map_or(at, |free| at.max(*free))
    }

    /// When a read whose data leaves for the host at `at`, and has this way, is back.
    fn read_back(&mut self, at: u64, way: u64) -> u64 {
        let done = Link::crossed(&mut self.back, self.line, at) + way;
        if let Some(credit) = self.credits.get_mut(self.next_credit) {
            *credit = done;
            self.next_credit = (self.next_credit + 1) % self.credits.len();
        }
        done
    }

    fn crossed(direction: &mut Calendar, line: Cycles, at: u64) -> u64 {
        match line.0 {
            0 => at,
            _ => direction.book(Cycles(at), line).0,
        }
    }
}

impl Host {
    fn new(machine: &MachineConfig, memory: Rc<Memory>) -> Host {
        Host {
            memory,
            llc: Llc::new(&machine.llc),
            dram: Dram::new(&machine.dram, &machine.core),
            link: Link::new(machine),
            failed: None,
        }
    }

    /// The hosts of a machine around `memory`, each with its copy unless the copies are kept alike; and what the device holds,
    /// where several share it.
    pub fn all(machine: &MachineConfig, memory: Memory) -> (Vec<Host>, Option<Memory>) {
        let device = (machine.hosts > 1).then(|| memory.persistent_half());
        let first = Rc::new(memory);
        let copy = |_| match machine.cxl.coherence {
            HostCoherence::None => Rc::new(Memory::clone(&first)),
            HostCoherence::Hardware => first.clone(),
        };
        let others: Vec<Rc<Memory>> = (1..machine.hosts).map(copy).collect();
        let all = std::iter::once(first).chain(others);
        (all.map(|memory| Host::new(machine, memory)).collect(), device)
    }

    /// The host of each of so many cores, if it is not chosen.
    pub fn of_cores(machine: &MachineConfig, cores: usize) -> Vec<HostId> {
        let of = |core| HostId((core * machine.hosts / cores as u64) as u8);
        (0..cores as u64).map(of).collect()
    }
}

impl Hardware {
    /// The host of a core.
    #[inline(always)]
    pub fn host_of(&self, core: CoreId) -> HostId {
        self.harts[core.index()].host
    }

    /// The LLC of a core's host.
    #[inline(always)]
    pub fn llc(&self, core: CoreId) -> &Llc {
        &self.hosts[self.host_of(core).index()].llc
    }

    /// As [`Hardware::llc`].
    #[inline(always)]
    pub fn llc_mut(&mut self, core: CoreId) -> &mut Llc {
        let host = self.host_of(core);
        &mut self.hosts[host.index()].llc
    }

    /// Memory as the cores of a core's host see it.
    #[inline(always)]
    pub fn seen(&self, core: CoreId) -> &Memory {
        &self.hosts[self.host_of(core).index()].memory
    }

    /// Memory as all cores see it: those of a machine with one host.
    pub fn seen_by_all(&self) -> &Memory {
        debug_assert!(
            self.device.is_none() || self.directory.is_some(),
            "each host sees its own"
        );
        &self.hosts[0].memory
    }

    /// A write to the volatile memory of a core's host; nothing waits for it.
    pub fn write_volatile(&mut self, core: CoreId, at: u64) {
        let host = self.host_of(core);
        self.hosts[host.index()].dram.write(at);
    }

    /// A read of a line from memory that leaves the host's LLC at `at`. Returns when the data is back there.
    pub fn read_memory(&mut self, host: HostId, line: Line, at: u64) -> u64 {
        let Host { dram, link, .. } = &mut self.hosts[host.index()];
        if !line.is_persistent() {
            return dram.read(at);
        }
        let arrives = link.reads_from(at) + link.way;
        self.tally.pm_reads += 1;
        let controller = self.controller_of(line);
        let read = self.controllers[controller.0 as usize].media.read(line, arrives);
        let link = &mut self.hosts[host.index()].link;
        let done = link.read_back(read, link.way);
        self.record(|recorder, _| {
            let trip = Trip {
                host: host.0,
                line,
                controller: controller.0,
                asked: at,
                device: Some(arrives),
                ready: read,
                way: self.machine.cxl.way().0,
                arrives: done,
            };
            recorder.read_crosses(trip, &self.machine);
        });
        done
    }

    /// As [`Hardware::read_memory`], of a line that is found after this much of the way.
    pub fn read_on_way(&mut self, host: HostId, line: Line, way: u64, at: u64) -> u64 {
        let link = &mut self.hosts[host.index()].link;
        let ready = link.reads_from(at) + way;
        let arrives = link.read_back(ready, way);
        self.record(|recorder, _| {
            let trip = Trip {
                host: host.0,
                line,
                controller: self.controller_of(line).0,
                asked: at,
                device: None,
                ready,
                way,
                arrives,
            };
            recorder.read_crosses(trip, &self.machine);
        });
        arrives
    }

    /// When a line that leaves a host at `at` has crossed its link and the switch.
    #[inline]
    pub fn crosses(&mut self, host: HostId, at: u64) -> u64 {
        let way = self.hosts[host.index()].link.way;
        self.leaves(host, at) + way
    }

    /// When a line that is to leave a host at `at` is on its link.
    #[inline]
    pub fn leaves(&mut self, host: HostId, at: u64) -> u64 {
        let link = &mut self.hosts[host.index()].link;
        Link::crossed(&mut link.out, link.line, at)
    }

    /// A host's caches are filled with the line, as the device holds it, or bytes on the way to it do, or the host's own write.
    pub fn refill(&mut self, host: HostId, line: Line, on_way: Option<(LineData, ByteMask)>) {
        let keeps = broken(Rule::FillsFromDevice);
        let keeps = keeps || self.directory.is_some() || !line.is_persistent();
        let Some(device) = self.device.as_ref().filter(|_| !keeps) else {
            return;
        };
        let (mut data, seen) = (device.line(line), self.hosts[host.index()].memory.line(line));
        if let Some((found, bytes)) = on_way {
            bytes.copy(&found, &mut data);
        }
        if !broken(Rule::ReadBehindOwnWrite) {
            self.writes.lay_over(Some(host), line, &mut data);
        }
        let harts = self.harts.iter().filter(|hart| hart.host == host);
        let open = harts
            .flat_map(|hart| &hart.combining)
            .filter(|open| open.line == line && !open.sent);
        open.for_each(|open| ByteMask(open.mask).copy(&seen, &mut data));
        self.hosts[host.index()].memory.set_line(line, &data);
    }

    /// A core's host has a line no longer.
    pub fn forget_line(&mut self, core: CoreId, line: Line) {
        let host = self.host_of(core);
        if let Some(directory) = &mut self.directory {
            directory.leaves(host, line);
        }
    }

    /// The cores of a host.
    pub fn cores_of(&self, host: HostId) -> impl Iterator<Item = CoreId> + '_ {
        let of_host = self.harts.iter().filter(move |hart| hart.host == host);
        of_host.map(|hart| hart.core.id)
    }

    /// Whether a core's host has failed.
    #[inline(always)]
    pub fn has_failed(&self, core: CoreId) -> bool {
        self.device.is_some() && self.hosts[self.host_of(core).index()].failed.is_some()
    }

    /// The bytes of a write that is combined from these, as its line is sent. Others of it may be stale where several hosts
    /// share memory and nothing keeps their copies alike.
    pub fn combined(&self, mask: u64) -> ByteMask {
        match self.device {
            Some(_) if self.directory.is_none() && !broken(Rule::CombinedSendsOwnBytes) => ByteMask(mask),
            _ => ByteMask::ALL,
        }
    }
}

impl Running {
    /// A host fails: its cores stop, and what its caches and buffers hold is lost. What has left it for the device
    /// arrives. The other hosts go on, and are told later.
    pub(super) fn host_fails(&mut self, host: HostId) {
        let now = self.hw.now();
        if self.hw.hosts[host.index()].failed.replace(now).is_some() {
            return;
        }
        self.hw.record(|recorder, at| recorder.host_fails(host.0, at));
        let way = self.hw.way_of_writes();
        let mut lost = self.hw.writes.lose(host, now + way);
        let cores: Vec<CoreId> = self.hw.cores_of(host).collect();
        lost.extend(self.hw.combined_lines(&cores));
        for core in &cores {
            self.wake(*core);
            self.stop_core(*core);
        }
        lost.extend(self.hw.waiters.lose(|core| cores.contains(&core)));
        if self.hw.directory.is_some() {
            lost.extend(self.hw.dirty_lines(host, &cores));
            // What reserve power saves of it all see as before.
            if self.durable_from.has_visible() && !broken(Rule::FailedHostIsSaved) {
                lost.clear();
            }
            self.hw.return_to_device(host, lost);
        }
        // Those that wait for what the failed host was to do.
        let askers = self.hw.waiters.wake_askers();
        self.go_on(&askers);
        self.hw
            .post(now + self.hw.machine.cxl.detection.0, Event::HostsTold(host));
        self.maybe_start();
        self.maybe_end();
    }

    /// A core executes nothing from now on, and forgets what it had begun.
    fn stop_core(&mut self, core: CoreId) {
        let now = self.hw.now();
        self.programs[core.index()] = None;
        self.factories[core.index()] = None;
        self.hw.waiters.forget_core(core, 0);
        let hart = self.hw.hart(core);
        hart.state = ProgramState::Ended;
        hart.core.queue.borrow_mut().remove_younger(0, now);
        hart.core.kept.borrow_mut().clear();
        hart.core.drain.next.set(u64::MAX);
        hart.core.turn.next_op.set(u64::MAX);
        (hart.buffer, hart.combining) = (Vec::new(), Vec::new());
    }

    /// The hosts that live learn that another has failed.
    pub(super) fn hosts_told(&mut self, failed: HostId) {
        self.hw.record(|recorder, at| recorder.hosts_told(failed.0, at));
        let cores = self.hw.cores_of(failed).fold(0, |all, core| all | 1 << core.index());
        for index in 0..self.hw.harts.len() {
            let core = CoreId(index as u16);
            if !self.hw.has_failed(core) {
                self.wake(core);
                let known = &self.hw.core(core).failed;
                known.set(known.get() | cores);
            }
        }
    }

    /// The device accepts a write, which all hosts read from now on.
    pub(super) fn device_accepts(&mut self, write: WriteId) {
        let request = *self.hw.writes.get(write);
        if let Some(device) = &self.hw.device {
            let mut data = device.line(request.line);
            request.bytes.copy(&request.data, &mut data);
            device.set_line(request.line, &data);
        }
    }

    /// Whether a write that would arrive now had not left its host when that failed. It is then forgotten, and the design
    /// told that nothing of it is on its way.
    pub(super) fn is_lost(&mut self, write: WriteId) -> bool {
        let lost = self.hw.writes.is_lost(write);
        if lost {
            self.hw.record(move |recorder, _| recorder.refused(write));
            self.hw.writes.accept(write);
            let request = *self.hw.writes.get(write);
            self.hw.writes.remove(write);
            if self.hw.asks(Hook::ReachedMedia) {
                let controller = self.hw.controller_of(request.line);
                self.design.reached_media(&mut self.hw, controller, &request);
            }
        }
        lost
    }
}
