//! Names of crash states of simulated runs, by which they can be visited again.

use std::fmt;
use std::str::FromStr;
use strandline_sim::Error;

/// A crash state's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// Before the program: `initial`.
    Initial,
    /// All that it stored: `final`.
    Final,
    /// What a run left.
    At(Point),
}

/// A crash of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point {
    /// The run.
    pub run: usize,
    /// The durable events before the crash.
    pub event: usize,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "run{}:{}", self.run, self.event)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Initial => f.write_str("initial"),
            Name::Final => f.write_str("final"),
            Name::At(point) => point.fmt(f),
        }
    }
}

impl FromStr for Name {
    type Err = Error;

    fn from_str(text: &str) -> Result<Name, Error> {
        match text {
            "initial" => return Ok(Name::Initial),
            "final" => return Ok(Name::Final),
            _ => {}
        }
        point(text).map(Name::At).ok_or_else(|| {
            Error::Input(format!(
                "--replay: `{text}` is no crash state under this design: give one as a failing case names it, such as run3:412"
            ))
        })
    }
}

fn point(text: &str) -> Option<Point> {
    let (run, event) = text.strip_prefix("run")?.split_once(':')?;
    Some(Point {
        run: run.parse::<u32>().ok()? as usize,
        event: event.parse::<u32>().ok()? as usize,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_is_written() {
        for text in ["initial", "final", "run3:412", "run0:0", "run7:12"] {
            assert_eq!(text.parse::<Name>().map(|name| name.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn a_bad_name_says_what_it_must_be() {
        for wrong in [
            "",
            "3:412",
            "run3",
            "run:4",
            "run3:",
            "run3:4+1",
            "run-1:4",
            "7:all,3f=0",
        ] {
            let Err(Error::Input(line)) = wrong.parse::<Name>() else {
                panic!("{wrong} was taken")
            };
            assert!(line.contains("such as run3:412") && !line.contains('\n'), "{line}");
        }
    }
}
