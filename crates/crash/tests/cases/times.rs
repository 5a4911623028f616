//! How long each suite takes.

use std::collections::BTreeMap;
use std::sync::Mutex;

/// What each suite took.
#[derive(Default)]
pub struct Times {
    suites: Mutex<BTreeMap<&'static str, Taken>>,
}

#[derive(Default)]
struct Taken {
    cases: u64,
    seconds: f64,
    /// The name and seconds of its longest case.
    longest: (f64, String),
}

impl Times {
    /// Runs a case of a suite.
    pub fn of<T>(&self, suite: &'static str, name: String, case: impl FnOnce() -> T) -> T {
        let (done, seconds) = timed(case);
        let mut suites = self.suites.lock().expect("no case panics while it holds the times");
        let taken = suites.entry(suite).or_default();
        taken.cases += 1;
        taken.seconds += seconds;
        if seconds > taken.longest.0 {
            taken.longest = (seconds, name);
        }
        done
    }

    /// Prints a line for each suite.
    pub fn print(&self) {
        let suites = self.suites.lock().expect("no case panics while it holds the times");
        println!("suite         cases   seconds  longest case");
        for (suite, taken) in suites.iter() {
            let (longest, name) = &taken.longest;
            println!(
                "{suite:12} {:6} {:9.1}  {longest:.1} s: {name}",
                taken.cases, taken.seconds
            );
        }
    }
}

/// The result and this thread's processor time in seconds.
pub fn timed<T>(run: impl FnOnce() -> T) -> (T, f64) {
    let before = on_processor();
    let done = run();
    (done, on_processor() - before)
}

fn on_processor() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds: Option<f64> = told.split(' ').next().and_then(|first| first.parse().ok());
    nanoseconds.unwrap_or(0.0) / 1e9
}
