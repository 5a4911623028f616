//! Names of failing cases, by which they can be reproduced.

use super::sizes::is_set;
use std::fmt;
use std::str::FromStr;
use strandline_sim::{Error, Spec};

/// A crash point: the run, and the number of its durable events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrashPoint {
    /// The run.
    pub run: usize,
    /// The durable events before the crash.
    pub event: usize,
}

impl fmt::Display for CrashPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.run, self.event)
    }
}

impl FromStr for CrashPoint {
    type Err = Error;

    fn from_str(text: &str) -> Result<CrashPoint, Error> {
        let parsed = text.split_once(':').and_then(|(run, event)| {
            let (run, event) = (run.parse::<u32>().ok()?, event.parse::<u32>().ok()?);
            Some(CrashPoint {
                run: run as usize,
                event: event as usize,
            })
        });
        parsed.ok_or_else(|| {
            Error::Input(format!(
                "--replay {text}: must be RUN:EVENT, as a failure prints it (for example 2:57)"
            ))
        })
    }
}

/// The arguments of `strandline` that reproduce this crash point.
pub fn arguments(spec: &Spec, place: CrashPoint) -> String {
    format!("{} --replay {place}", command(spec))
}

/// The arguments of `strandline` that repeat this exploration, from `crash` on.
#[must_use]
pub fn command(spec: &Spec) -> String {
    let mut words = vec![
        "crash".to_owned(),
        spec.workload.clone(),
        "-d".to_owned(),
        spec.design.clone(),
    ];
    let mut option = |name: &str, value: Option<String>| {
        words.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
    };
    option("-m", spec.machine.clone());
    option("--runtime", spec.runtime.clone());
    option("--threads", Some(spec.threads_of_workload().to_string()));
    option("--tasks", spec.tasks.map(|n| n.to_string()));
    option("--window", spec.window.map(|n| n.to_string()));
    option("--coroutines", spec.coroutines.clone());
    option("--bmo", spec.bmo.map(|n| n.to_string()));
    option("--seed", Some(spec.seed.to_string()));
    for set in &spec.set {
        option("--set", Some(set.clone()));
    }
    words.iter().map(|word| quoted(word)).collect::<Vec<String>>().join(" ")
}

/// A word, quoted for a POSIX shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// `spec` with another setting, which replaces an earlier one of the same key.
pub fn with_set(spec: &Spec, set: String) -> Spec {
    let key = set.split('=').next().unwrap_or_default().to_owned();
    let mut spec = spec.clone();
    if is_set(&spec, &key) {
        spec.set.retain(|other| other.split('=').next() != Some(&key));
    }
    spec.set.push(set);
    spec
}

#[cfg(test)]
mod tests {
    use super::*;
    use strandline_sim::{FoundBy, Window};

    #[test]
    fn a_place_is_read_as_it_is_written() {
        let place = CrashPoint { run: 2, event: 57 };
        assert_eq!(place.to_string().parse(), Ok(place));
    }

    #[test]
    fn a_bad_place_says_what_it_must_be() {
        for wrong in ["", "2", "2:", ":57", "a:b", "2:57:1", "-1:3"] {
            let Err(Error::Input(line)) = wrong.parse::<CrashPoint>() else {
                panic!("{wrong} was taken")
            };
            assert!(line.contains("must be RUN:EVENT") && !line.contains('\n'), "{line}");
        }
    }

    #[test]
    fn arguments_say_all_that_the_user_said_and_survive_a_shell() {
        let mut spec = Spec::new("sps", "unordered");
        spec.machine = Some("my machine's.toml".into());
        spec.tasks = Some(3);
        spec.window = Some(Window::Tasks(5));
        spec.coroutines = Some("lean".into());
        spec.seed = 7;
        spec.set = vec!["machine.simulation.jitter=9".into()];
        assert_eq!(
            arguments(&spec, CrashPoint { run: 2, event: 57 }),
            r"crash sps -d unordered -m 'my machine'\''s.toml' --threads 1 --tasks 3 --window 5 --coroutines lean --seed 7 --set machine.simulation.jitter=9 --replay 2:57"
        );
    }

    #[test]
    fn arguments_say_that_the_window_was_found() {
        let mut spec = Spec::new("sps", "cosplay");
        spec.window = Some(Window::Found(FoundBy::Auto));
        let words = arguments(&spec, CrashPoint { run: 0, event: 1 });
        assert_eq!(
            words,
            "crash sps -d cosplay --threads 1 --window auto --seed 1 --replay 0:1"
        );
    }
}
