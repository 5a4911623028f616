//! States derived by hand from the models' definitions.

use strandline_order::{allowed, Model, Test};

/// The states of a test that a model allows, as text.
fn states(model: &str, text: &str) -> Vec<String> {
    let test = Test::parse(text).unwrap_or_else(|fault| panic!("{fault}"));
    let model = Model::named(model).unwrap_or_else(|fault| panic!("{fault}"));
    assert!(
        model.takes(&test),
        "{} does not know the test's instructions",
        model.name()
    );
    let allowed = allowed(&test, &model).unwrap_or_else(|fault| panic!("{fault}"));
    assert!(!allowed.undefined);
    allowed.states.iter().map(|state| test.show_state(state)).collect()
}

#[test]
fn stores_to_two_lines_persist_in_any_order_unless_flushed_and_fenced() {
    let plain = "X86 a\n{ }\n P0 ;\n MOV [x],$1 ;\n MOV [y],$1 ;\nexists (x=0 /\\ y=1)";
    // Either line may be evicted first.
    assert_eq!(states("px86", plain), ["x=0 y=0", "x=0 y=1", "x=1 y=0", "x=1 y=1"]);
    // Under eADR a store is durable when it is visible, and TSO makes x visible first.
    assert_eq!(states("eadr", plain), ["x=0 y=0", "x=1 y=0", "x=1 y=1"]);
    let fenced = "X86 a\n{ }\n P0 ;\n MOV [x],$1 ;\n CLWB [x] ;\n SFENCE ;\n MOV [y],$1 ;\n~exists (x=0 /\\ y=1)";
    assert_eq!(states("px86", fenced), ["x=0 y=0", "x=1 y=0", "x=1 y=1"]);
    // Without ADR, the flush ends in a queue that loses its contents: pcommit is needed.
    assert_eq!(states("so", fenced).len(), 4);
    let unflushed = fenced.replace(" CLWB [x] ;\n", "");
    assert_eq!(states("px86", &unflushed).len(), 4);
    let unfenced = fenced.replace(" SFENCE ;\n", "");
    assert_eq!(states("px86", &unfenced).len(), 4);
}

#[test]
fn a_line_persists_as_it_is() {
    let test = "X86 a\nLine=x y\n{ }\n P0 ;\n MOV [x],$1 ;\n MOV [y],$1 ;\n~exists (x=0 /\\ y=1)";
    assert_eq!(states("px86", test), ["x=0 y=0", "x=1 y=0", "x=1 y=1"]);
}

#[test]
fn a_sync_barrier_is_three_instructions() {
    let with = |barrier: &str| {
        let fences: String = barrier
            .split_whitespace()
            .map(|fence| format!(" {fence} ;\n"))
            .collect();
        format!("X86 a\n{{ }}\n P0 ;\n MOV [x],$1 ;\n CLWB [x] ;\n{fences} MOV [y],$1 ;\n~exists (x=0 /\\ y=1)")
    };
    assert_eq!(states("so", &with("SFENCE PCOMMIT SFENCE")).len(), 3);
    // Without the first fence, the clwb may still be in flight; without the second one, the pcommit may.
    assert_eq!(states("so", &with("PCOMMIT SFENCE")).len(), 4);
    assert_eq!(states("so", &with("SFENCE PCOMMIT")).len(), 4);
}

#[test]
fn an_output_waits_for_a_fence() {
    let test = |fence: &str| {
        format!(
            "X86 a\nOutput=o\n{{ }}\n P0 ;\n MOV [x],$1 ;\n CLWB [x] ;\n{fence} OUT [o],$1 ;\n~exists (x=0 /\\ o=1)"
        )
    };
    assert_eq!(states("px86", &test(" SFENCE ;\n")), ["x=0 o=0", "x=1 o=0", "x=1 o=1"]);
    assert_eq!(states("px86", &test("")).len(), 4);
}

#[test]
fn what_another_thread_learns_after_a_fence_is_durable() {
    let test = "X86 a\nVolatile=f\n{ }\n P0 | P1 ;\n MOV [x],$1 | MOV EAX,[f] ;\n CLWB [x] | MOV [z],EAX ;\n SFENCE | ;\n MOV [f],$1 | ;\n~exists (x=0 /\\ z=1)";
    assert_eq!(states("px86", test), ["x=0 z=0", "x=1 z=0", "x=1 z=1"]);
    assert_eq!(states("none", test).len(), 4);
}

#[test]
fn locked_instructions_order_flushes_where_the_machine_says_so() {
    let test = "X86 a\nVolatile=l\n{ }\n P0 ;\n MOV [x],$1 ;\n CLWB [x] ;\n XCHG [l],EAX ;\n MOV [y],$1 ;\n~exists (x=0 /\\ y=1)";
    assert_eq!(states("px86", test).len(), 3);
    assert_eq!(states("px86:weak-locks", test).len(), 4);
}

#[test]
fn two_locked_additions_lose_nothing() {
    let test =
        "X86 a\n{ }\n P0 | P1 ;\n MOV EAX,$1 | MOV EAX,$1 ;\n LOCK XADD [x],EAX | LOCK XADD [x],EAX ;\nforall (true)";
    assert_eq!(states("px86", test), ["x=0", "x=1", "x=2"]);
}

#[test]
fn a_value_that_depends_on_itself_is_no_execution() {
    // Each thread copies what it reads: out-of-thin-air values are excluded, so only 0 can be read.
    let test = "X86 a\nVolatile=f g\n{ }\n P0 | P1 ;\n MOV EAX,[f] | MOV EAX,[g] ;\n MOV [g],EAX | MOV [f],EAX ;\n MOV [x],EAX | MOV [y],EAX ;\nforall (x=0 /\\ y=0)";
    for model in Model::names() {
        let model = Model::named(&model).expect("a model");
        let test = Test::parse(test).expect("a test");
        assert_eq!(allowed(&test, &model).expect("few").states.len(), 1, "{}", model.name());
    }
}

#[test]
fn strands_are_ordered_by_barriers_joins_and_the_same_location() {
    let store = |at: &str| format!(" MOV [{at}],$1 ;\n CLWB [{at}] ;\n");
    let test = |between: &[&str]| {
        let [ab, bc] = [0, 1].map(|i| between[i]);
        format!(
            "X86 a\n{{ }}\n P0 ;\n{}{ab}{}{bc}{}exists (true)",
            store("a"),
            store("b"),
            store("c")
        )
    };
    // Figure 2 (a): a before b on strand 0, c on strand 1.
    let free = states("strand", &test(&[" PB ;\n", " NS ;\n"]));
    assert!(free.iter().all(|state| !state.starts_with("a=0 b=1")));
    assert_eq!(free.len(), 6, "3 of a and b, times 2 of c");
    // Figure 2 (c): the strands of a and b joined before c.
    let joined = states("strand", &test(&[" NS ;\n", " JS ;\n"]));
    assert_eq!(joined.len(), 5, "any of a and b without c, or all: {joined:?}");
    // A persist barrier does not extend across a new strand, even if one follows.
    assert_eq!(states("strand", &test(&[" NS ;\n", " PB ;\n"])).len(), 6);
}

#[test]
fn fences_are_cumulative() {
    // Delegated Persist Ordering, Figure 1: a dependent store of a thread that has read y is ordered after x.
    let test = "X86 isa2\n{ }\n P0 | P1 ;\n MOV [x],$1 | MOV EAX,[y] ;\n DMB | MOV [z],EAX ;\n MOV [y],$1 | ;\n~exists (x=0 /\\ z=1)";
    let states = states("rcbsp:weak-stores", test);
    assert!(
        !states
            .iter()
            .any(|state| state.starts_with("x=0") && state.ends_with("z=1")),
        "{states:?}"
    );
    // y and z are both after the fence, and not ordered with each other.
    assert!(states.contains(&"x=1 y=0 z=1".to_owned()), "{states:?}");
}

/// A message behind a dmb, and what its reader does with the flag before it stores to z: the states of x, z and the
/// output of the flag.
fn told(reader: &str) -> Vec<String> {
    let rows: String = reader
        .split(';')
        .skip(1)
        .map(|row| format!(" | {} ;\n", row.trim()))
        .collect();
    let test = format!(
        "X86 a\nVolatile=f g\nOutput=p\n{{ }}\n P0 | P1 ;\n MOV [x],$1 | MOV EAX,[f] ;\n DMB | OUT [p],EAX ;\n MOV [f],$1 | {} ;\n{rows}exists (true)",
        reader.split(';').next().unwrap_or_default().trim()
    );
    states("rcbsp:weak-stores", &test)
}

#[test]
fn dependences_are_through_values_addresses_and_branches() {
    let forbidden = "x=0 z=1 p=1".to_owned();
    // Nothing of the flag reaches the store: a comparison without a branch, another register's branch, a branch on
    // what a constant or a later load has replaced.
    for free in [
        "MOV [z],$1",
        "CMP EAX,$1; MOV [z],$1",
        "CMP EBX,$0; JNE LC00; LC00:; MOV [z],$1",
        "MOV EAX,$0; MOV [z+EAX],$1",
        "CMP EAX,$1; CMP EBX,$0; JNE LC00; LC00:; MOV [z],$1",
        "MOV EBX,[g]; XOR EBX,EBX; MOV [z+EBX],$1",
    ] {
        assert!(told(free).contains(&forbidden), "{free}");
    }
    for dependent in [
        "MOV [z],EAX",
        "XOR EAX,EAX; MOV [z+EAX],$1",
        "CMP EAX,$1; JNE LC00; LC00:; MOV [z],$1",
        // Through a load whose address depends on it, and what that load reads.
        "XOR EAX,EAX; MOV EBX,[g+EAX]; XOR EBX,EBX; MOV [z+EBX],$1",
        "XOR EAX,EAX; MOV EBX,[g+EAX]; CMP EBX,$0; JNE LC00; LC00:; MOV [z],$1",
        // A cleared register still depends: compared, or added to what a locked instruction stores.
        "XOR EAX,EAX; CMP EAX,$0; JNE LC00; LC00:; MOV [z],$1",
    ] {
        assert!(!told(dependent).contains(&forbidden), "{dependent}");
    }
}

#[test]
fn a_branch_and_an_address_change_no_value() {
    // One thread, in coherence order: the two stores of x; what is stored through a cleared index is where it says.
    let test = "X86 a\n{ y=7; }\n P0 ;\n MOV EAX,[y] ;\n CMP EAX,$1 ;\n JNE LC03 ;\n LC03: ;\n MOV [x],EAX ;\n XOR EAX,EAX ;\n MOV EBX,[y+EAX] ;\n LOCK XADD [x],EAX ;\n MOV [x+ECX],EBX ;\nexists (true)";
    // x is 0, then 7, then 7 plus a cleared register, then y's 7; no store to y.
    assert_eq!(states("rcbsp", test), ["x=0 y=7", "x=7 y=7"]);
}

#[test]
fn a_fence_of_total_store_order_is_a_persist_barrier() {
    let test = |fence: &str| {
        format!(
            "X86 a\n{{ x=3; y=3; }}\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n {fence} | {fence} ;\n MOV EAX,[y] | MOV EAX,[x] ;\n MOV [a],EAX | MOV [b],EAX ;\nexists (true)"
        )
    };
    let both_old = |model: &str, fence: &str| {
        let states = states(model, &test(fence));
        states.iter().any(|state| state.starts_with("a=3 b=3"))
    };
    for fence in ["DMB", "DFENCE"] {
        // Loads pass it and the stores before it; on weak cores nothing does.
        assert!(both_old("rcbsp", fence), "{fence}");
        assert!(!both_old("rcbsp:weak-stores", fence), "{fence}");
    }
    // What is between two barriers is an epoch: its persists are not ordered, although its stores are.
    let epoch = "X86 a\n{ }\n P0 ;\n MOV [x],$1 ;\n MOV [y],$1 ;\n DMB ;\n MOV [z],$1 ;\nexists (true)";
    let expected = [
        "x=0 y=0 z=0",
        "x=0 y=1 z=0",
        "x=1 y=0 z=0",
        "x=1 y=1 z=0",
        "x=1 y=1 z=1",
    ];
    for model in ["rcbsp", "rcbsp:weak-stores"] {
        assert_eq!(states(model, epoch), expected, "{model}");
    }
}

#[test]
fn races_leave_release_persistency_undefined() {
    let race = "X86 a\n{ }\n P0 | P1 ;\n MOV [x],$1 | MOV [x],$2 ;\nexists (true)";
    let model = Model::named("rp").expect("a model");
    assert!(
        allowed(&Test::parse(race).expect("a test"), &model)
            .expect("few")
            .undefined
    );
    let sync = "X86 a\nVolatile=f\n{ }\n P0 | P1 ;\n MOV [x],$1 | LDAR EAX,[f] ;\n STLR [f],$1 | MOV [y],EAX ;\n~exists (x=0 /\\ y=1)";
    let allowed = allowed(&Test::parse(sync).expect("a test"), &model).expect("few");
    assert!(!allowed.undefined);
    assert_eq!(allowed.states.len(), 3);
}
