//! Designs whose persist buffer stands on the way from the hosts to the media: in a switch, or in the device before its write
//! queues. What the buffer has taken is durable. It is sent on in the background.
//!
//! Cores and caches are those of `x86`, and so are the promises: a flush is acknowledged once the buffer has its line, and an
//! `sfence` waits for that. Persists of a line follow its coherence order, because writes of a line come in that order and
//! leave in it. So the model is `px86`, and `cxl-today` where several hosts have no directory.

mod buffers;
mod device_buffer;
mod dpd;
mod pcs;
pub(crate) mod rules;

pub use device_buffer::device_buffer;
pub use dpd::dpd;
pub use pcs::pcs;

use buffers::{Buffers, Entry};
use rules::Rule;
use strandline_design::{
    About, Access, ByteMask, Counter, Counters, Design, Drains, Held, Hosts, Needs, Never, OwnCounts, Passing, Place,
    PortId, Services, Sizes, Supply, Types, Until, Wants, WriteRequest,
};
use strandline_isa::{CoreId, Line, LineData, Lowering, Primitive, LINE_BYTES};
use strandline_kernel::{Cycles, Param, Params};
use strandline_rules::{breaks, broken, keeps, kept};

/// How a design of the family differs from the others.
#[derive(Clone, Copy, Debug)]
struct Kind {
    about: About,
    params: &'static [Param],
    place: Place,
    /// The name of the structure.
    buffer: &'static str,
    /// Whose buffers there are.
    buffers: Of,
    /// Whether a write adds its bytes to an entry of its line that has not been sent.
    coalesces: bool,
}

/// Whose buffers there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    /// One for all ports.
    All,
    /// One for each host, that is for each port of the switch.
    Hosts,
    /// One for each controller, that is for each port of the device.
    Controllers,
}

/// A persist buffer on the way.
#[derive(Clone, Debug)]
pub struct Kept {
    kind: Kind,
    entries: usize,
    /// Entries that wait for more bytes of their lines.
    keep: usize,
    forwards: bool,
    buffers: Buffers,
    next: u64,
    coalesced: u64,
    forwarded: u64,
}

/// Opens when the device has accepted bytes of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Accepted(Line);

/// What has been sent on: a port's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    port: usize,
    id: u64,
}

/// The types of these designs.
#[derive(Clone, Copy, Debug)]
pub struct Own;

impl Types for Own {
    type Gate = Accepted;
    type Message = Never;
    type Tag = Sent;
    type Note = Never;
}

/// Each of them says itself what it is.
const SAID: &str = "";

/// What is the same of all.
const ABOUT: About = About {
    name: SAID,
    paper: SAID,
    summary: SAID,
    needs: Needs {
        adr: true,
        stores: Drains::Any,
        hosts: Hosts::Apart("a directory brings lines of hosts to the device past what is on its way"),
    },
    promises_recovery: true,
    model: "px86",
    intents: Some("intents"),
    window: None,
};

const COUNTERS: &[Counter] = &[
    Counter::sum(
        "way_coalesced",
        "writes",
        "Writes that have added their bytes to an entry of a buffer on the way to memory.",
    ),
    Counter::sum(
        "way_reads",
        "reads",
        "Reads of lines that a buffer on the way to memory held.",
    ),
];

/// `--set design.forward=0|1`.
const FORWARD: Param = Param {
    name: "forward",
    default: 1,
    min: 0,
    max: 1,
    help: "whether the buffer answers reads of its lines; otherwise they wait until the device has them",
    source: "arXiv 2503.04991, arXiv 2606.07159: with and without read forwarding",
    words: &[],
};

/// `--set design.entries=N`.
const fn entries(default: u64, help: &'static str) -> Param {
    Param {
        name: "entries",
        default,
        min: 1,
        max: 4096,
        help,
        source: "assumed",
        words: &[],
    }
}

impl Kept {
    fn new(kind: Kind) -> Kept {
        let default = |name: &str| {
            kind.params
                .iter()
                .find(|param| param.name == name)
                .map(|param| param.default)
        };
        Kept {
            kind,
            entries: default("entries").unwrap_or(1) as usize,
            keep: default("keep").unwrap_or(0) as usize,
            forwards: default("forward") != Some(0),
            buffers: Buffers::default(),
            next: 0,
            coalesced: 0,
            forwarded: 0,
        }
    }

    fn index(&self, port: PortId) -> usize {
        match self.kind.buffers {
            Of::All => 0,
            Of::Hosts | Of::Controllers => port.0.into(),
        }
    }

    /// The line as it is once these bytes are durable: over those of its newest entry, or of the device.
    fn whole(&self, hw: &dyn Services<Own>, write: &WriteRequest<Sent>) -> LineData {
        if write.bytes.is_all() {
            return write.data;
        }
        let newest = self.buffers.of_line(write.line).last().map(|entry| entry.data);
        let mut data = newest.unwrap_or_else(|| hw.durable_line(write.line));
        write.bytes.copy(&write.data, &mut data);
        data
    }

    /// Coalesces a write with the entry of its line, which comes along from another port's buffer; whether it has.
    fn coalesces(&mut self, now: Cycles, port: usize, write: (Line, &LineData, ByteMask)) -> bool {
        let (line, data, bytes) = write;
        if !self.kind.coalesces {
            return false;
        }
        let is_here = self.buffers.port(port).coalesce(line, (data, bytes));
        let may_move = !is_here && self.buffers.port(port).len() < self.entries && !broken(Rule::OneEntryOfALine);
        let moved = if may_move {
            self.buffers.take_unsent(line, now)
        } else {
            None
        };
        if let Some(entry) = moved {
            let buffer = self.buffers.port(port);
            buffer.push(entry, now);
            buffer.coalesce(line, (data, bytes));
        }
        let has = is_here || moved.is_some();
        self.coalesced += u64::from(has);
        has
    }

    /// Sends on what is to be sent.
    fn drain(&mut self, hw: &mut dyn Services<Own>) {
        for port in 0..self.buffers.ports() {
            while let Some(entry) = self.buffers.next(port, self.keep.min(self.entries - 1)) {
                let tag = Sent { port, id: entry.id };
                hw.send_on(entry.core, entry.line, entry.data, entry.bytes, tag);
                breaks(Rule::EntryUntilAccepted, || {
                    _ = self.buffers.port(port).remove(entry.id, hw.now());
                });
            }
        }
    }

    /// The bytes that the buffers have of a line.
    fn held(&self, line: Line) -> Option<(LineData, ByteMask)> {
        let entries = self.buffers.of_line(line);
        let newest = entries.last()?;
        let found = kept(Rule::ForwardsNewest, newest, || &entries[0]);
        let bytes = entries.iter().fold(0, |all, entry| all | entry.bytes.0);
        Some((found.data, ByteMask(bytes)))
    }

    fn count(&self, machine: &Sizes) -> u64 {
        let buffers = match self.kind.buffers {
            Of::All => 1,
            Of::Hosts => machine.hosts,
            Of::Controllers => machine.controllers,
        };
        buffers * self.entries as u64
    }
}

impl Design for Kept {
    type Own = Own;

    fn about(&self) -> About {
        self.kind.about
    }

    fn wants(&self) -> Wants {
        Wants {
            saves: Some(self.kind.place),
            stop: Some(self.kind.place),
            ..Wants::default()
        }
    }

    fn params(&self) -> &'static [Param] {
        self.kind.params
    }

    fn set(&mut self, params: &Params) {
        let has = |name: &str| self.kind.params.iter().any(|param| param.name == name);
        self.entries = params.get("entries") as usize;
        self.keep = if has("keep") { params.get("keep") as usize } else { 0 };
        self.forwards = params.get("forward") != 0;
    }

    /// An entry has a line, a bit for each of its bytes, its number and whether it is sent. Physical addresses have 48 bits.
    fn storage(&self, machine: &Sizes) -> Vec<(&'static str, u64)> {
        let bits = 8 * LINE_BYTES + LINE_BYTES + 42 + 1;
        vec![(self.kind.buffer, (self.count(machine) * bits).div_ceil(8))]
    }

    fn buffers(&self, machine: &Sizes) -> Vec<Held> {
        vec![Held {
            name: self.kind.buffer,
            place: self.kind.place,
            bytes: self.count(machine) * LINE_BYTES,
        }]
    }

    fn lowering(&self) -> Lowering {
        Lowering::clwb_and(&[Primitive::Sfence])
    }

    fn passes(&mut self, hw: &mut dyn Services<Own>, port: PortId, write: &WriteRequest<Sent>) -> Passing {
        let (port, now) = (self.index(port), hw.now());
        let data = self.whole(hw, write);
        if !self.coalesces(now, port, (write.line, &data, write.bytes)) {
            if self.buffers.port(port).len() >= self.entries {
                return Passing::Wait;
            }
            self.next += 1;
            let core = write.core.unwrap_or(CoreId(0));
            let entry = Entry::new(self.next, core, write.line, (data, write.bytes));
            self.buffers.port(port).push(entry, now);
        }
        hw.crash_state_changed();
        self.drain(hw);
        Passing::Take
    }

    fn acknowledged(&mut self, hw: &mut dyn Services<Own>, _: CoreId, sent: Sent) {
        let gone = self.buffers.port(sent.port).remove(sent.id, hw.now());
        if let Some(entry) = gone {
            hw.crash_state_changed();
            hw.open(Accepted(entry.line));
        }
        self.drain(hw);
        hw.look_at_stop();
    }

    fn missed(&mut self, hw: &mut dyn Services<Own>, _: CoreId, line: Line, _: Access) -> Supply<Accepted> {
        let Some((data, bytes)) = self.held(line).filter(|_| !broken(Rule::ReadAsksBuffer)) else {
            return Supply::Memory;
        };
        self.forwarded += 1;
        if self.forwards {
            return Supply::Stop(data, bytes);
        }
        self.buffers.want(line);
        self.drain(hw);
        Supply::Wait(Until::Open(Accepted(line)))
    }

    fn own_counters(&self) -> &'static [Counter] {
        COUNTERS
    }

    fn counters(&self, now: Cycles) -> Counters {
        Counters {
            buffer_occupancy: Some(self.buffers.occupancy(now)),
            own: OwnCounts(COUNTERS.iter().copied().zip([self.coalesced, self.forwarded]).collect()),
            ..Counters::default()
        }
    }

    fn power_fails(&self, image: &mut dyn FnMut(Line, LineData)) {
        keeps(Rule::BufferIsSaved, || {
            // A line that is named twice would pass through older bytes again.
            for entry in self.buffers.newest() {
                image(entry.line, entry.data);
            }
        });
    }
}
