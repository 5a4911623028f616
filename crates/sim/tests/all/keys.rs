//! The keys of a record: each is declared once and has a flat value.

use serde_json::Value;
use std::collections::BTreeSet;
use strandline_sim::{run, Record, Spec};

#[test]
fn a_record_has_the_declared_keys_and_no_others() {
    let spec = Spec {
        tasks: Some(20),
        ..Spec::new("sps", "asap-rp")
    };
    let record = serde_json::to_value(run(&spec).expect("runs")).expect("a record is JSON");
    let Value::Object(values) = record else {
        panic!("a record is flat: {record}")
    };
    let names: Vec<String> = Record::all_keys().into_iter().map(|key| key.name).collect();
    let declared: BTreeSet<&String> = names.iter().collect();
    assert_eq!(declared.len(), names.len(), "each once");
    assert_eq!(values.keys().collect::<BTreeSet<_>>(), declared);
}
