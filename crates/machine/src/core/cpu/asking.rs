//! How a program asks the system.

use super::{Core, Request, Stage};
use std::task::Poll;

impl Core {
    /// Leaves a request for the system, which is asked next ([`Core::answered`]) or once the program has suspended.
    pub(super) fn request<T>(&self, request: Request) -> Poll<T> {
        if request != Request::Order {
            self.leaves_loop();
        }
        self.exchange.request.set(Some(request));
        Poll::Pending
    }

    /// The outcome of an operation that is polled until it has it, or the system does not answer its request at once.
    #[inline(always)]
    pub(super) fn answered<T>(&self, mut poll: impl FnMut() -> Poll<T>) -> Poll<T> {
        loop {
            let polled = poll();
            if polled.is_ready() || !self.is_answered() {
                return polled;
            }
        }
    }

    /// Calls the system to answer the request that was left, if the program may: whether it continues at once.
    #[inline(never)]
    fn is_answered(&self) -> bool {
        let Some(mut system) = self.exchange.system.take() else {
            return false;
        };
        let request = self.exchange.request.take().expect("a program suspends with a request");
        let goes_on = system.answers(self.id, request);
        self.exchange.system.set(Some(system));
        self.exchange.waits.set(!goes_on);
        if goes_on {
            self.resumes();
        }
        goes_on
    }

    /// Stops an operation: it leaves the request or, while the core replays its log, takes its
    /// outcome from there.
    #[cold]
    #[inline(never)]
    pub(super) fn stop(&self, stage: &mut Stage, request: Request) -> Poll<(u64, u64)> {
        match self.replayed() {
            Some(Some(outcome)) => return Poll::Ready(outcome),
            // The log ends before this operation, which restarts.
            Some(None) => *stage = Stage::New,
            None => {}
        }
        self.request(request)
    }

    /// As [`Core::stop`], of an operation without a value.
    #[cold]
    #[inline(never)]
    pub(super) fn stop_silent(&self, stage: &mut Stage, request: Request) -> Poll<()> {
        self.stop(stage, request).map(|_| ())
    }
}
