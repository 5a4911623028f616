//! The timed region of a run: from the start line until the first program that has ended tasks is done.
//!
//! While all programs run, they compete for the machine as long as they do in a longer run. What the others do once one
//! has ended its last task would measure how unevenly they were served. The run itself goes on to its end.

use super::hardware::{Hart, ProgramState};
use super::run::Outcome;
use super::running::Running;
use super::waiters::Condition;
use crate::core::Core;
use crate::journal::Journal;
use crate::stats::{Latencies, Stats};
use crate::timeline::{Timeline, Who};
use strandline_kernel::{Counts, Cycles};

/// The timed region of a run.
#[derive(Default)]
pub struct Region {
    /// When it begins.
    start: u64,
    /// Counts at its beginning.
    before: Stats,
    /// Tasks that each core had ended at its beginning; empty before that.
    ended: Vec<u64>,
    /// The design's counters at the start are still to be read: events precede it.
    asks_design: bool,
    /// A program has ended while others run: the region ends once that program is done.
    ends_soon: bool,
    /// Its end, if that came before the run's.
    end: Option<End>,
}

/// The counts at the end of the timed region.
struct End {
    at: u64,
    totals: Stats,
    latencies: Latencies,
}

impl Region {
    /// Whether it may begin or end at the next step.
    #[inline(always)]
    pub fn is_watched(&self) -> bool {
        self.asks_design || self.ends_soon
    }
}

impl Running {
    /// Starts the timed region once every program has reached the start line.
    pub(super) fn maybe_start(&mut self) {
        let waiters = &self.hw.waiters;
        let stands = |h: &Hart| {
            let waits = waiters.of_program(h.core.id).map(|(condition, _)| condition);
            waits == Some(Condition::Started) && h.core.notes.is_certain()
        };
        let has_ended = |h: &Hart| matches!(h.state, ProgramState::Ended);
        let harts = &self.hw.harts;
        if !harts.iter().all(|h| stands(h) || has_ended(h)) || !harts.iter().any(stands) {
            return;
        }
        let times = self
            .hw
            .harts
            .iter()
            .map(|h| h.core.window.cycle().max(h.core.window.retired()));
        let at = times.max().unwrap_or(0).max(self.hw.now());
        self.region = Region {
            start: at,
            before: self.totals(),
            ended: self.tasks_ended(),
            asks_design: true,
            ..Region::default()
        };
        self.looks.start(self.region.before.tasks);
        self.hw
            .record(|recorder, _| recorder.start(at, self.region.ended.clone()));
        self.hw.turns.touch_all();
        for hart in &mut self.hw.harts {
            hart.core.notes.starts(at);
            let waiters = &mut self.hw.waiters;
            if waiters
                .wake_program(hart.core.id, |at| at == Condition::Started)
                .is_some()
            {
                if let Some(recorder) = &self.hw.recorder {
                    recorder.woken(Who::Program(hart.core.id), at);
                }
                hart.core.window.redirect(at);
                hart.core.turn.next_op.set(at);
                hart.state = ProgramState::Runnable;
            }
        }
    }

    /// What the design had counted when the timed region began.
    fn ask_at_start(&mut self) {
        self.region.asks_design = false;
        self.region.before.design = self.design.counters(Cycles(self.region.start));
        self.hw.harts.iter().for_each(|hart| hart.starts(self.region.start));
        self.hw
            .record(|recorder, _| recorder.start_counts(&self.region.before.design));
    }

    /// Counts since the run began.
    fn totals(&self) -> Stats {
        let cores = || self.hw.harts.iter().map(|h| &*h.core);
        let sum = |f: &dyn Fn(&Core) -> u64| cores().map(f).sum::<u64>();
        let tally = self.hw.tally;
        let instructions = sum(&|c| c.window.instructions());
        Stats {
            tasks: sum(&|c| c.notes.tasks()),
            instructions,
            instructions_simulated: instructions,
            loads: sum(&|c| c.counts.loads.get()),
            stores: sum(&|c| c.counts.stores.get()),
            flushes: sum(&|c| c.counts.flushes.get()),
            fences: sum(&|c| c.counts.fences.get()),
            mispredictions: sum(&|c| c.counts.mispredictions.get()),
            jumps: sum(&|c| c.counts.jumps.get()),
            jumps_mispredicted: sum(&|c| c.counts.jumps_mispredicted.get()),
            switch_instructions: Some(sum(&|c| c.notes.library())),
            window: cores().map(|c| c.notes.window()).max().unwrap_or(1),
            fence_stall_cycles: sum(&|c| c.window.stalls().fence.get()),
            window_fence_stall_cycles: sum(&|c| c.window.stalls().window_behind_fence.get()),
            buffer_stall_cycles: sum(&|c| c.window.stalls().buffer.get()),
            design_stall_cycles: sum(&|c| c.window.stalls().design_buffer.get()),
            queue_persist_stall_cycles: sum(&|c| c.window.stalls().queue_persists.get()),
            fetch_stall_cycles: sum(&|c| c.window.stalls().fetch.get()),
            tlb_misses: sum(&|c| c.tlb.counts.misses.get()),
            page_walks: sum(&|c| c.tlb.counts.walks.get()),
            walk_loads: sum(&|c| c.tlb.counts.loads.get()),
            walk_cycles: sum(&|c| c.tlb.counts.cycles.get()),
            pm_reads: tally.pm_reads,
            pm_writes: tally.pm_writes,
            pm_write_bytes: tally.pm_write_bytes,
            coalesced: tally.coalesced,
            commits: tally.commits,
            pcommits: sum(&|c| c.counts.pcommits.get()),
            pcommits_in_flight_max: cores()
                .map(|c| c.counts.pcommits_in_flight_max.get())
                .max()
                .unwrap_or(0),
            stores_during_pcommits: sum(&|c| c.counts.stores_during_pcommits.get()),
            ..Stats::default()
        }
    }

    /// Tasks that each core has ended.
    fn tasks_ended(&self) -> Vec<u64> {
        let harts = self.hw.harts.iter();
        harts.map(|hart| hart.core.notes.tasks()).collect()
    }

    /// Begins or ends the region if nothing acts before `next`; whether it has ended.
    #[cold]
    #[inline(never)]
    pub(super) fn bounds_region(&mut self, next: u64) -> bool {
        if self.region.asks_design && next >= self.region.start {
            self.ask_at_start();
        }
        if !self.region.ends_soon {
            return false;
        }
        match self.first_done().filter(|done| next >= *done) {
            Some(at) => self.end_region(at),
            None => return false,
        }
        true
    }

    /// A program has ended: the region may end before the others do.
    pub(super) fn maybe_end(&mut self) {
        let runs = |hart: &Hart| !matches!(hart.state, ProgramState::Ended);
        let is_open = !self.region.ended.is_empty() && self.region.end.is_none();
        self.region.ends_soon |= is_open && self.hw.harts.iter().any(runs);
    }

    /// When the first program was done that has ended tasks in the region: with its stores and flushes.
    fn first_done(&self) -> Option<u64> {
        let is_done = |hart: &Hart, before: u64| {
            let core = &hart.core;
            matches!(hart.state, ProgramState::Ended)
                && !core.window.is_held()
                && core.pending(None) == 0
                && core.notes.are_settled()
                && core.notes.tasks() > before
        };
        let harts = self.hw.harts.iter().zip(&self.region.ended);
        let done = harts.filter(|(hart, before)| is_done(hart, **before));
        done.map(|(hart, _)| hart.done_at()).min()
    }

    /// Whether the region has ended before the run.
    pub(super) fn region_has_ended(&self) -> bool {
        self.region.end.is_some()
    }

    /// Ends the region: what happens from now on is not counted.
    pub(super) fn end_region(&mut self, at: u64) {
        self.wake_all();
        self.region.ends_soon = false;
        self.region.end = Some(self.counted(at));
        let ended = self.tasks_ended();
        self.hw.record(|recorder, _| {
            recorder.count(at, self.design.counters(Cycles(at)));
            recorder.end(ended);
        });
    }

    /// The counts up to now, at `at`.
    fn counted(&self, at: u64) -> End {
        let harts = &self.hw.harts;
        let latencies = Latencies::of(harts.iter().map(|hart| &*hart.core), at);
        let contexts = || harts.iter().map(|hart| hart.context_table(at)).sum();
        End {
            at,
            totals: Stats {
                design: self.design.counters(Cycles(at)),
                store_queue: harts.iter().map(|hart| hart.store_queue(at)).sum(),
                writeback_buffer: harts.iter().map(|hart| hart.writeback_buffer(at)).sum(),
                context_table: self.wants.contexts.then(contexts),
                ..self.totals()
            },
            latencies,
        }
    }

    /// The outcome of a run that has ended.
    pub(super) fn outcome(&mut self) -> Outcome {
        self.wake_all();
        if self.region.asks_design {
            self.ask_at_start();
        }
        let last = self.hw.harts.iter().map(Hart::done_at).max().unwrap_or(0);
        let whole = self.totals();
        let end = self.region.end.take().unwrap_or_else(|| self.counted(last));
        let timeline = self.hw.recorder.take().map(|recorder| {
            recorder.count(end.at, end.totals.design.clone());
            let hosts = self.hw.harts.iter().map(|hart| hart.host.0).collect();
            Timeline {
                hosts,
                ..recorder.take(end.at, &self.notes())
            }
        });
        let mut stats = end.totals.since(&self.region.before);
        stats.cycles = Cycles(end.at).since(Cycles(self.region.start));
        stats.instructions_simulated = whole.instructions;
        stats.tasks_to_the_end = whole.tasks - self.region.before.tasks;
        stats.latencies = end.latencies;
        let image = self.hw.crash_image.take().map(|image| image.into_changes());
        let journal = image.map(|(durable, late)| Journal {
            durable,
            late,
            notes: self.notes(),
            visible_at: self.tracer.as_ref().map(|t| t.take_times()).unwrap_or_default(),
            trace: self.tracer.as_ref().map(|t| t.take()).unwrap_or_default(),
            halted: self.halted,
            stale_since: self.hw.stale_since,
        });
        Outcome {
            stats,
            journal,
            timeline,
            halted: self.halted,
            is_precise: self.looks.enough,
        }
    }
}
