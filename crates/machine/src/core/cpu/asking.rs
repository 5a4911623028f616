//! How a program asks the system.

use super::{Core, Request, SimCpu};

/// Why an operation is left where it asked.
pub(super) enum Left {
    /// The core replays its log, which has the operation's outcome.
    Logged(u64, u64),
    /// The log ends before the operation, which begins again.
    Anew,
}

/// What operations end with.
pub(super) trait Outcome {
    /// From the log.
    fn logged(value: u64, ready: u64) -> Self;
}

impl Outcome for () {
    fn logged(_: u64, _: u64) {}
}

impl Outcome for (u64, u64) {
    fn logged(value: u64, ready: u64) -> (u64, u64) {
        (value, ready)
    }
}

impl SimCpu<'_> {
    /// The outcome of an operation, which begins again when it has been rolled back.
    #[inline(always)]
    pub(super) fn completes<T: Outcome>(&self, operation: impl Fn() -> Result<T, Left>) -> T {
        loop {
            match operation() {
                Ok(outcome) => return outcome,
                Err(Left::Logged(value, ready)) => return T::logged(value, ready),
                Err(Left::Anew) => {}
            }
        }
    }

    /// Asks the system, and goes on when it lets the program. While the core replays its log, the operation's outcome is
    /// there.
    #[cold]
    #[inline(never)]
    pub(super) fn ask(&self, request: Request) -> Result<(), Left> {
        match self.core.replayed() {
            Some(Some((value, ready))) => return Err(Left::Logged(value, ready)),
            Some(None) => {
                self.wait_for(request);
                return Err(Left::Anew);
            }
            None => self.wait_for(request),
        }
        Ok(())
    }

    /// Asks the system. The program is suspended unless it goes on before others act.
    #[inline(never)]
    pub(super) fn wait_for(&self, request: Request) {
        if !self.core.goes_on_after(request) {
            self.stack.suspend(());
        }
    }
}

impl Core {
    /// Calls the system with a request, if the program may: whether it goes on at once. Otherwise it leaves the request.
    fn goes_on_after(&self, request: Request) -> bool {
        if request != Request::Order {
            self.leaves_loop();
        }
        let Some(mut system) = self.exchange.system.take() else {
            self.exchange.request.set(Some(request));
            return false;
        };
        let goes_on = system.answers(self.id, request);
        self.exchange.system.set(Some(system));
        self.exchange.waits.set(!goes_on);
        if goes_on {
            self.resumes();
        }
        goes_on
    }
}
