//! Arithmetic, branches and jumps, which need nothing of the system.

use super::{count, Core};
use crate::core::Port;
use strandline_isa::{Alu, Site};

impl Core {
    /// Executes arithmetic on operands that are ready by then: when the result is.
    #[inline(never)]
    pub(super) fn computes(&self, op: Alu, ready: u64) -> u64 {
        let ready = (self.window.dispatch() + 1).max(ready);
        let issue = self.window.issue_at_port(Port::Alu, ready);
        let done = issue + self.limits.latencies.of(op);
        self.window.execute(issue, done);
        done
    }

    /// Executes a branch.
    pub(super) fn branches_on(&self, condition: u64, taken: bool, site: Site) {
        let ready = (self.window.dispatch() + 1).max(condition);
        let issue = self.window.issue_at_port(Port::Branch, ready);
        self.window.branches(taken);
        if !self.branches.predictor.predict(site.0, taken) {
            self.mispredicted(issue + 1);
        }
        self.window.execute(issue, issue + 1);
    }

    /// A branch or jump that executes at `done` was mispredicted.
    #[inline(always)]
    pub(super) fn mispredicted(&self, done: u64) {
        count(&self.counts.mispredictions);
        self.window.redirect_branch(done + self.limits.latencies.mispredict);
    }

    /// Executes an indirect jump.
    #[inline(always)]
    pub(super) fn jumps(&self, target: u64, to: u64, site: Site) {
        let ready = (self.window.dispatch() + 1).max(target);
        let issue = self.window.issue_at_port(Port::Branch, ready);
        self.window.branches(true);
        let done = issue + 1;
        count(&self.counts.jumps);
        if !self.branches.targets.predict(site.0, to) {
            count(&self.counts.jumps_mispredicted);
            self.mispredicted(done);
        }
        self.window.execute(issue, done);
    }
}
