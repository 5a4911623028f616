//! Records a run from outside. No answer of the machine depends on it.

use super::causes::Causes;
use super::rows::{Count, Crossing, HostFailure, InstructionKind, Miss, Source, Speculation, TimelineOp, Wait, Write};
use super::tasks::spans;
use super::waits::{Who, Why};
use super::writes::Banks;
use super::{Detail, Lane, LaneMark, Table, Timeline};
use crate::core::Noted;
use crate::trace::{TraceOp, UNTRACED};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use strandline_design::{Checkpoint, Counters, Key, WriteId};
use strandline_isa::{Addr, CoreId, Line, Primitive};

/// Records a run.
pub struct Recorder {
    lanes: Vec<Rc<Lane>>,
    most: usize,
    pub(super) state: RefCell<State>,
}

/// What happens now: what ends a wait, or raises a counter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Actor {
    pub op: Option<u32>,
    pub write: Option<u32>,
}

/// How far a core had come.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpMark {
    ops: usize,
    lane: LaneMark,
}

#[derive(Default)]
pub(super) struct State {
    pub started: Option<u64>,
    /// Tasks that each core had ended when the timed region did, if that was before the run's end: nothing counts
    /// from then on.
    pub over: Option<Vec<u64>>,
    /// When recording stopped, for there was too much.
    pub stopped: Option<u64>,
    /// Tasks that each core had ended then.
    pub ended: Vec<u64>,
    pub ops: Vec<TimelineOp>,
    /// The bytes that each operation stores.
    pub values: Vec<u64>,
    /// Each core's latest operation, and its fence that is held.
    pub latest: BTreeMap<CoreId, u32>,
    pub held: BTreeMap<CoreId, u32>,
    pub writes: Vec<Write>,
    /// The row of each write in flight.
    pub rows: BTreeMap<WriteId, u32>,
    pub waits: Vec<Wait>,
    /// The latest wait of each.
    pub open: BTreeMap<Who, usize>,
    pub actor: Actor,
    /// What sent each of the design's messages.
    pub messages: BTreeMap<Key, Actor>,
    /// What private caches lacked, and who has the line that is asked for now.
    pub misses: Vec<Miss>,
    pub source: Source,
    /// What keeps the media busy.
    pub banks: Banks,
    /// Flushes that have not been sent, oldest first.
    pub flushes: BTreeMap<(CoreId, Line), VecDeque<u32>>,
    /// Flushes in write-back buffers, and those that the design has sent.
    pub slots: BTreeMap<(CoreId, u64), u32>,
    pub tags: BTreeMap<(CoreId, Key), u32>,
    /// Visible stores that no write has carried, oldest first.
    pub uncarried: BTreeMap<Line, Vec<u32>>,
    pub counts: Vec<Count>,
    pub counted: Counters,
    pub speculations: Vec<Speculation>,
    pub checkpoints: BTreeMap<(CoreId, Checkpoint), usize>,
    pub reads: Vec<u64>,
    pub crossings: Vec<Crossing>,
    pub failures: Vec<HostFailure>,
}

impl Recorder {
    /// For a machine of `cores` cores.
    pub fn new(cores: usize, detail: Detail) -> Recorder {
        Recorder {
            lanes: (0..cores).map(|core| Rc::new(Lane::new(core as u16, detail))).collect(),
            most: detail.most,
            state: RefCell::default(),
        }
    }

    /// The recorder of a core's window.
    pub fn lane(&self, core: CoreId) -> &Rc<Lane> {
        &self.lanes[core.index()]
    }

    /// The timed region begins. `ended`: the tasks that each core had ended.
    pub fn start(&self, at: u64, ended: Vec<u64>) {
        let state = &mut *self.state.borrow_mut();
        (state.started, state.ended) = (Some(at), ended);
        state.reads.clear();
        state.counts.clear();
        self.lanes.iter().for_each(|lane| lane.start(at));
    }

    /// What the design had counted when the timed region began.
    pub fn start_counts(&self, counters: &Counters) {
        let state = &mut *self.state.borrow_mut();
        state.counts.clear();
        state.counted = counters.clone();
    }

    /// The timed region ends before the run: what begins from now on is not recorded. `ended`: the tasks that each core
    /// has ended.
    pub fn end(&self, ended: Vec<u64>) {
        self.state.borrow_mut().over = Some(ended);
        self.lanes.iter().for_each(|lane| lane.stops());
    }

    /// An operation of a core enters its store queue, or executes: its number.
    pub fn enter(&self, core: CoreId, op: &TraceOp, dispatched: u64, context: u8) -> u32 {
        let state = &mut *self.state.borrow_mut();
        if state.ops.len() >= self.most && !state.is_closed() {
            state.stopped = Some(dispatched);
            self.lanes.iter().for_each(|lane| lane.stops());
        }
        if state.is_closed() {
            return UNTRACED;
        }
        let number = state.ops.len() as u32;
        let (kind, addr, size) = match InstructionKind::of(op) {
            Some((InstructionKind::Load, ..)) | None => return number,
            Some(known) => known,
        };
        if let (InstructionKind::Flush(_), Some(addr)) = (kind, addr) {
            state.flushes.entry((core, addr.line())).or_default().push_back(number);
        }
        let (context, fence) = match kind {
            InstructionKind::Primitive(Primitive::Setctx(named) | Primitive::Cfence(named)) => (named, true),
            _ => (context, true),
        };
        state.ops.push(TimelineOp {
            core: core.0,
            kind,
            addr: addr.map(|addr| addr.0),
            size,
            context,
            dispatched,
            ready: dispatched + 1,
            left: None,
            visible: None,
            done: None,
            write: None,
            fence: fence && matches!(kind, InstructionKind::Primitive(primitive) if primitive.is_fence()),
            rest: false,
            void: false,
            timed: state.started.is_some(),
        });
        state.values.push(match *op {
            TraceOp::Store { value, .. } | TraceOp::StoreNt { value, .. } => value,
            TraceOp::Rmw { new, .. } => new,
            _ => 0,
        });
        state.latest.insert(core, number);
        number
    }

    /// An operation is further bytes of the one before.
    pub fn is_rest(&self, op: u32) {
        // A claimed primitive enters as such too, and counts.
        self.change(op, |op| op.rest = op.size > 0);
    }

    /// An operation may leave the store queue at `at`.
    pub fn ready(&self, op: u32, at: u64) {
        self.change(op, |op| op.ready = at);
    }

    /// An operation leaves the store queue.
    pub fn left(&self, op: u32, at: u64) {
        self.change(op, |op| op.left = Some(at));
    }

    /// A store has become visible to all cores.
    pub fn visible(&self, op: u32, at: u64) {
        self.change(op, |op| {
            op.left.get_or_insert(at);
            op.visible = Some(at);
        });
        let state = &mut *self.state.borrow_mut();
        let addr = state.ops.get(op as usize).and_then(|op| op.addr).map(Addr);
        if let Some(addr) = addr.filter(|addr| addr.is_persistent()) {
            state.uncarried.entry(addr.line()).or_default().push(op);
        }
    }

    pub(super) fn change(&self, op: u32, change: impl FnOnce(&mut TimelineOp)) {
        if let Some(op) = self.state.borrow_mut().ops.get_mut(op as usize) {
            change(op);
        }
    }

    /// A core's latest operation is held in its window.
    pub fn fence_held(&self, core: CoreId) {
        self.lane(core).holds();
        let state = &mut *self.state.borrow_mut();
        if state.is_closed() {
            return;
        }
        let Some(&op) = state.latest.get(&core) else { return };
        state.held.insert(core, op);
        if let Some(&wait) = state.open.get(&Who::Fence(core)) {
            state.waits[wait].op = Some(op);
        }
    }

    /// The fence that is held in a core's window retires.
    pub fn fence_retires(&self, core: CoreId, at: u64) {
        self.woken(Who::Fence(core), at);
        let held = self.state.borrow_mut().held.remove(&core);
        if let Some(op) = held {
            self.change(op, |op| op.done = Some(at));
            // Whatever has waited for the fence names it, not the write behind it.
            self.acts(Actor {
                op: Some(op),
                write: None,
            });
        }
    }

    /// How far a core has come.
    pub fn mark(&self, core: CoreId) -> OpMark {
        OpMark {
            ops: self.state.borrow().ops.len(),
            lane: self.lane(core).mark(),
        }
    }

    /// A checkpoint of a core is taken.
    pub fn checkpoint(&self, core: CoreId, checkpoint: Checkpoint, at: u64) {
        let state = &mut *self.state.borrow_mut();
        state.checkpoints.insert((core, checkpoint), state.speculations.len());
        state.speculations.push(Speculation {
            core: core.0,
            from: at,
            to: None,
            rolled_back: false,
        });
    }

    /// A checkpoint and all older ones of its core are released.
    pub fn released(&self, core: CoreId, checkpoint: Checkpoint, at: u64) {
        self.state
            .borrow_mut()
            .end_speculation(core, Checkpoint(0)..=checkpoint, at, false);
    }

    /// A core is rolled back to a checkpoint, and replays what was before.
    pub fn rolls_back(&self, core: CoreId, checkpoint: Checkpoint, mark: OpMark, at: u64) {
        self.lane(core).rolls_back(mark.lane);
        for who in [Who::Program(core), Who::Fence(core), Who::Queue(core)] {
            self.woken(who, at);
        }
        let state = &mut *self.state.borrow_mut();
        state.held.remove(&core);
        state.end_speculation(core, checkpoint..=Checkpoint(u64::MAX), at, true);
        let begun = state.checkpoints.get(&(core, checkpoint));
        if let Some(begun) = begun.map(|row| &state.speculations[*row]) {
            state.waits.push(Wait {
                core: Some(core.0),
                who: Who::Program(core).name(),
                op: None,
                write: None,
                why: Why::RolledBack.name(),
                from: begun.from,
                to: Some(at),
                by_op: state.actor.op,
                by_write: state.actor.write,
            });
        }
        if state.over.is_some() {
            // The record counts them: they were rolled back behind its region.
            return;
        }
        let younger = state.ops.iter_mut().skip(mark.ops);
        let void = younger.filter(|op| op.core == core.0 && op.visible.is_none());
        void.for_each(|op| op.void = true);
    }

    /// A core that was rolled back has replayed what was before.
    pub fn resumes(&self, core: CoreId) {
        self.lane(core).resumes();
    }

    /// Takes what was recorded up to `end`, with the cores' notes.
    pub fn take(&self, end: u64, notes: &[Vec<Noted>]) -> Timeline {
        let mut state = self.state.take();
        if state.started.is_none() {
            // A program without a start line is timed from its beginning.
            state.ops.iter_mut().for_each(|op| op.timed = true);
            state.writes.iter_mut().for_each(|write| write.timed = true);
        }
        let mut timeline = Timeline {
            start: state.started.unwrap_or(0),
            end,
            stopped: state.stopped,
            ops: Table(state.ops),
            writes: Table(state.writes),
            counts: Table(state.counts),
            speculations: Table(state.speculations),
            reads: state.reads,
            crossings: Table(state.crossings),
            failures: Table(state.failures),
            spans: spans(notes, &state.ended, state.over.as_deref()),
            ..Timeline::default()
        };
        let waits = state.waits.into_iter();
        timeline.waits.0 = waits.filter(|wait| wait.to != Some(wait.from)).collect();
        for (stalls, instructions, heads) in self.lanes.iter().map(|lane| lane.take()) {
            timeline.heads.extend(heads.rows);
            timeline.last.push(heads.last);
            timeline.stalls.0.extend(stalls);
            timeline.instructions.0.extend(instructions);
        }
        Causes::of(&timeline, &state.misses).name(&mut timeline, &state.misses);
        timeline
    }
}

impl State {
    /// Whether nothing more is recorded: there was too much, or the timed region is over.
    pub fn is_closed(&self) -> bool {
        self.stopped.is_some() || self.over.is_some()
    }

    fn end_speculation(
        &mut self,
        core: CoreId,
        which: std::ops::RangeInclusive<Checkpoint>,
        at: u64,
        rolled_back: bool,
    ) {
        let (first, last) = which.into_inner();
        for (_, &index) in self.checkpoints.range((core, first)..=(core, last)) {
            let row = &mut self.speculations[index];
            if row.to.is_none() {
                (row.to, row.rolled_back) = (Some(at.max(row.from)), rolled_back);
            }
        }
    }
}
