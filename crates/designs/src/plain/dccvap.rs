//! ARM's `dc cvap`: a flush is done when its line is durable.
//!
//! What: with ADR a line is durable when a write queue has accepted it, and the design is `x86`. Without ADR it is
//! durable on the media. A fence (`sfence` and `mfence` stand for a `dsb`) and, where they order flushes, a locked
//! instruction wait for the lines that their own core has flushed or stored to non-temporally. So there is no
//! `pcommit`, and unlike one they do not wait for other cores' writes.
//! Source: Delegated Persist Ordering (MICRO 2016), section II-C.
//! Simplified: whether a line is durable is asked by what waits for it, not by the flush. So the flush frees its entry
//! of the write-back buffer when its write is accepted, as on x86. A line that another core has written since is
//! waited for once more. Without ADR a fence takes an entry of the store queue.

use crate::parts::per_core;
use crate::plain::rules::Rule;
use std::collections::BTreeSet;
use strandline_design::{
    About, Admission, ControllerId, Departure, Design, Hook, Hosts, Needs, Never, Ordering, Services, StoreId, Types,
    Until, Write, WriteKind, WriteRequest,
};
use strandline_isa::{CoreId, Flush, Line, Lowering, Plain, Primitive};
use strandline_rules::broken;

/// Flushes to the point of persistency.
#[derive(Clone, Debug, Default)]
pub struct Dccvap {
    cores: Vec<Core>,
}

/// What a core has sent, on machines without ADR.
#[derive(Clone, Debug, Default)]
struct Core {
    /// Lines flushed or stored to non-temporally since the last fence.
    lines: BTreeSet<Line>,
    /// The line of a `clflush`, which stores behind it wait for.
    clflush: Option<Line>,
    /// The context of the fence that waits.
    fence: Option<u8>,
    /// Whether a store or locked instruction waits.
    waits: bool,
    /// Whether the locked instruction in question orders flushes.
    locked_orders: bool,
}

/// Opens when a line that the core waits for has reached the media.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gate(CoreId);

/// The types of `dc cvap`.
#[derive(Clone, Copy, Debug)]
pub struct Own;

impl Types for Own {
    type Gate = Gate;
    type Message = Never;
    type Tag = Never;
    type Note = Never;
}

impl Core {
    /// Whether the stores behind a `clflush` wait.
    fn awaits_clflush(&mut self, hw: &dyn Services<Own>) -> bool {
        self.clflush = self.clflush.filter(|line| hw.on_its_way(*line));
        self.clflush.is_some() && !broken(Rule::ClflushDurable)
    }

    /// Whether everything that the core has sent is durable. All of it has left the core.
    fn is_durable(&mut self, hw: &dyn Services<Own>) -> bool {
        self.lines.retain(|line| hw.on_its_way(*line));
        self.lines.is_empty()
    }

    fn wait(&mut self, core: CoreId) -> Departure<Gate> {
        self.waits = true;
        Departure::Wait(Until::Open(Gate(core)))
    }
}

impl Dccvap {
    fn core(&mut self, core: CoreId) -> &mut Core {
        per_core::state(&mut self.cores, core, |_| Core::default())
    }
}

/// Whether it waits for flushes.
fn is_fence(primitive: Primitive) -> bool {
    matches!(primitive.plain(), Plain::Sfence | Plain::Mfence)
}

impl Design for Dccvap {
    type Own = Own;

    fn about(&self) -> About {
        About {
            name: "dccvap",
            paper: "Delegated Persist Ordering II-C",
            summary: "dc cvap of ARM 8.2: a flush is done when its line is durable, with or without ADR",
            needs: Needs {
                hosts: Hosts::Any,
                ..Needs::default()
            },
            promises_recovery: true,
            model: "px86",
            intents: Some("intents"),
            window: None,
        }
    }

    fn lowering(&self) -> Lowering {
        Lowering::clwb_and(&[Primitive::Sfence])
    }

    fn primitive(&mut self, hw: &mut dyn Services<Own>, _: CoreId, primitive: Primitive) -> Admission<Gate> {
        if hw.adr() {
            hw.skip(Hook::Primitive);
        } else if is_fence(primitive) {
            return Admission::EnterHeld {
                until: Until::Drained(None),
                loads: primitive.plain() == Plain::Mfence,
            };
        }
        Admission::plain(primitive)
    }

    fn departs(&mut self, hw: &mut dyn Services<Own>, id: CoreId, ordering: Ordering, context: u8) -> Departure<Gate> {
        if hw.adr() {
            return Departure::Go;
        }
        let core = self.core(id);
        match ordering {
            Ordering::Flush(_, Flush::Clflush) if core.awaits_clflush(hw) => return core.wait(id),
            Ordering::Flush(line, kind) if line.is_persistent() => {
                if !broken(Rule::QueuedLineAwaited) || !hw.on_its_way(line) {
                    core.lines.insert(line);
                }
                core.clflush = (kind == Flush::Clflush).then_some(line).or(core.clflush);
            }
            Ordering::Primitive(primitive) if is_fence(primitive) && !core.is_durable(hw) => {
                core.fence = Some(context);
                return Departure::Keep;
            }
            _ => {}
        }
        Departure::Go
    }

    fn keep(&mut self, hw: &mut dyn Services<Own>, id: CoreId, write: Write, _: StoreId) -> Departure<Gate> {
        if hw.adr() {
            hw.skip(Hook::Keep);
            return Departure::Go;
        }
        let core = self.core(id);
        if core.awaits_clflush(hw) {
            return core.wait(id);
        }
        let persists = write.kind == WriteKind::NonTemporal && !broken(Rule::NonTemporalDurable);
        core.lines.extend(write.persistent_line().filter(|_| persists));
        Departure::Go
    }

    fn locked_waits_for(&mut self, core: CoreId) -> Option<Until<Gate>> {
        self.core(core).locked_orders = !broken(Rule::LockedAwaitsDurable);
        Some(Until::Drained(None))
    }

    fn store(&mut self, hw: &mut dyn Services<Own>, id: CoreId, write: Write) -> Departure<Gate> {
        if hw.adr() {
            hw.skip(Hook::Store);
            return Departure::Go;
        }
        let core = self.core(id);
        if write.kind != WriteKind::Locked {
            return Departure::Go;
        }
        let orders = std::mem::take(&mut core.locked_orders);
        if core.awaits_clflush(hw) || orders && !core.is_durable(hw) {
            return core.wait(id);
        }
        Departure::Go
    }

    fn reached_media(&mut self, hw: &mut dyn Services<Own>, _: ControllerId, write: &WriteRequest<Never>) {
        for (index, core) in self.cores.iter_mut().enumerate() {
            let id = CoreId(index as u16);
            if !core.lines.contains(&write.line) && core.clflush != Some(write.line) {
                continue;
            }
            if core.fence.is_some() && core.is_durable(hw) {
                hw.acknowledge(id, core.fence.take().unwrap_or_default());
            }
            if std::mem::take(&mut core.waits) {
                hw.open(Gate(id));
            }
        }
    }

    fn waits(&self) -> Vec<String> {
        let mut waits = Vec::new();
        for (core, of) in self.cores.iter().enumerate() {
            if of.fence.is_some() || of.waits {
                waits.push(format!(
                    "core {core} waits until {} flushed lines are durable",
                    of.lines.len()
                ));
            }
        }
        waits
    }
}
