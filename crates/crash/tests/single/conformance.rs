//! Litmus tests on designs.

use strandline_crash::litmus::{conform, Registered};
use strandline_order::shelf;

#[test]
fn the_same_seed_shows_the_same() {
    let design = Registered::named("x86").expect("registered");
    let entry = shelf().into_iter().find(|entry| entry.path == "classic/mp+plain+dram");
    let test = entry.expect("is on the shelf").test().expect("a right test");
    let runs: Vec<String> = (0..2)
        .map(|_| format!("{:?}", conform(&design, &test, None, 20, 7)))
        .collect();
    assert_eq!(runs[0], runs[1]);
}
