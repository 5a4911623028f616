//! Cores that wait in laps, whose programs run only once that can matter.
//!
//! Until such a core loses a line, others see one thing of its run up to a horizon: when its program stops, which is when
//! it is the core's turn again. A lap has few such times. They are noted during one lap. From then on the core *dozes*:
//! its runs are put off until it loses a line, is interrupted or is looked at.

use super::hardware::ProgramState;
use super::running::Running;
use crate::core::Request;
use std::cmp::Ordering;
use strandline_design::Hook;
use strandline_isa::CoreId;

/// What is known of the laps of a core's program.
#[derive(Default)]
pub struct Doze {
    /// When the program stops during one lap, in order, as far as noted.
    stops: Vec<u64>,
    /// The cycles of a lap, once all its stops are noted.
    cycles: Option<u64>,
    /// The horizon of the run that was put off.
    until: Option<u64>,
}

impl Doze {
    /// When the program stops first after `horizon`, if its laps are known.
    fn stops_after(&self, horizon: u64) -> Option<u64> {
        let (cycles, first) = (self.cycles?, *self.stops.first()?);
        let since = horizon.checked_sub(first)?;
        let passed = since - since % cycles;
        let next = self.stops.partition_point(|stop| stop + passed <= horizon);
        let next = self.stops.get(next).copied().unwrap_or(first + cycles);
        Some(next + passed)
    }

    /// Notes that the program, whose loop takes `cycles` a lap, stops at `stop`.
    fn note(&mut self, stop: u64, cycles: u64) {
        let lap_ends = self.stops.first().map_or(u64::MAX, |first| first + cycles);
        match stop.cmp(&lap_ends) {
            Ordering::Less => self.stops.push(stop),
            Ordering::Equal => self.cycles = Some(cycles),
            Ordering::Greater => self.stops = vec![stop],
        }
    }
}

/// Horizons beyond this one are of a core that nothing else ever follows.
const FURTHEST: u64 = 1 << 60;

impl Running {
    /// Runs a program that goes round in laps up to `horizon`, or puts that off; false if it does not go round, or no
    /// longer.
    #[inline(always)]
    pub(super) fn dozes(&mut self, core: CoreId, horizon: u64) -> bool {
        match self.hw.harts[core.index()].core.laps() {
            Some(cycles) if self.may_doze && horizon < FURTHEST => self.doze(core, cycles, horizon),
            _ => false,
        }
    }

    fn doze(&mut self, core: CoreId, cycles: u64, horizon: u64) -> bool {
        if self.hw.core(core).asks(Hook::Load) {
            self.end_laps(core);
            return false;
        }
        loop {
            let hart = self.hw.hart(core);
            let at = hart.core.turn.next_op.get();
            if at > horizon {
                break;
            }
            if let Some(stop) = hart.doze.stops_after(horizon) {
                hart.core.turn.next_op.set(stop);
                hart.doze.until = Some(horizon);
                break;
            }
            hart.doze.note(at, cycles);
            if hart.doze.cycles.is_none() && !self.goes_round(core, at) {
                return matches!(self.hw.hart(core).state, ProgramState::Ended);
            }
        }
        self.hw.takes_turn(core);
        true
    }

    /// Runs a program up to `horizon`; false if it does anything but go round, and stop after it.
    fn goes_round(&mut self, core: CoreId, horizon: u64) -> bool {
        let shared = self.hw.hart(core).core.clone();
        shared.turn.horizon.set(horizon);
        let ended = self.resume_program(core);
        let request = shared.exchange.request.take().filter(|_| !ended);
        if request == Some(Request::Order) && shared.turn.next_op.get() > horizon {
            return true;
        }
        shared.stops_lapping();
        self.hw.hart(core).doze = Doze::default();
        match request {
            Some(request) => self.hw.hart(core).state = ProgramState::Again(request),
            None => self.ended(core),
        }
        false
    }

    /// Runs what was put off, if anything, before a core loses a line, is interrupted or is looked at.
    #[inline(always)]
    pub(super) fn wake(&mut self, core: CoreId) {
        if self.hw.harts[core.index()].core.laps().is_some() {
            self.end_laps(core);
        }
    }

    #[inline(never)]
    fn end_laps(&mut self, core: CoreId) {
        let hart = self.hw.hart(core);
        let (shared, until) = (hart.core.clone(), std::mem::take(&mut hart.doze).until);
        if let Some(horizon) = until {
            let stops = shared.turn.next_op.get();
            // The design may have asked to see loads since.
            let goes_round = shared.without(Hook::Load, || self.goes_round(core, horizon));
            debug_assert!(goes_round && shared.turn.next_op.get() == stops, "{core} laps");
        }
        shared.stops_lapping();
    }

    /// Wakes every core: somebody looks at them.
    pub(super) fn wake_all(&mut self) {
        for index in 0..self.hw.harts.len() {
            self.wake(CoreId(index as u16));
        }
    }
}
