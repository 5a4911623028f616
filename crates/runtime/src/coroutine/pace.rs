//! The number of tasks that share a thread: fixed, or the best one, found while the program runs
//! (which COSPlay, section 4.2, names as future work).
//!
//! The measure is the time between yields before fences, each of which counts as one piece of work.
//! Windows of a ladder are tried from the smallest up until they only get worse. The best and its
//! neighbours are tried again, for longer. The best of these is kept until its time changes
//! lastingly: the program has entered another phase, and the search restarts.

use super::MAX_FOUND;
use strandline_isa::{sites, Cpu};

sites! {
    STILL_SETTLES = 0x046b_5aca;
    STILL_TIMES = 0x8d55_b12c;
}

/// Windows that are tried.
const LADDER: [u64; 10] = [1, 2, 3, 4, 6, 8, 12, 16, 24, MAX_FOUND];

/// Yields over which a window is timed when it is first tried, and when it is tried again.
const FIRST: u64 = 512;
const AGAIN: u64 = 2048;

/// Yields that are skipped, for each task of the window, after a change before it is timed.
const SETTLING: u64 = 4;

/// The search stops after this many successive windows that are worse than the best, by this much
/// in 1/16.
const WORSE: (u64, usize) = (2, 2);

/// A new phase begins after this many successive timings that differ from the settled one, by this
/// much in 1/16.
const PHASE: (u64, u32) = (4, 4);

/// The number of tasks that share a thread.
pub(super) struct Pace {
    window: u64,
    search: Option<Search>,
}

/// Whether a search has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchEnded {
    /// It goes on, or there is none.
    No,
    /// It has just ended.
    Now,
    /// It has ended before. A new phase of the program does not change that.
    Before,
}

/// A search for the best window.
struct Search {
    found: SearchEnded,
    /// The mean time between yields, in 1/1024 cycles, with each window of the ladder that was timed.
    times: Vec<u64>,
    stage: Stage,
    /// The cycle at which the timing under way began, and the yields of the run before it.
    since: u64,
    mark: u64,
    /// The numbers of yields at which it begins and ends.
    from: u64,
    until: u64,
}

#[derive(Clone, Copy)]
enum Stage {
    /// The ladder's window of this number is tried.
    Climb(usize),
    /// The windows still to be tried again; the best of those that were, and its time.
    Compare {
        next: usize,
        last: usize,
        best: Option<(usize, u64)>,
    },
    /// The window is settled; its time, and how many successive timings differed from it.
    Settled { time: u64, strange: u32 },
}

impl Pace {
    pub fn new(window: super::Window) -> Pace {
        match window {
            super::Window::Fixed(window) => Pace { window, search: None },
            super::Window::Auto => Pace {
                window: LADDER[0],
                search: Some(Search {
                    found: SearchEnded::No,
                    times: Vec::new(),
                    stage: Stage::Climb(0),
                    since: 0,
                    mark: 0,
                    from: 0,
                    until: 0,
                }),
            },
        }
    }

    /// The present number of tasks that share the thread.
    pub fn window(&self) -> usize {
        self.window as usize
    }

    /// Whether the window has been found; `Now` once.
    pub fn found(&mut self) -> SearchEnded {
        match &mut self.search {
            Some(search) if search.found == SearchEnded::Now => {
                std::mem::replace(&mut search.found, SearchEnded::Before)
            }
            Some(search) => search.found,
            None => SearchEnded::No,
        }
    }

    /// Restarts the timing. The run has had `fences` yields before fences.
    pub fn restart<C: Cpu>(&mut self, cpu: &C, fences: u64) {
        if let Some(search) = &mut self.search {
            search.begin(cpu, fences, SETTLING * self.window);
        }
    }

    /// Changes the window if the run, after `fences` yields before fences, should; whether it did.
    pub fn look<C: Cpu>(&mut self, cpu: &C, fences: u64) -> bool {
        let Some(search) = &mut self.search else { return false };
        if cpu.word(fences).below(search.from).branch(STILL_SETTLES) {
            // Not settled yet: the timing begins with the last skipped yield.
            (search.since, search.mark) = (cpu.cycles().bits(), fences);
            return false;
        }
        if cpu.word(fences).below(search.until).branch(STILL_TIMES) {
            return false;
        }
        let now = cpu.cycles();
        let time = ((now - search.since) << 10).bits() / (fences - search.mark).max(1);
        let before = self.window;
        self.window = search.decide(time, self.window);
        let changed = self.window != before;
        search.begin(cpu, fences, if changed { SETTLING * self.window } else { 0 });
        changed
    }
}

impl Search {
    /// Starts the next timing after `pass` more yields.
    fn begin<C: Cpu>(&mut self, cpu: &C, fences: u64, pass: u64) {
        (self.since, self.mark) = (cpu.cycles().bits(), fences);
        self.from = fences + pass;
        self.until = self.from
            + match self.stage {
                Stage::Climb(_) => FIRST,
                Stage::Compare { .. } | Stage::Settled { .. } => AGAIN,
            };
    }

    /// The next window, given the time that this `window` took.
    fn decide(&mut self, time: u64, window: u64) -> u64 {
        match self.stage {
            Stage::Climb(at) => {
                self.times.push(time);
                if at + 1 < LADDER.len() && !self.only_gets_worse() {
                    self.stage = Stage::Climb(at + 1);
                    return LADDER[at + 1];
                }
                let best = fastest(&self.times);
                let next = best.saturating_sub(1);
                self.stage = Stage::Compare {
                    next,
                    last: (best + 1).min(LADDER.len() - 1),
                    best: None,
                };
                LADDER[next]
            }
            Stage::Compare { next, last, best } => {
                let best = best.filter(|(_, other)| *other <= time).unwrap_or((next, time));
                if next == last {
                    if self.found == SearchEnded::No {
                        self.found = SearchEnded::Now;
                    }
                    self.stage = Stage::Settled {
                        time: best.1,
                        strange: 0,
                    };
                    return LADDER[best.0];
                }
                self.stage = Stage::Compare {
                    next: next + 1,
                    last,
                    best: Some(best),
                };
                LADDER[next + 1]
            }
            Stage::Settled { time: known, strange } => {
                let strange = if time.abs_diff(known) * 16 > known * PHASE.0 {
                    strange + 1
                } else {
                    0
                };
                if strange < PHASE.1 {
                    self.stage = Stage::Settled { time: known, strange };
                    return window;
                }
                self.times.clear();
                self.stage = Stage::Climb(0);
                LADDER[0]
            }
        }
    }

    /// Whether the windows tried last were all worse than the best.
    fn only_gets_worse(&self) -> bool {
        let best = self.times[fastest(&self.times)];
        let (much, many) = WORSE;
        self.times.len() > many
            && self
                .times
                .iter()
                .rev()
                .take(many)
                .all(|time| *time * 16 > best * (16 + much))
    }
}

/// The shortest, the first of equal ones.
fn fastest(times: &[u64]) -> usize {
    (0..times.len()).min_by_key(|at| times[*at]).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search() -> Search {
        Pace::new(super::super::Window::Auto).search.expect("it searches")
    }

    /// Feeds a search with each window's time until it has settled: the window, and the number of
    /// timings.
    fn settle(search: &mut Search, mut window: u64, takes: impl Fn(u64) -> u64) -> (u64, u32) {
        for timings in 1..100 {
            window = search.decide(takes(window), window);
            if let Stage::Settled { .. } = search.stage {
                return (window, timings);
            }
        }
        panic!("it never settles");
    }

    #[test]
    fn it_settles_on_the_window_that_takes_least() {
        for best in LADDER {
            let takes = |window: u64| 1000 + window.abs_diff(best);
            assert_eq!(settle(&mut search(), LADDER[0], takes).0, best);
        }
        // Of equal ones on the smallest: it has the shortest latencies.
        assert_eq!(settle(&mut search(), LADDER[0], |_| 1000).0, LADDER[0]);
    }

    #[test]
    fn it_goes_no_further_up_once_windows_only_get_worse() {
        let takes = |window: u64| 1000 + 500 * window.abs_diff(2);
        // 1, 2, then 3 and 4, both worse by more than an eighth; then 1, 2 and 3 again.
        assert_eq!(settle(&mut search(), LADDER[0], takes), (2, 7));
    }

    #[test]
    fn it_searches_again_when_the_time_differs_for_long_and_not_before() {
        let mut search = search();
        let (window, _) = settle(&mut search, LADDER[0], |window| 1000 + window.abs_diff(8));
        for takes in [1400, 1400, 1400, 1000, 1400, 1400, 1400] {
            assert_eq!(search.decide(takes, window), window);
        }
        assert_eq!(search.decide(1400, window), LADDER[0]);
        let found = settle(&mut search, LADDER[0], |window| 1400 + window.abs_diff(24));
        assert_eq!(found.0, 24);
    }
}
