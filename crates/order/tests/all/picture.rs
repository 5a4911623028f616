//! Graphs of executions, written by hand.

use strandline_order::{picture, Model, Picture, Test};

fn drawn(text: &str, model: &str, state: &str) -> Result<Picture, String> {
    let test = Test::parse(text).unwrap_or_else(|fault| panic!("{fault}"));
    let model = Model::named(model).unwrap_or_else(|fault| panic!("{fault}"));
    let state = test.read_state(state).unwrap_or_else(|message| panic!("{message}"));
    picture(&test, &model, &state).map_err(|fault| fault.to_string())
}

const FENCED: &str = "X86 a\n{ }\n P0 ;\n MOV [x],$1 ;\n CLWB [x] ;\n SFENCE ;\n MOV [y],$1 ;\n~exists (x=0 /\\ y=1)";

/// The graph of [`FENCED`], with durable events filled, and its persist order. Events 0 and 1 are initial writes, which
/// no read reads from.
fn fenced(x: &str, y: &str, pmo: &str) -> String {
    format!(
        r#"digraph execution {{
  rankdir=TB;
  node [shape=box, fontname="monospace", style=""];
  subgraph cluster_0 {{
    label="P0"; color=gray;
    e2 [label="MOV [x],$1  writes 1"{x}];
    e3 [label="CLWB [x]"];
    e2 -> e3 [label="po", color=gray, fontcolor=gray];
    e4 [label="SFENCE"];
    e3 -> e4 [label="po", color=gray, fontcolor=gray];
    e5 [label="MOV [y],$1  writes 1"{y}];
    e4 -> e5 [label="po", color=gray, fontcolor=gray];
  }}
  e2 -> e5 [{pmo}, constraint=false];
}}
"#
    )
}

const FILLED: &str = ", style=filled, fillcolor=lightblue";
const ORDERS: &str = r#"label="pmo", color=blue, fontcolor=blue"#;
const FORBIDS: &str = r#"label="pmo: forbids", color=red, fontcolor=red, penwidth=2.5"#;

#[test]
fn of_allowed_states() {
    for (state, x, y) in [
        ("x=0 y=0", "", ""),
        ("x=1 y=0", FILLED, ""),
        ("x=1 y=1", FILLED, FILLED),
    ] {
        let picture = drawn(FENCED, "px86", state).expect("a picture");
        assert!(picture.allowed, "{state}");
        assert_eq!(picture.dot, fenced(x, y, ORDERS), "{state}");
    }
}

#[test]
fn of_a_forbidden_state() {
    let picture = drawn(FENCED, "px86", "x=0 y=1").expect("a picture");
    assert!(!picture.allowed);
    assert_eq!(picture.dot, fenced("", FILLED, FORBIDS));
    // A model without such an order allows it.
    let picture = drawn(FENCED, "none", "x=0 y=1").expect("a picture");
    assert!(picture.allowed && !picture.dot.contains("pmo"), "{}", picture.dot);
}

#[test]
fn of_two_threads() {
    let text = "X86 a\nVolatile=f\n{ f=3; }\n P0 | P1 ;\n MOV [x],$1 | MOV EAX,[f] ;\n MOV [x],$2 | MOV [y],EAX ;\nexists (x=2)";
    // The state needs only that the flag's initial value is read: event 0. Events 1 and 2 are the initial writes of x
    // and y.
    let picture = drawn(text, "px86", "x=1 y=3").expect("a picture");
    assert!(picture.allowed);
    let expected = r#"digraph execution {
  rankdir=TB;
  node [shape=box, fontname="monospace", style=""];
  e0 [label="f=3 at first", style=dashed];
  subgraph cluster_0 {
    label="P0"; color=gray;
    e3 [label="MOV [x],$1  writes 1", style=filled, fillcolor=lightblue];
    e4 [label="MOV [x],$2  writes 2"];
    e3 -> e4 [label="po", color=gray, fontcolor=gray];
  }
  subgraph cluster_1 {
    label="P1"; color=gray;
    e5 [label="MOV EAX,[f]  reads 3"];
    e6 [label="MOV [y],EAX  writes 3", style=filled, fillcolor=lightblue];
    e5 -> e6 [label="po", color=gray, fontcolor=gray];
  }
  e0 -> e5 [label="rf", color=red, fontcolor=red, constraint=false];
  e3 -> e4 [label="co", color=brown, fontcolor=brown, constraint=false];
  e3 -> e4 [label="pmo", color=blue, fontcolor=blue, constraint=false];
}
"#;
    assert_eq!(picture.dot, expected);
}

#[test]
fn of_values_that_nothing_writes() {
    assert_eq!(
        drawn(FENCED, "px86", "x=7 y=1"),
        Err("state x=7 y=1: no execution of model px86 writes these values".to_owned())
    );
}

#[test]
fn only_the_edge_that_forbids_is_red() {
    // x before y before z: for x=0 y=1 z=1 the pair of y and z is kept.
    let step = |at: &str| format!(" MOV [{at}],$1 ;\n CLWB [{at}] ;\n SFENCE ;\n");
    let text = format!(
        "X86 a\n{{ }}\n P0 ;\n{}{}{}exists (x=0)",
        step("x"),
        step("y"),
        step("z")
    );
    let picture = drawn(&text, "px86", "x=0 y=1 z=1").expect("a picture");
    assert!(!picture.allowed);
    // Events 0 to 2 are initial writes, 3, 6 and 9 the stores; x before z is implied.
    let pmo: Vec<&str> = picture
        .dot
        .lines()
        .filter(|line| line.contains("pmo"))
        .map(str::trim)
        .collect();
    let [forbids, orders] =
        [("e3 -> e6", FORBIDS), ("e6 -> e9", ORDERS)].map(|(e, s)| format!("{e} [{s}, constraint=false];"));
    assert_eq!(pmo, [forbids, orders]);
}
