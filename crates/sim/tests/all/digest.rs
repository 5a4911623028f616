//! Digests of runs.

use strandline_sim::{observe, run, Spec};

fn spec(seed: u64) -> Spec {
    Spec {
        tasks: Some(20),
        seed,
        set: vec!["workload.rows=100".to_owned()],
        ..Spec::new("sps", "x86")
    }
}

#[test]
fn a_run_has_its_digests_again_and_another_run_has_others() {
    let [first, again, other] = [1, 1, 2].map(|seed| observe(&spec(seed)).unwrap().digests());
    assert_eq!(first, again);
    assert_eq!(first.len(), 4);
    for (part, digest) in first {
        assert_ne!(digest, other[part], "{part}");
    }
}

#[test]
fn a_count_without_a_key_is_part_of_the_digest() {
    let mut record = run(&spec(1)).unwrap();
    let before = record.digests();
    record.stats.mispredictions += 1;
    assert_ne!(record.digests(), before);
}
