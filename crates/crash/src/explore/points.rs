//! Which crash points are judged.

use serde::Deserialize;
use std::str::FromStr;
use strandline_kernel::{Rng, TypeName};
use strandline_sim::Error;

/// The number of judged crash points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Asked")]
pub enum Points {
    /// This many, spread over all runs; fewer if there are fewer.
    Count(u64),
    /// Every one of every run.
    All,
}

/// As a request has it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Asked {
    Count(u64),
    Text(String),
}

impl TryFrom<Asked> for Points {
    type Error = Error;

    fn try_from(asked: Asked) -> Result<Points, Error> {
        match asked {
            Asked::Count(count) => count.to_string().parse(),
            Asked::Text(text) => text.parse(),
        }
    }
}

impl TypeName for Points {
    fn type_name() -> String {
        "int | str".to_owned()
    }
}

impl FromStr for Points {
    type Err = Error;

    fn from_str(text: &str) -> Result<Points, Error> {
        match (text, text.parse()) {
            ("all", _) => Ok(Points::All),
            (_, Ok(count)) if count > 0 => Ok(Points::Count(count)),
            _ => Err(Error::Input(format!(
                "--points {text}: must be a number of crash states, at least 1, or `all`"
            ))),
        }
    }
}

impl Points {
    /// The share of run `number` of `runs`.
    pub fn share(self, number: usize, runs: usize) -> Points {
        let (number, runs) = (number as u64, runs as u64);
        match self {
            Points::Count(count) => Points::Count(count / runs + u64::from(number < count % runs)),
            Points::All => Points::All,
        }
    }

    /// The points of a run with this many durable events, in order. Point n is the crash directly after event n; point
    /// 0 precedes the first event. A number of points is spread evenly: a random one in each of equal intervals, and
    /// the last.
    pub fn of(self, events: usize, seed: u64) -> Vec<usize> {
        let spans = match self {
            Points::Count(0) => return Vec::new(),
            Points::Count(count) if count <= events as u64 => count as usize - 1,
            _ => return (0..=events).collect(),
        };
        let mut rng = Rng::new(seed);
        let start = |span: usize| span * events / spans;
        let pick = |span| start(span) + rng.below((start(span + 1) - start(span)) as u64) as usize;
        (0..spans).map(pick).chain([events]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn points_are_as_many_as_asked_for_distinct_in_order_and_end_with_the_last(
            count in 1u64..300, events in 0usize..300, seed: u64,
        ) {
            let points = Points::Count(count).of(events, seed);
            prop_assert_eq!(points.len(), (count as usize).min(events + 1));
            prop_assert!(points.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert_eq!(points.last(), Some(&events));
        }
    }

    #[test]
    fn shares_add_up() {
        let shares = (0..8).map(|number| Points::Count(1001).share(number, 8));
        let total = shares.map(|share| if let Points::Count(count) = share { count } else { 0 });
        assert_eq!(total.sum::<u64>(), 1001);
    }

    #[test]
    fn points_are_a_positive_number_or_all() {
        assert_eq!("all".parse(), Ok(Points::All));
        assert_eq!("12".parse(), Ok(Points::Count(12)));
        for wrong in ["0", "-1", "some", ""] {
            let Err(Error::Input(line)) = wrong.parse::<Points>() else {
                panic!("{wrong} was taken")
            };
            assert!(line.starts_with(&format!("--points {wrong}: must be")), "{line}");
        }
    }
}
