//! Litmus tests from cycles: of accesses, of what orders those of a thread, and of communication between threads. One link
//! of a cycle may be a crash, that finds the last access durable and the first one not.

mod build;
mod canon;
mod edge;
mod family;
mod judge;
mod select;
mod shape;

use std::collections::BTreeMap;
use strandline_order::Fault;

/// All generated tests: the text of each by its path below `litmus/`.
///
/// # Errors
/// A test has too many executions, or a built-in model is wrong.
pub fn generate() -> Result<BTreeMap<String, String>, Fault> {
    let judge = judge::Judge::new()?;
    let mut kept = select::Kept::beside_the_shelf()?;
    let mut files = BTreeMap::new();
    for family in family::FAMILIES {
        for (name, text) in kept.of_family(family, &judge)? {
            files.insert(format!("{}/{name}.litmus", family.folder), text);
        }
    }
    Ok(files)
}
