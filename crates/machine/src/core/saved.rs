//! A core's state at a checkpoint.

use super::frame::State;
use super::notes::SavedNotes;
use super::predictor::Branches;
use super::restore::Restore;
use super::{Core, Counts, Window};
use crate::timeline::OpMark;

/// A core's state at a checkpoint, without its store queue: older entries are not speculative, so
/// the newest entry's number suffices.
pub struct Saved {
    window: Window,
    counts: Counts,
    notes: SavedNotes,
    load_floor: u64,
    addresses: u64,
    context: u8,
    context_ready: u64,
    counts_next: bool,
    traced: usize,
    recorded: OpMark,
    operations: usize,
    newest_entry: u64,
    frame: Option<State>,
}

impl Saved {
    /// Operations that the program has completed.
    pub fn operations(&self) -> usize {
        self.operations
    }

    /// How far the timeline had come.
    pub fn recorded(&self) -> OpMark {
        self.recorded
    }

    /// Fences that had retired speculatively.
    pub fn speculations(&self) -> u64 {
        self.notes.speculations()
    }

    /// The number of the newest entry of the store queue.
    pub fn newest_entry(&self) -> u64 {
        self.newest_entry
    }
}

impl Core {
    /// The state just before the operation that is under way.
    pub fn save(&self) -> Saved {
        Saved {
            window: self.window.clone(),
            counts: self.counts.clone(),
            notes: self.notes.save(),
            load_floor: self.loads.floor.get(),
            addresses: self.loads.addresses.get(),
            context: self.context.now.get(),
            context_ready: self.context.ready.get(),
            counts_next: self.observer.counts_next.get(),
            traced: self.observer.tracer.as_ref().map_or(0, |tracer| tracer.mark(self.id)),
            recorded: self
                .observer
                .recorder
                .as_ref()
                .map(|recorder| recorder.mark(self.id))
                .unwrap_or_default(),
            operations: self.observer.log.as_ref().map_or(0, |log| log.len()),
            newest_entry: self.queue.borrow().newest(),
            frame: self.frame.as_ref().map(|frame| frame.save()),
        }
    }

    /// Restores a checkpoint.
    pub fn restore(&self, saved: &Saved) {
        self.window.restore(&saved.window);
        self.counts.restore(&saved.counts);
        self.notes.restore(&saved.notes);
        self.loads.floor.set(saved.load_floor);
        self.loads.addresses.set(saved.addresses);
        self.context.now.set(saved.context);
        self.context.ready.set(saved.context_ready);
        self.observer.counts_next.set(saved.counts_next);
        self.loads.held.set(false);
        self.waited.set(0);
        self.exchange.request.set(None);
        if let (Some(frame), Some(saved)) = (&self.frame, &saved.frame) {
            frame.restore(saved);
        }
        if let Some(tracer) = &self.observer.tracer {
            tracer.truncate(self.id, saved.traced);
        }
        if let Some(recorder) = &self.observer.recorder {
            recorder.resumes(self.id);
        }
    }

    /// Starts the replay of the program's first operations. Returns the predictors, which a replay
    /// does not train.
    pub fn begin_replay(&self, operations: usize) -> Branches {
        if let Some(log) = &self.observer.log {
            log.replay(operations);
        }
        let trained = self.branches.clone();
        // Values that the program computes must not be ready later than they were.
        self.window.restore(&self.start);
        self.window.redirect(1);
        if let Some(frame) = &self.frame {
            frame.restore(&State::default());
        }
        self.loads.held.set(false);
        // Every operation then stops, and looks into the log.
        self.turn.horizon.set(0);
        self.drain.next.set(0);
        trained
    }

    /// Ends the replay: the program has reached its checkpoint.
    pub fn end_replay(&self, trained: &Branches) {
        self.branches.restore(trained);
        if let Some(log) = &self.observer.log {
            log.end_replay();
        }
        self.drain.next.set(u64::MAX);
    }
}
