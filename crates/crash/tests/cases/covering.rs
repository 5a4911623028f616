//! Rows that cover all pairs (or triples) of values, instead of all combinations.

/// Whether a row with open values can be completed to a possible one.
pub type Fits<'a> = &'a dyn Fn(&[Option<usize>]) -> bool;

/// Rows with one value per axis, such that all compatible values of any `strength` axes occur together in some row.
///
/// Greedy: a row starts with an uncovered combination, and each other axis takes the value that covers most. The same
/// axes give the same rows.
pub fn rows(sizes: &[usize], strength: usize, fits: Fits<'_>) -> Vec<Vec<usize>> {
    let mut open: Vec<Partial> = partials(sizes, strength)
        .into_iter()
        .filter(|partial| fits(partial))
        .collect();
    let mut rows = Vec::new();
    while let Some(first) = open.last() {
        let row = complete(first.clone(), sizes, &open, fits);
        open.retain(|partial| !covers(&row, partial));
        rows.push(row);
    }
    rows
}

/// A row with some chosen values.
type Partial = Vec<Option<usize>>;

/// All values of any `strength` axes.
fn partials(sizes: &[usize], strength: usize) -> Vec<Partial> {
    let mut partials: Vec<Partial> = vec![Vec::new()];
    for size in sizes {
        let longer = partials.iter().flat_map(|partial| {
            let chosen = partial.iter().flatten().count();
            let values = (0..*size).filter(move |_| chosen < strength).map(Some);
            values.chain([None]).map(|value| [&partial[..], &[value]].concat())
        });
        partials = longer.collect();
    }
    partials.retain(|partial| partial.iter().flatten().count() == strength.min(sizes.len()));
    partials
}

fn complete(mut row: Partial, sizes: &[usize], open: &[Partial], fits: Fits<'_>) -> Vec<usize> {
    for axis in 0..sizes.len() {
        if row[axis].is_none() {
            row[axis] = best(&row, axis, sizes[axis], open, fits);
        }
    }
    row.into_iter()
        .map(|value| value.expect("every axis has a value that fits"))
        .collect()
}

/// The value of an axis that agrees with most of the open partial rows, preferring those that it completes; the first
/// of equals.
fn best(row: &Partial, axis: usize, size: usize, open: &[Partial], fits: Fits<'_>) -> Option<usize> {
    let mut gains = vec![0u64; size];
    for partial in open {
        let Some(value) = partial[axis] else { continue };
        let others = || partial.iter().zip(row).enumerate().filter(|(index, _)| *index != axis);
        if others().all(|(_, (wanted, chosen))| wanted.is_none() || chosen.is_none() || wanted == chosen) {
            let missing = others()
                .filter(|(_, (wanted, chosen))| wanted.is_some() && chosen.is_none())
                .count();
            gains[value] += 1 << (8 * 2usize.saturating_sub(missing));
        }
    }
    let with = |value: usize| {
        let mut row = row.clone();
        row[axis] = Some(value);
        row
    };
    (0..size)
        .rev()
        .filter(|value| fits(&with(*value)))
        .max_by_key(|value| gains[*value])
}

fn covers(row: &[usize], partial: &Partial) -> bool {
    let mut pairs = row.iter().zip(partial);
    pairs.all(|(value, wanted)| wanted.is_none_or(|wanted| wanted == *value))
}

/// Tests that compatible values are covered, incompatible ones are left out, and rows are few.
pub fn proof() -> Result<(), String> {
    let sizes = [14, 9, 5, 2, 3, 2];
    let fits = |row: &[Option<usize>]| !(row[0] == Some(3) && row[1] == Some(1));
    for (strength, most) in [(1, 14), (2, 140), (3, 760)] {
        let rows = rows(&sizes, strength, &fits);
        for partial in partials(&sizes, strength) {
            let covered = rows.iter().any(|row| covers(row, &partial));
            if covered != fits(&partial) {
                return Err(format!("strength {strength}: {partial:?} covered: {covered}"));
            }
        }
        if rows.len() > most {
            return Err(format!("strength {strength}: {} rows", rows.len()));
        }
    }
    Ok(())
}
