//! Mistakes in litmus tests.

use super::check;
use strandline_order::{allowed, Model, Test};

/// The error line of a wrong test.
fn of_test(text: &str) -> String {
    match Test::parse(text) {
        Ok(test) => panic!("nothing is wrong with\n{test}"),
        Err(fault) => fault.to_string(),
    }
}

/// A test of one thread with outputs o and p, DRAM location v, and these rows from line 5 on.
fn with_rows(rows: &str) -> String {
    format!("X86 a\nOutput=o p\nVolatile=v\n{{ }}\n P0 ;\n{rows}\nexists (true)")
}

/// A test of two threads with these keys, and with these names of its threads in line 5.
fn of_hosts(key: &str, names: &str) -> String {
    format!("X86 a\nVolatile=v\n{key}\n{{ }}\n {names} ;\n MOV [v],$1 | MOV [x],$1 ;\n MOV [x],$1 | MOV EAX,[v] ;\nexists (true)")
}

#[test]
fn of_hosts_and_failures() {
    for (key, names, message) in [
        (
            "",
            "P0@h0 | P1",
            "5:12: P0 and P1: name the host of every thread (`P1@h0`), or of none",
        ),
        (
            "",
            "P0 | P1@h0",
            "5:9: P0 and P1: name the host of every thread (`P1@h0`), or of none",
        ),
        ("", "P0@h4 | P1@h0", "5:5: expected a host, h0 to h3"),
        ("", "P0@0 | P1@h0", "5:5: expected a host, h0 to h3"),
        (
            "",
            "P0@h0 | P1@h1",
            "2:10: v is volatile, and h0 and h1 use it: hosts share persistent locations only",
        ),
        (
            "Crash=h0",
            "P0 | P1",
            "3:7: `Crash=` is of a test with hosts: name them, `P0@h0`",
        ),
        (
            "Crash=h1",
            "P0@h0 | P1@h0",
            "3:7: no thread is on h1: name hosts that have one",
        ),
        (
            "Crash=",
            "P0@h0 | P1@h0",
            "3:7: expected the hosts that fail: `Crash=h0`",
        ),
        ("Crash=h0 x", "P0@h0 | P1@h0", "3:10: expected a host, h0 to h3"),
        ("Crash=h0 h0", "P0@h0 | P1@h0", "3:10: h0 is named here a second time"),
        (
            "Crash=h0\nCrash=h0",
            "P0@h0 | P1@h0",
            "4:7: a test has one `Crash=`: name all hosts that fail there",
        ),
    ] {
        assert_eq!(of_test(&of_hosts(key, names)), message, "{key} {names}");
    }
}

#[test]
fn of_owners() {
    let location = "expected a location: a letter and up to 15 lower-case letters, digits or `_`";
    for (key, row, message) in [
        ("Owner=x", "LSTORE [x],$1", "2:8: expected a host, h0 to h3"),
        ("Owner=x h4", "LSTORE [x],$1", "2:9: expected a host, h0 to h3"),
        ("Owner=X h0", "LSTORE [x],$1", &format!("2:7: {location}")),
        (
            "Owner=x h2",
            "LSTORE [x],$1",
            "2:9: x: no thread is on h2: name a host that has one (`P0@h2`)",
        ),
        (
            "Owner=x h0, x h1",
            "LSTORE [x],$1",
            "2:13: x is named here a second time",
        ),
        (
            "Owner=x h0 y h1",
            "LSTORE [x],$1",
            "2:12: expected `,` between owned locations: `Owner=x h0, y h1`",
        ),
        (
            "Owner=x h0\nVolatile=x",
            "LSTORE [x],$1",
            "2:7: x is volatile, and all memory of a test with owners is persistent",
        ),
        (
            "Output=o\nOwner=o h0",
            "LSTORE [x],$1",
            "3:9: o is an output, which no host owns",
        ),
        (
            "Line=x y",
            "RFLUSH [x]",
            "2:6: x shares a line, and a test with owners has none: leave out `Line=`",
        ),
        (
            "Owner=x h0",
            "MOV [x],$1",
            "5:2: a plain store does not say how far its value goes: write LSTORE, RSTORE or MSTORE",
        ),
        ("Owner=x h0", "LSTORE [x]", "5:13: expected `,` and what is stored"),
    ] {
        let text = format!("X86 a\n{key}\n{{ }}\n P0@h0 | P1@h1 ;\n {row} | ;\nexists (true)");
        assert_eq!(of_test(&text), message, "{key} {row}");
    }
}

#[test]
fn of_a_tests_head() {
    check(
        of_test,
        &[
            ("", "1:1: a test begins with `X86 ` and its name"),
            ("ARM a\n", "1:1: a test begins with `X86 ` and its name"),
            ("X86a\n", "1:1: a test begins with `X86 ` and its name"),
            ("(* a *)\n\nPPC a", "3:1: a test begins with `X86 ` and its name"),
            ("(* a (* b *)\nX86 a", "1:1: this comment has no end: close it with *)"),
            ("X86 \n{ }", "1:5: the name after `X86` must have 1 to 100 characters"),
            (
                "X86 a\n\"no end\n{ }",
                "2:1: this text has no closing quotation mark in its line",
            ),
            (
                "X86 a\nline=x y\n{ }",
                "2:1: expected `{` and the initial values (`{ }` if all are 0)",
            ),
            (
                "X86 a\nLine=x Y\n{ }",
                "2:8: expected a location: a letter and up to 15 lower-case letters, digits or `_`",
            ),
            ("X86 a\nLine=x y, y\n{ }", "2:11: y is named here a second time"),
            ("X86 a\nVolatile=f g f\n{ }", "2:14: f is named here a second time"),
            (
                "X86 a\nVolatile=f\nOutput=o f\n{ }",
                "3:10: f is named here a second time",
            ),
            (
                "X86 a\nVolatile=1f\n{ }",
                "2:10: expected a location: a letter and up to 15 lower-case letters, digits or `_`",
            ),
            (
                "X86 a\nVolatile=abcdefghijklmnopq\n{ }",
                "2:10: expected a location: a letter and up to 15 lower-case letters, digits or `_`",
            ),
            (
                "X86 a\nLine=x true\n{ }",
                "2:8: `true` is a keyword of conditions: give the location another name",
            ),
            (
                "X86 a\n",
                "2:1: expected `{` and the initial values (`{ }` if all are 0)",
            ),
        ],
    );
}

#[test]
fn of_a_tests_initial_values() {
    check(
        of_test,
        &[
            ("X86 a\n{ x }", "2:5: expected `=` and the initial value"),
            ("X86 a\n{ x= }", "2:6: expected a number from 0 to 255"),
            ("X86 a\n{ x=256 }", "2:5: expected a number from 0 to 255"),
            ("X86 a\n{ x=-1 }", "2:5: expected a number from 0 to 255"),
            ("X86 a\n{ x=1 y=2 }", "2:7: expected `;` or `}` after an initial value"),
            ("X86 a\n{ x=1; x=2; }", "2:8: x has an initial value already"),
            (
                "X86 a\nOutput=o\n{ x=1;\n  o=1; }",
                "4:3: o is an output, which begins with 0",
            ),
            (
                "X86 a\n{ x=1;",
                "2:7: expected a location: a letter and up to 15 lower-case letters, digits or `_`",
            ),
            (
                "X86 a\n{ not=1; }",
                "2:3: `not` is a keyword of conditions: give the location another name",
            ),
        ],
    );
}

#[test]
fn of_a_tests_threads() {
    check(
        of_test,
        &[
            (
                "X86 a\n{ }\nexists (true)",
                "3:1: expected `P0` as the next thread's name",
            ),
            ("X86 a\n{ }\n P1 ;", "3:2: expected `P0` as the next thread's name"),
            ("X86 a\n{ }\n P0 | P2 ;", "3:7: expected `P1` as the next thread's name"),
            ("X86 a\n{ }\n P0 P1 ;", "3:5: expected `|` or `;` after a thread's name"),
            (
                "X86 a\n{ }\n P0 | P1 | P2 | P3 | P4 | P5 | P6 | P7 | P8 ;",
                "3:42: more than 8 threads: use fewer",
            ),
            (
                "X86 a\n{ }\n P0 | P1 ;\n SFENCE ;\nexists (true)",
                "4:9: expected `|` after what P0 does: P1 is next",
            ),
            (
                "X86 a\n{ }\n P0 ;\n SFENCE | SFENCE ;\nexists (true)",
                "4:9: expected `;` after what P0 does: it is the last thread",
            ),
            (
                "X86 a\n{ }\n P0 ;\n SFENCE ;\n",
                "5:1: expected an instruction or `exists`, `~exists`, `forall`; the text ends here",
            ),
            (
                "X86 a\n{ }\n P0 ;\n SFENCE",
                "4:8: expected `;` after what P0 does: it is the last thread",
            ),
        ],
    );
}

#[test]
fn of_an_instruction() {
    check(
        |row| of_test(&with_rows(row)),
        &[
            (" mov [x],$1 ;", "6:2: expected an instruction in capital letters or `exists`, `~exists`, `forall`, found `m`"),
            (" NOP ;", "6:2: there is no instruction `NOP`; there are MOV, LDAR, STLR, MOVNTI, XCHG, LOCK XADD, XOR, CMP, JNE, OUT, CLWB, CLFLUSHOPT, CLFLUSH, SETCTX, CFENCE, PERSIST, LSTORE, RSTORE, MSTORE, LFLUSH, RFLUSH, SFENCE, MFENCE, PCOMMIT, DMB, PB, NS, JS, OFENCE, DFENCE, ORDER, COMMIT, DURABLE, ACQUIRE, RELEASE, STRAND"),
            (" LOCK INC ;", "6:2: there is no instruction `LOCK`; there are MOV, LDAR, STLR, MOVNTI, XCHG, LOCK XADD, XOR, CMP, JNE, OUT, CLWB, CLFLUSHOPT, CLFLUSH, SETCTX, CFENCE, PERSIST, LSTORE, RSTORE, MSTORE, LFLUSH, RFLUSH, SFENCE, MFENCE, PCOMMIT, DMB, PB, NS, JS, OFENCE, DFENCE, ORDER, COMMIT, DURABLE, ACQUIRE, RELEASE, STRAND"),
            (" SFENCE [x] ;", "6:9: expected `;` after what P0 does: it is the last thread"),
            (" MOV x,$1 ;", "6:6: expected a register: EAX, EBX, ECX, EDX, ESI, EDI, R8, R9, R10, R11, R12, R13, R14, R15"),
            (" MOV [X],$1 ;", "6:7: expected a location: a letter and up to 15 lower-case letters, digits or `_`"),
            (" MOV [x,$1 ;", "6:8: expected `]` after the location"),
            (" MOV [x] $1 ;", "6:10: expected `,` and what is stored"),
            (" MOV [x],1 ;", "6:10: expected `$` and a number, or a register"),
            (" MOV [x],[y] ;", "6:10: expected `$` and a number, or a register"),
            (" MOV [x],$300 ;", "6:11: expected a number from 0 to 255"),
            (" MOV EAX,EBX ;", "6:10: expected `[` and a location"),
            (" MOV RAX,[x] ;", "6:6: expected a register: EAX, EBX, ECX, EDX, ESI, EDI, R8, R9, R10, R11, R12, R13, R14, R15"),
            (" MOV EAX [x] ;", "6:10: expected `,` and a location in brackets or a number"),
            (" LDAR EAX,$1 ;", "6:11: expected `[` and a location"),
            (" STLR EAX,[x] ;", "6:7: expected `[` and a location"),
            (" MOVNTI EAX,[x] ;", "6:9: expected `[` and a location"),
            (" XCHG [x],$1 ;", "6:11: expected a register: EAX, EBX, ECX, EDX, ESI, EDI, R8, R9, R10, R11, R12, R13, R14, R15"),
            (" LOCK XADD [x] ;", "6:16: expected `,` and a register"),
            (" CLWB x ;", "6:7: expected `[` and a location"),
            (" CFENCE ;", "6:9: expected `$` and the context"),
            (" SETCTX 1 ;", "6:9: expected `$` and the context"),
            (" SETCTX $256 ;", "6:10: expected a number from 0 to 255"),
            (" MOV [o],$1 ;", "6:7: o is an output: only OUT writes it"),
            (" CLWB [o] ;", "6:8: o is an output: only OUT writes it"),
            (" OUT [x],$1 ;", "6:7: x is no output: name it in `Output=`"),
            (" OUT [v],$1 ;", "6:7: v is no output: name it in `Output=`"),
            (" XOR EAX ;", "6:10: expected `,` and the same register"),
            (" XOR EAX,EBX ;", "6:10: XOR only clears: name the same register twice"),
            (" XOR EAX,$0 ;", "6:10: expected a register: EAX, EBX, ECX, EDX, ESI, EDI, R8, R9, R10, R11, R12, R13, R14, R15"),
            (" CMP EAX,EBX ;", "6:10: expected `$` and a number"),
            (" CMP $1,EAX ;", "6:6: expected a register: EAX, EBX, ECX, EDX, ESI, EDI, R8, R9, R10, R11, R12, R13, R14, R15"),
            (" JNE LC0 ;", "6:6: expected a label, LC00 to LC99"),
            (" JNE EAX ;", "6:6: expected a label, LC00 to LC99"),
            (" LC000: ;", "6:2: expected a label, LC00 to LC99"),
            (" LC00 ;", "6:2: there is no instruction `LC00`; there are MOV, LDAR, STLR, MOVNTI, XCHG, LOCK XADD, XOR, CMP, JNE, OUT, CLWB, CLFLUSHOPT, CLFLUSH, SETCTX, CFENCE, PERSIST, LSTORE, RSTORE, MSTORE, LFLUSH, RFLUSH, SFENCE, MFENCE, PCOMMIT, DMB, PB, NS, JS, OFENCE, DFENCE, ORDER, COMMIT, DURABLE, ACQUIRE, RELEASE, STRAND"),
            (" LC00: ;", "6:2: nothing jumps to LC00: put `JNE LC00` before it"),
            (" JNE LC00 ;\n SFENCE ;\n LC00: ;", "6:2: a jump leads to the next instruction: put `LC00:` below it"),
            (" JNE LC01 ;\n LC00: ;", "6:2: a jump leads to the next instruction: put `LC01:` below it"),
            (" SFENCE ;\n JNE LC07 ;", "7:2: a jump leads to the next instruction: put `LC07:` below it"),
            (" JNE LC00 ;\n LC00: ;\n JNE LC00 ;\n LC00: ;", "8:2: this thread has LC00 already: use another label"),
            (" MOV [x+1],$1 ;", "6:9: expected a register: EAX, EBX, ECX, EDX, ESI, EDI, R8, R9, R10, R11, R12, R13, R14, R15"),
            (" MOV [x+EAX,$1 ;", "6:12: expected `]` after the location"),
            (" MOV [o+EAX],$1 ;", "6:7: o is an output: only OUT writes it"),
            (" XCHG [x+EAX],EBX ;", "6:9: expected `]` after the location"),
            (" MOV EAX,[x] ;\n MOV EBX,[v+EAX] ;", "7:2: EAX may hold more than 0: clear it with `XOR EAX,EAX` before"),
            (" MOV EAX,$2 ;\n MOV [x+EAX],EBX ;", "7:2: EAX may hold more than 0: clear it with `XOR EAX,EAX` before"),
            (" OUT [o],$1 ;\n OUT [p],$1 ;\n OUT [o],$2 ;", "8:2: output o is written a second time: use another output"),
        ],
    );
}

#[test]
fn of_a_condition() {
    let of = |condition: &str| of_test(&format!("X86 a\nOutput=o\nVolatile=v\n{{ x=0; }}\n P0 ;\n{condition}"));
    check(
        of,
        &[
            (
                "always (x=0)",
                "6:1: expected an instruction in capital letters or `exists`, `~exists`, `forall`, found `a`",
            ),
            (
                "exists",
                "6:7: expected a location: a letter and up to 15 lower-case letters, digits or `_`",
            ),
            ("exists x", "6:9: expected `=` and a value"),
            (
                "exists (x=0",
                "6:12: expected `)` after the formula, or `/\\` or `\\/` and another",
            ),
            (
                "exists (x=0 /\\ )",
                "6:16: expected a location: a letter and up to 15 lower-case letters, digits or `_`",
            ),
            (
                "exists (x=0 and x=1)",
                "6:13: expected `)` after the formula, or `/\\` or `\\/` and another",
            ),
            (
                "exists (x=0) \\/",
                "6:16: expected a location: a letter and up to 15 lower-case letters, digits or `_`",
            ),
            ("exists (y=0)", "6:9: y: the test has no such location"),
            (
                "exists (x=0 \\/ v=0)",
                "6:16: v is volatile, and a crash leaves nothing of it: store the value to a persistent location",
            ),
            ("exists (x=256)", "6:11: expected a number from 0 to 255"),
            ("exists (x==1)", "6:11: expected a number from 0 to 255"),
            (
                "exists (0:EAX=1)",
                "6:9: expected a location: a letter and up to 15 lower-case letters, digits or `_`",
            ),
            ("exists (x=0)\nexists (x=1)", "7:1: nothing may follow the condition"),
            (
                "exists (true) (* no end",
                "6:15: this comment has no end: close it with *)",
            ),
        ],
    );
}

#[test]
fn of_lines_and_memories() {
    check(
        of_test,
        &[
            (
                "X86 a\nLine=x v\nVolatile=v\n{ }\n P0 ;\nexists (true)",
                "2:8: v cannot share a line with what is not in the same memory",
            ),
            (
                "X86 a\nLine=x o\nOutput=o\n{ }\n P0 ;\nexists (true)",
                "2:8: o cannot share a line with what is not in the same memory",
            ),
            (
                "X86 a\nOutput=o\nLine=o\n{ }\n P0 ;\nexists (true)",
                "3:6: o cannot share a line with what is not in the same memory",
            ),
            (
                "X86 a\nLine=a b c d e f g h i\n{ }\n P0 ;\nexists (true)",
                "2:6: a line holds at most 8 locations",
            ),
        ],
    );
}

#[test]
fn of_a_test_that_is_too_large() {
    let many = |count: usize, item: &dyn Fn(usize) -> String| (0..count).map(item).collect::<String>();
    let locations = format!("X86 a\n{{{} }}", many(17, &|n| format!(" x{n}=0;")));
    assert_eq!(of_test(&locations), "2:105: more than 16 locations: use fewer");
    let name = format!("X86 {}\n", "n".repeat(101));
    assert_eq!(
        of_test(&name),
        "1:5: the name after `X86` must have 1 to 100 characters"
    );
    // One initial write and 63 stores are 64 events.
    let stores = |count| with_rows(&many(count, &|_| " MOV [x],$1 ;\n".to_owned())).replace("\nVolatile=v", "");
    assert!(Test::parse(&stores(63)).is_ok());
    assert_eq!(
        of_test(&stores(64)),
        "68:2: more than 64 events, initial writes among them: use fewer instructions"
    );
    let operators = |count| with_rows("").replace("true", &format!("true{}", many(count, &|_| " /\\ true".to_owned())));
    assert!(Test::parse(&operators(50)).is_ok());
    assert_eq!(
        of_test(&operators(51)),
        "7:414: more than 50 operators: use a shorter condition"
    );
    let nots = with_rows("").replace("true", &format!("{}true", "~".repeat(51)));
    assert_eq!(of_test(&nots), "7:59: more than 50 operators: use a shorter condition");
    let nested =
        |depth: usize| with_rows("").replace("true", &format!("{}true{}", "(".repeat(depth), ")".repeat(depth)));
    assert!(Test::parse(&nested(90)).is_ok());
    assert_eq!(
        of_test(&nested(50_000)),
        "7:109: the condition is nested too deeply: use a shorter one"
    );
    assert_eq!(
        of_test(&"X".repeat(200_001)),
        "longer than 200000 bytes: not a test or a model"
    );
}

#[test]
fn of_a_test_with_too_much_to_enumerate() {
    let px86 = Model::named("px86").expect("a model");
    let by = |model: &Model, text: String| {
        let test = Test::parse(&text).unwrap_or_else(|fault| panic!("{fault}"));
        allowed(&test, model).expect_err("too much").to_string()
    };
    let line = |text: String| by(&px86, text);
    // 11 stores to a location: 11! orders.
    assert_eq!(
        line(with_rows(&" MOV [x],$1 ;\n".repeat(11))),
        "more than 2000000 candidate executions: use fewer reads or writes of a location"
    );
    // 2 candidates for each of 22 loads.
    assert_eq!(
        line(with_rows(&format!(" MOV [x],$1 ;\n{}", " MOV EAX,[x] ;\n".repeat(22)))),
        "more than 2000000 candidate executions: use fewer reads or writes of a location"
    );
    // Two stores to each of 14 locations, in order: 3 to the power of 14 cuts.
    let stores = (0..14).flat_map(|n| [1, 2].map(|value| format!(" MOV [x{n}],${value} ;\n")));
    let free = format!("X86 a\n{{ }}\n P0 ;\n{}exists (true)", stores.collect::<String>());
    assert_eq!(
        line(free),
        "more than 2000000 cuts of executions: use fewer stores and outputs, or order more of them"
    );
    // Five threads of six stores: 7 to the power of 5 places.
    let row = |cell: [&str; 5]| format!(" {} ;\n", cell.join(" | "));
    let rows = row(["LSTORE [x],$1"; 5]).repeat(6);
    let names = row(["P0@h0", "P1@h0", "P2@h0", "P3@h0", "P4@h0"]);
    assert_eq!(
        by(
            &Model::named("cxl0").expect("a model"),
            format!("X86 a\n{{ }}\n{names}{rows}exists (true)")
        ),
        "threads that fail may have come to more than 10000 places: use fewer stores and outputs"
    );
}
