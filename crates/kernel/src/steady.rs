//! How far the mean of a stream may be off, and whether the stream drifts: batch means.
//!
//! Batches are parts of a run of equal time. Their means are nearly independent and normal where they are long, so the
//! interval of the whole mean is Student's (Law and Kelton, *Simulation Modeling and Analysis*, 9.5.3; the test of von
//! Neumann decides how long, as in Fishman and Yarberry's LBATCH, INFORMS J. Computing 1997).

/// Batches below which there is no interval: fewer have wide ones, and show no correlation.
pub const LEAST_BATCHES: usize = 8;

/// Student's t for 95 %, two-sided, from 1 degree of freedom on; any statistics table has them.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/// The normal distribution's two-sided 95 %.
const NORMAL: f64 = 1.959_964;

/// The quantile of the normal distribution that 10 % exceed: neighbours that are this much alike are put together.
const ALIKE: f64 = 1.2816;

/// As [`ALIKE`], of neighbours that are opposed (1 % exceed it): their intervals are only too wide.
const OPPOSED: f64 = -2.3263;

/// The two-sided 1 % of the normal distribution: how sure a drift must be.
const SURE: f64 = 2.5758;

/// Student's t for 95 %, two-sided.
fn student(freedom: usize) -> f64 {
    if let Some(t) = STUDENT.get(freedom.saturating_sub(1)) {
        return *t;
    }
    // The first terms of its expansion around the normal distribution (Cornish and Fisher): off by less than 0.001 here.
    let (z, n) = (NORMAL, freedom as f64);
    z + (z.powi(3) + z) / (4.0 * n) + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * n * n)
}

/// Half the width of the 95 % interval of the mean of `parts`, which are of equal time.
///
/// Neighbours are put together while they are correlated and more than [`LEAST_BATCHES`] are left; `None` for fewer. What
/// correlation is left widens the interval as it does in a process of first order: without that, intervals hold the mean in
/// 82 to 95 % of this file's synthetic runs.
#[must_use]
pub fn half_width(parts: &[f64]) -> Option<f64> {
    let Batches { sums, parts } = longest(parts)?;
    let n = sums.len() as f64;
    let alike = likeness(&sums).max(0.0);
    let variance = squares(&sums) / (n - 1.0) * (1.0 + alike) / (1.0 - alike);
    let deviation = variance.sqrt();
    Some(student(sums.len() - 1) * deviation / n.sqrt() / parts as f64)
}

/// As [`half_width`], of a stream that is known to drift: what chance makes of the mean beside the drift.
///
/// The variance is that of the steps from batch to batch, of which a slow change is hardly a part (von Neumann's mean square
/// successive difference). Runs that do the same tasks under several designs drift alike, so that this is what a comparison
/// of them hangs on.
#[must_use]
pub fn half_width_beside_drift(parts: &[f64]) -> Option<f64> {
    let together = longest(&beside_line(parts))?.parts;
    let batches: Vec<f64> = parts.chunks_exact(together).map(|batch| batch.iter().sum()).collect();
    let n = batches.len() as f64;
    let variance = steps(&batches) / (2.0 * (n - 1.0));
    Some(student(batches.len() - 1) * (variance / n).sqrt() / together as f64)
}

/// Whether the parts rise or fall: the test of Mann and Kendall, at 1 %; `None` if there are fewer than
/// [`LEAST_BATCHES`].
///
/// Neighbours that are correlated beside a straight line are put together first, as far as [`LEAST_BATCHES`] allow,
/// because the test takes a slow wave for a drift.
#[must_use]
pub fn drifts(parts: &[f64]) -> Option<bool> {
    let together = longest(&beside_line(parts))?.parts;
    let batches: Vec<f64> = parts.chunks_exact(together).map(|batch| batch.iter().sum()).collect();
    let n = batches.len() as f64;
    let pairs = (1..batches.len()).flat_map(|late| (0..late).map(move |early| (early, late)));
    let score: f64 = pairs.map(|(early, late)| sign(batches[late] - batches[early])).sum();
    let deviation = (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    Some((score.abs() - 1.0) / deviation > SURE)
}

/// What is left of the parts without the straight line that fits them best.
fn beside_line(parts: &[f64]) -> Vec<f64> {
    let middle = (parts.len() as f64 - 1.0) / 2.0;
    let mean = parts.iter().sum::<f64>() / parts.len() as f64;
    let places = || (0..parts.len()).map(|part| part as f64 - middle);
    let lean: f64 = places().zip(parts).map(|(place, part)| place * part).sum();
    let slope = lean / places().map(|place| place * place).sum::<f64>().max(1.0);
    let beside = places().zip(parts).map(|(place, part)| part - mean - slope * place);
    beside.collect()
}

fn sign(difference: f64) -> f64 {
    if difference == 0.0 {
        0.0
    } else {
        difference.signum()
    }
}

/// Parts put together.
struct Batches {
    /// The sum of each batch.
    sums: Vec<f64>,
    /// The parts of a batch.
    parts: usize,
}

/// Batches whose neighbours are not correlated, or the longest of which there are [`LEAST_BATCHES`].
fn longest(parts: &[f64]) -> Option<Batches> {
    let mut batches = Batches {
        sums: parts.to_vec(),
        parts: 1,
    };
    while batches.sums.len() >= 2 * LEAST_BATCHES && !(OPPOSED..=ALIKE).contains(&correlation(&batches.sums)) {
        batches.sums = halved(&batches.sums);
        batches.parts *= 2;
    }
    (batches.sums.len() >= LEAST_BATCHES).then_some(batches)
}

/// Each two neighbours as one; a last one without a neighbour is left out.
fn halved(batches: &[f64]) -> Vec<f64> {
    batches.chunks_exact(2).map(|pair| pair[0] + pair[1]).collect()
}

/// The correlation of neighbours, by von Neumann's ratio.
fn likeness(batches: &[f64]) -> f64 {
    match squares(batches) {
        0.0 => 0.0,
        squares => 1.0 - steps(batches) / (2.0 * squares),
    }
}

/// The sum of squared differences between neighbours.
fn steps(batches: &[f64]) -> f64 {
    batches.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum()
}

/// The correlation of neighbours, in standard deviations of what chance yields.
fn correlation(batches: &[f64]) -> f64 {
    let n = batches.len() as f64;
    likeness(batches) / ((n - 2.0) / (n * n - 1.0)).sqrt()
}

/// The sum of squared differences to the mean.
fn squares(batches: &[f64]) -> f64 {
    let mean = batches.iter().sum::<f64>() / batches.len() as f64;
    batches.iter().map(|batch| (batch - mean).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    /// A number that is nearly normal, of mean 0 and deviation 1.
    fn normal(rng: &mut Rng) -> f64 {
        let uniform = |rng: &mut Rng| rng.below(1 << 32) as f64 / (1u64 << 32) as f64;
        (0..12).map(|_| uniform(rng)).sum::<f64>() - 6.0
    }

    /// A stationary stream of mean 100 and deviation 10, each of whose values has this share of the one before it.
    fn stream(seed: u64, share: f64, length: usize) -> Vec<f64> {
        let mut rng = Rng::new(seed);
        let mut off = normal(&mut rng);
        let mut next = || {
            off = share * off + (1.0 - share * share).sqrt() * normal(&mut rng);
            100.0 + 10.0 * off
        };
        (0..length).map(|_| next()).collect()
    }

    #[test]
    fn students_t_is_that_of_the_tables() {
        for (freedom, t) in [
            (1, 12.706),
            (7, 2.365),
            (30, 2.042),
            (40, 2.021),
            (60, 2.000),
            (120, 1.980),
        ] {
            assert!((student(freedom) - t).abs() < 0.001, "{freedom}: {}", student(freedom));
        }
    }

    #[test]
    fn independent_parts_have_the_interval_of_their_variance() {
        // Deviation 10 over 64 parts: 1.998 * 10 / 8.
        let found: Vec<f64> = (0..200).filter_map(|seed| half_width(&stream(seed, 0.0, 64))).collect();
        let mean = found.iter().sum::<f64>() / found.len() as f64;
        // A little more for what correlation chance may hide.
        assert!((2.5..2.7).contains(&mean), "{mean}");
    }

    /// The share of runs whose interval holds the mean.
    fn coverage(share: f64) -> f64 {
        let holds = |seed: &u64| {
            let parts = stream(*seed, share, 64);
            let mean = parts.iter().sum::<f64>() / parts.len() as f64;
            (mean - 100.0).abs() <= half_width(&parts).unwrap()
        };
        (0..2000).filter(holds).count() as f64 / 2000.0
    }

    #[test]
    fn about_95_of_100_intervals_hold_the_mean() {
        // The more parts are alike, the fewer batches are left, and the less is known of their variance.
        for (share, least, most) in [
            (-0.5, 0.94, 0.99),
            (0.0, 0.94, 0.97),
            (0.3, 0.93, 0.97),
            (0.6, 0.91, 0.97),
        ] {
            let held = coverage(share);
            assert!((least..most).contains(&held), "{share}: {held}");
        }
    }

    #[test]
    fn a_drift_is_found_and_none_where_there_is_none() {
        let found = |share, slope: f64| {
            let drifting = |seed| {
                let parts = stream(seed, share, 64).into_iter().zip(0..);
                parts
                    .map(|(part, at)| part + slope * f64::from(at))
                    .collect::<Vec<f64>>()
            };
            (0..1000).filter(|seed| drifts(&drifting(*seed)) == Some(true)).count()
        };
        for share in [0.0, 0.3, 0.6] {
            assert!(found(share, 0.0) <= 30, "{share}: {} of 1000 drift", found(share, 0.0));
        }
        // By twice the deviation of a part, from the first to the last.
        assert!(found(0.0, 0.3) >= 900, "{}", found(0.0, 0.3));
        assert!(found(0.0, -0.3) >= 900, "{}", found(0.0, -0.3));
    }

    #[test]
    fn a_drift_widens_no_interval_beside_it() {
        let drifting = |seed| {
            let parts = stream(seed, 0.0, 64).into_iter().zip(0..);
            parts.map(|(part, at)| part + 5.0 * f64::from(at)).collect::<Vec<f64>>()
        };
        let mean = |found: &dyn Fn(u64) -> Option<f64>| (0..200).filter_map(found).sum::<f64>() / 200.0;
        // Of independent parts it is their own, 2.5; a step of 5 a part adds an eighth to a variance of 100, or more where
        // parts that chance made alike are put together.
        let beside = mean(&|seed| half_width_beside_drift(&drifting(seed)));
        assert!((2.5..3.1).contains(&beside), "{beside}");
        let plain = mean(&|seed| half_width_beside_drift(&stream(seed, 0.0, 64)));
        assert!((2.4..2.9).contains(&plain), "{plain}");
        assert!(mean(&|seed| half_width(&drifting(seed))) > 100.0, "many times as wide");
    }

    #[test]
    fn few_parts_have_no_interval_and_a_slope_has_a_wide_one() {
        let few = stream(1, 0.0, LEAST_BATCHES - 1);
        assert_eq!((half_width(&few), drifts(&few)), (None, None));
        let rising: Vec<f64> = (0..64).map(f64::from).collect();
        assert!(
            half_width(&rising).unwrap() > 64.0 && drifts(&rising) == Some(true),
            "{:?}",
            half_width(&rising)
        );
        let equal = [7.0; 16];
        assert_eq!((half_width(&equal), drifts(&equal)), (Some(0.0), Some(false)));
    }
}
