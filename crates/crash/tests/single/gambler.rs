//! A design that speculates past `sfence` and is often wrong: roll-back before the oracle.

use std::collections::{BTreeSet, VecDeque};
use strandline_crash::litmus::{first_failure, random, Sets, Subject};
use strandline_design::{
    boxed, About, Access, Admission, AnyDesign, Checkpoint, Counters, Departure, Design, Forward, GateOf, Load, NoteOf,
    Ordering, RollsBack, Services, Snoop, Store, StoreId, Types, Until, Wants, Write, WriteKind,
};
use strandline_designs::X86;
use strandline_isa::{CoreId, Flush, Line, Lowering, Primitive};
use strandline_kernel::{Cycles, Rng};
use strandline_machine::{MachineConfig, Options, Outcome, Stats};
use strandline_sim::{design_named, play, Error, Play, Run, Spec, Traced};

/// What the tests leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Forgets {
    Nothing,
    /// Its loads do not look into what it keeps.
    OwnStores,
    /// Other cores get lines that it has speculated on.
    Conflicts,
    /// It performs its stores before the fence is certain.
    ToWait,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Gate {
    /// The fence that began this epoch of the core is certain.
    Certain(CoreId, u64),
    /// The core keeps nothing more.
    Empty(CoreId),
}

/// It looks whether a core's oldest epoch may commit.
#[derive(Clone, Copy, Debug)]
struct Look(CoreId);

#[derive(Clone, Copy, Debug)]
struct Own;

impl Types for Own {
    type Gate = Gate;
    type Message = Look;
    /// The context of a flush that was kept.
    type Tag = u8;
    type Note = ();
}

#[derive(Clone, Copy, Debug)]
enum Kept {
    Store(StoreId, Store),
    Flush(StoreId, Line, u8),
}

impl Kept {
    fn id(&self) -> StoreId {
        match self {
            Kept::Store(id, _) | Kept::Flush(id, ..) => *id,
        }
    }
}

/// An epoch begins at a fence that retired speculatively.
#[derive(Clone, Debug)]
struct Epoch {
    number: u64,
    checkpoint: Checkpoint,
    /// The newest entry before it.
    after: StoreId,
    /// The context of what came before it, which must be done before it commits.
    before: u8,
    /// It begins with a locked instruction, which must be performed while the core can be rolled back:
    /// another core's store must not come between its read and its write.
    locked: bool,
}

#[derive(Clone, Debug, Default)]
struct CoreState {
    epochs: VecDeque<Epoch>,
    kept: VecDeque<Kept>,
    /// Entries up to this one may be performed.
    committed: Option<StoreId>,
    /// A store is being performed.
    performs: bool,
    /// Lines that it has speculated on.
    lines: BTreeSet<Line>,
    begun: u64,
    context: u8,
}

impl CoreState {
    fn keeps(&self, id: StoreId) -> bool {
        !self.kept.is_empty() || self.epochs.front().is_some_and(|epoch| id > epoch.after)
    }
}

struct Gambler {
    forgets: Forgets,
    rng: Rng,
    cores: Vec<CoreState>,
    rolled_back: u64,
}

/// Contexts in use at once: more than there can be epochs.
const CONTEXTS: u8 = 64;

impl Gambler {
    fn new(forgets: Forgets, seed: u64) -> Gambler {
        Gambler {
            forgets,
            rng: Rng::new(seed),
            cores: Vec::new(),
            rolled_back: 0,
        }
    }

    fn core(&mut self, core: CoreId) -> &mut CoreState {
        if self.cores.len() <= core.index() {
            self.cores.resize(core.index() + 1, CoreState::default());
        }
        &mut self.cores[core.index()]
    }

    fn speculates(&mut self, hw: &mut dyn Services<Own>, core: CoreId) -> Admission<Gate> {
        let state = &mut self.cores[core.index()];
        if state.epochs.is_empty() && state.kept.is_empty() && hw.pending(core, None) == 0 {
            return Admission::Pass;
        }
        match self.begin_epoch(hw, core, false) {
            Some(number) => {
                hw.announce_when(core, Gate::Certain(core, number));
                Admission::Pass
            }
            None => Admission::Hold(Until::Drained(None)),
        }
    }

    /// Begins an epoch before the instruction that is being asked about, if it may: its number. At most
    /// four checkpoints, as Speculative Persistence has them.
    fn begin_epoch(&mut self, hw: &mut dyn Services<Own>, core: CoreId, locked: bool) -> Option<u64> {
        let state = &mut self.cores[core.index()];
        if state.epochs.len() == 4 {
            return None;
        }
        let checkpoint = hw.checkpoint(core)?;
        state.begun += 1;
        let (number, before) = (state.begun, state.context);
        state.context = (state.context + 1) % CONTEXTS;
        hw.set_context(core, state.context);
        state.epochs.push_back(Epoch {
            number,
            checkpoint,
            after: hw.newest_entry(core),
            before,
            locked,
        });
        let later = self.rng.below(400);
        hw.send(hw.now() + Cycles(later), Look(core));
        Some(number)
    }

    /// Commits what is certain, one entry after the other.
    fn advance(&mut self, hw: &mut dyn Services<Own>, core: CoreId) {
        let waits = self.forgets != Forgets::ToWait;
        let state = self.core(core);
        if let Some(epoch) = state.epochs.front() {
            let nothing_older = state.kept.front().is_none_or(|kept| kept.id() > epoch.after);
            let done = hw.pending(core, Some(epoch.before)) == 0;
            let may = nothing_older && (done || !waits) && !state.performs;
            if let (true, true, Some(Kept::Store(id, _))) = (may, epoch.locked, state.kept.front()) {
                state.performs = true;
                return hw.perform(core, *id, hw.now());
            }
            if may {
                hw.release(core, epoch.checkpoint);
                hw.open(Gate::Certain(core, epoch.number));
                state.epochs.pop_front();
                state.committed = state.epochs.front().map(|next| next.after).or(Some(StoreId(u64::MAX)));
            }
        }
        while !state.performs {
            let may = |kept: &Kept| state.committed.is_some_and(|last| kept.id() <= last);
            match state.kept.front().copied().filter(may) {
                None => break,
                Some(Kept::Store(id, _)) => {
                    state.performs = true;
                    hw.perform(core, id, hw.now());
                }
                Some(Kept::Flush(_, line, context)) => {
                    state.kept.pop_front();
                    hw.flush_line(core, line, Flush::Clwb, context);
                }
            }
        }
        if state.epochs.is_empty() && state.kept.is_empty() {
            state.committed = None;
            state.lines.clear();
            hw.open(Gate::Empty(core));
        }
    }
}

impl Design for Gambler {
    type Own = Own;

    fn about(&self) -> About {
        X86.about()
    }

    fn lowering(&self) -> Lowering {
        X86.lowering()
    }

    fn wants(&self) -> Wants {
        Wants {
            rolls_back: RollsBack::Always,
            snoops_all: true,
            ..Wants::default()
        }
    }

    fn primitive(&mut self, hw: &mut dyn Services<Own>, core: CoreId, primitive: Primitive) -> Admission<Gate> {
        self.core(core);
        match primitive {
            Primitive::Sfence => self.speculates(hw, core),
            other => Admission::plain(other),
        }
    }

    fn keep(&mut self, hw: &mut dyn Services<Own>, core: CoreId, write: Write, id: StoreId) -> Departure<Gate> {
        let state = self.core(core);
        if !state.keeps(id) {
            return Departure::Go;
        }
        if write.kind == WriteKind::Locked && self.begin_epoch(hw, core, true).is_none() {
            return Departure::Wait(Until::Open(Gate::Empty(core)));
        }
        let state = self.core(core);
        match write.kind {
            WriteKind::Store | WriteKind::Locked => {
                state.kept.push_back(Kept::Store(id, write.store));
                state.lines.insert(write.store.line());
                self.advance(hw, core);
                Departure::Keep
            }
            _ => Departure::Wait(Until::Open(Gate::Empty(core))),
        }
    }

    fn departs(
        &mut self,
        hw: &mut dyn Services<Own>,
        core: CoreId,
        ordering: Ordering,
        context: u8,
    ) -> Departure<Gate> {
        let id = hw.entry_at_turn(core);
        let state = self.core(core);
        match ordering {
            // A clflush is ordered with the stores after it, which a flush that was kept is not.
            Ordering::Flush(_, Flush::Clflush) if state.keeps(id) => Departure::Wait(Until::Open(Gate::Empty(core))),
            Ordering::Flush(line, _) if state.keeps(id) => {
                state.kept.push_back(Kept::Flush(id, line, context));
                self.advance(hw, core);
                Departure::Keep
            }
            _ => Departure::Go,
        }
    }

    fn load(&mut self, _: &mut dyn Services<Own>, core: CoreId, load: Load) -> Forward<Gate> {
        let forgets = self.forgets == Forgets::OwnStores;
        let state = self.core(core);
        if !state.epochs.is_empty() {
            state.lines.insert(load.addr.line());
        }
        let (mut mask, mut value) = (0u8, 0u64);
        let stores = state.kept.iter().rev().filter_map(|kept| match kept {
            Kept::Store(_, store) => Some(store),
            Kept::Flush(..) => None,
        });
        for store in stores.filter(|_| !forgets) {
            for byte in 0..u64::from(load.size) {
                let at = load.addr.0 + byte;
                let inside = (store.addr.0..store.addr.0 + u64::from(store.size)).contains(&at);
                if inside && mask >> byte & 1 == 0 {
                    mask |= 1 << byte;
                    value |= (store.value >> (8 * (at - store.addr.0)) & 0xff) << (8 * byte);
                }
            }
        }
        let after = Cycles(3);
        match mask {
            0 => Forward::Caches { after },
            _ => Forward::Bytes { mask, value, after },
        }
    }

    fn performed(&mut self, hw: &mut dyn Services<Own>, core: CoreId, id: StoreId) {
        let state = self.core(core);
        state.performs = false;
        state.kept.retain(|kept| kept.id() != id);
        if let Some(epoch) = state.epochs.front_mut() {
            epoch.locked = false;
        }
        self.advance(hw, core);
    }

    fn acknowledged(&mut self, hw: &mut dyn Services<Own>, core: CoreId, context: u8) {
        hw.acknowledge(core, context);
    }

    fn snooped(
        &mut self,
        _: &mut dyn Services<Own>,
        owner: CoreId,
        _: CoreId,
        line: Line,
        _: Access,
    ) -> Snoop<GateOf<Self>, NoteOf<Self>> {
        let forgets = self.forgets == Forgets::Conflicts;
        let state = self.core(owner);
        match state.epochs.front() {
            Some(epoch) if state.lines.contains(&line) && !forgets => Snoop::RollBack(epoch.checkpoint),
            _ => Snoop::Grant(None),
        }
    }

    fn message(&mut self, hw: &mut dyn Services<Own>, Look(core): Look) {
        let loses = self.rng.one_in(4);
        match self.core(core).epochs.front().cloned() {
            Some(epoch) if loses => hw.roll_back(core, epoch.checkpoint),
            _ => self.advance(hw, core),
        }
        let state = self.core(core);
        if !state.epochs.is_empty() || !state.kept.is_empty() {
            hw.send(hw.now() + Cycles(40), Look(core));
        }
    }

    fn rolled_back(&mut self, hw: &mut dyn Services<Own>, core: CoreId, checkpoint: Checkpoint) {
        self.rolled_back += 1;
        let state = self.core(core);
        let Some(index) = state.epochs.iter().position(|epoch| epoch.checkpoint == checkpoint) else {
            return;
        };
        let epoch = state.epochs[index].clone();
        state.epochs.truncate(index);
        for kept in state.kept.iter().filter(|kept| kept.id() > epoch.after) {
            if let Kept::Flush(_, _, context) = kept {
                hw.acknowledge(core, *context);
            }
        }
        state.kept.retain(|kept| kept.id() <= epoch.after);
        state.context = epoch.before;
        // The store that was being performed may be void.
        state.performs &= state.kept.front().is_some();
        if state.epochs.is_empty() {
            state.lines.clear();
            state.committed = Some(StoreId(u64::MAX));
        }
        self.advance(hw, core);
    }

    fn counters(&self, _: Cycles) -> Counters {
        Counters {
            rollbacks: Some(self.rolled_back),
            ..Counters::default()
        }
    }

    fn waits(&self) -> Vec<String> {
        self.cores.iter().map(|state| format!("{state:?}")).collect()
    }
}

/// The design under test; each run has a seed of its own.
struct Gamblers {
    forgets: Forgets,
    rolled_back: std::cell::Cell<u64>,
}

impl Gamblers {
    fn that(forgets: Forgets) -> Gamblers {
        Gamblers {
            forgets,
            rolled_back: std::cell::Cell::new(0),
        }
    }
}

impl Subject for Gamblers {
    fn about(&self) -> About {
        X86.about()
    }

    fn is_set(&self, _: &str) -> bool {
        false
    }

    fn play(&self, machine: &MachineConfig, _: &Sets, program: Play, options: Options) -> Result<Outcome, Error> {
        let design = boxed(Gambler::new(self.forgets, options.seed));
        let outcome = play(design, machine, program, options)?;
        let rolled_back = outcome.stats.design.rollbacks.unwrap_or(0);
        self.rolled_back.set(self.rolled_back.get() + rolled_back);
        Ok(outcome)
    }
}

/// Programs of each test.
const PROGRAMS: u64 = 3_000;

#[test]
fn cores_that_are_rolled_back_stay_within_the_model() {
    let subject = Gamblers::that(Forgets::Nothing);
    let report = random(&subject, 1, PROGRAMS).expect("every run ends");
    assert!(report.violations.is_empty(), "{:#?}", report.violations);
    let rolled_back = subject.rolled_back.get();
    assert!(rolled_back > PROGRAMS / 10, "only {rolled_back} roll-backs");
}

/// What one thread of `sps` counts under a design.
fn counted(design: Box<AnyDesign>) -> Stats {
    let spec = Spec {
        tasks: Some(60),
        ..crate::spec("sps", "x86", 1)
    };
    let run = Run {
        design: Some(design),
        patience: Some(Cycles(10_000_000)),
        ..Run::of(&spec)
    };
    let observation = run.observe(Traced::Everything).expect("it ends");
    observation.record.stats
}

#[test]
fn what_is_rolled_back_is_counted_once() {
    let plain = counted(design_named("x86").expect("registered"));
    let gambler = counted(boxed(Gambler::new(Forgets::Nothing, 1)));
    assert!(gambler.design.rollbacks > Some(20), "{:?}", gambler.design.rollbacks);
    let counts = |s: &Stats| [s.tasks, s.instructions, s.loads, s.stores, s.flushes, s.fences];
    assert_eq!(counts(&gambler), counts(&plain));
}

#[test]
fn speculation_that_forgets_a_rule_is_caught() {
    for (forgets, programs) in [
        (Forgets::OwnStores, PROGRAMS),
        // Only locked instructions can tell: a load may pass older stores under the model in any case.
        (Forgets::Conflicts, 20 * PROGRAMS),
        (Forgets::ToWait, PROGRAMS),
    ] {
        let found = first_failure(&Gamblers::that(forgets), 1, programs).expect("every run ends");
        assert!(found.is_some(), "{forgets:?} is not noticed");
    }
}
