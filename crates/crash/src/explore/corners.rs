//! Extreme values of a design's parameters: a buffer of one or two entries fills up where a paper's does not.

use strandline_kernel::{Param, Rng};

/// A separate random stream for parameters. So the machines of a seed do not depend on the number of parameters.
const OWN_STREAM: u64 = 0xc0_12e5;

/// Values for some of a design's parameters, from the seed: the minimum, or two. Half of all seeds change nothing.
pub fn corners<'a>(params: impl Iterator<Item = &'a Param>, seed: u64) -> Vec<(&'static str, u64)> {
    let mut rng = Rng::new(seed ^ OWN_STREAM);
    if rng.one_in(2) {
        return Vec::new();
    }
    params
        .filter_map(|param| match rng.below(3) {
            0 => Some((param.name, param.min)),
            1 => Some((param.name, 2.clamp(param.min, param.max))),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const PARAMS: [Param; 2] = [param("entries", 1), param("epochs", 4)];

    const fn param(name: &'static str, min: u64) -> Param {
        Param {
            name,
            default: 32,
            min,
            max: 64,
            help: "",
            source: "",
            words: &[],
        }
    }

    #[test]
    fn every_corner_is_met_and_so_is_the_design_as_it_is() {
        let met: BTreeSet<_> = (0..100).map(|seed| corners(PARAMS.iter(), seed)).collect();
        assert!(met.contains(&Vec::new()) && met.contains(&vec![("entries", 2)]));
        assert!(met.contains(&vec![("entries", 1), ("epochs", 4)]));
        assert_eq!(met.len(), 6, "none, 1 or 2 of one, 4 or none of the other: {met:?}");
    }
}
