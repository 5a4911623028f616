//! Names of crash states, by which they can be visited again.

use crate::order::PmPlace;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// A crash state's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StateName {
    /// Before the program: `initial`.
    Initial,
    /// All that it stored: `final`.
    Final,
    /// A state of an interval between two moments at which a store becomes durable: `7:all`; `o3.7:all` in another
    /// order than the recorded one, which has number 0.
    In(u32, u64, Which),
}

/// One of an interval's states.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Which {
    /// Everything is present except in these lines, which have the set of this number: `7:all,3f=0,41=2`.
    All(BTreeMap<PmPlace, u64>),
    /// No pending store is present except in these lines: `7:none,3f=1`.
    None(BTreeMap<PmPlace, u64>),
    /// The draw of this number by a seed: `7:r1.12`.
    Drawn(u64, u64),
}

impl fmt::Display for StateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StateName::Initial => f.write_str("initial"),
            StateName::Final => f.write_str("final"),
            StateName::In(0, interval, which) => write!(f, "{interval}:{which}"),
            StateName::In(order, interval, which) => write!(f, "o{order}.{interval}:{which}"),
        }
    }
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (base, lines) = match self {
            Which::All(lines) => ("all", lines),
            Which::None(lines) => ("none", lines),
            Which::Drawn(seed, number) => return write!(f, "r{seed}.{number}"),
        };
        f.write_str(base)?;
        lines
            .iter()
            .try_for_each(|(line, index)| write!(f, ",{:x}={index}", line / 64))
    }
}

impl FromStr for StateName {
    type Err = String;

    fn from_str(text: &str) -> Result<StateName, String> {
        match text {
            "initial" => return Ok(StateName::Initial),
            "final" => return Ok(StateName::Final),
            _ => {}
        }
        let named = text.split_once(':').and_then(|(interval, which)| {
            let (order, interval) = order(interval)?;
            Some(StateName::In(order, interval.parse().ok()?, self::which(which)?))
        });
        let mend = "give one as a failing case names it, such as 7:all,3f=0";
        named.ok_or_else(|| format!("`{text}` is no crash state: {mend}"))
    }
}

/// The order before an interval; the recorded one has no prefix.
fn order(text: &str) -> Option<(u32, &str)> {
    let Some(named) = text.strip_prefix('o') else {
        return Some((0, text));
    };
    let (order, interval) = named.split_once('.')?;
    let order = order.parse().ok().filter(|order| *order > 0)?;
    Some((order, interval))
}

fn which(text: &str) -> Option<Which> {
    if let Some((seed, number)) = text.strip_prefix('r').and_then(|drawn| drawn.split_once('.')) {
        return Some(Which::Drawn(seed.parse().ok()?, number.parse().ok()?));
    }
    let mut parts = text.split(',');
    let base = parts.next()?;
    let line = |part: &str| {
        let (line, index) = part.split_once('=')?;
        let line = u64::from_str_radix(line, 16).ok()?.checked_mul(64)?;
        Some((line, index.parse().ok()?))
    };
    let lines = parts.map(line).collect::<Option<BTreeMap<PmPlace, u64>>>()?;
    match base {
        "all" => Some(Which::All(lines)),
        "none" => Some(Which::None(lines)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for name in [
            "initial",
            "final",
            "0:all",
            "7:all,3f=0,41=2",
            "12:none,1000000000000=7",
            "3:r18446744073709551615.4",
            "o3.7:all,3f=0",
            "o12.0:r1.2",
        ] {
            assert_eq!(
                name.parse::<StateName>().map(|state| state.to_string()),
                Ok(name.to_owned())
            );
        }
    }

    #[test]
    fn other_texts_are_no_names() {
        for text in [
            "",
            "7",
            ":all",
            "7:most",
            "7:all,",
            "7:all,3f",
            "7:r1",
            "7:none,xyz=1",
            "x:all",
            "o0.1:all",
            "o1:all",
            "o.1:all",
            "7:all,ffffffffffffffff=1",
        ] {
            assert!(
                text.parse::<StateName>()
                    .is_err_and(|why| why.contains("no crash state")),
                "{text}"
            );
        }
    }
}
