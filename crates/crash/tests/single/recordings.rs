//! The crash states of recordings are those that the models allow.
//!
//! `strandline-record` computes them by walking over the stores; `strandline-order` by enumerating the executions of
//! the model's relations. For one thread both must agree.

use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write;
use strandline_crash::recorded::sources;
use strandline_design::About;
use strandline_designs::{abouts, design};
use strandline_order::{allowed, Model, Test};
use strandline_record::order::{Fence, Flush, Piece, PmOp, What};
use strandline_record::states::{Image, Ledger, Pending, Rules, Walk};
use strandline_record::{At, Marker};

/// Locations: two lines of two words, and a line of one.
const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
const PLACES: [u64; 5] = [0x00, 0x08, 0x40, 0x78, 0x80];

#[derive(Clone, Copy, Debug)]
enum Do {
    Store(usize),
    StoreNt(usize),
    Flush(Flush, usize),
    Fence(Fence),
    Xchg(usize),
    Marker(Marker),
}

fn instruction() -> impl Strategy<Value = Do> {
    let at = 0usize..5;
    prop_oneof![
        5 => at.clone().prop_map(Do::Store),
        3 => at.clone().prop_map(Do::StoreNt),
        4 => (prop::sample::select(vec![Flush::Clwb, Flush::ClflushOpt, Flush::Clflush]), at.clone()).prop_map(|(kind, at)| Do::Flush(kind, at)),
        2 => prop::sample::select(vec![Fence::Sfence, Fence::Mfence]).prop_map(Do::Fence),
        1 => at.prop_map(Do::Xchg),
    ]
}

/// Programs with so few executions that a model enumerates them all.
fn program() -> impl Strategy<Value = Vec<Do>> {
    prop::collection::vec(instruction(), 1..12).prop_filter("few executions", |program| executions(program) <= 50_000)
}

/// The candidate executions of a program: the orders of the stores to each place, and the stores, or the initial value,
/// that each exchange may read.
fn executions(program: &[Do]) -> u64 {
    let mut stores = [0; PLACES.len()];
    for instruction in program {
        if let Do::Store(at) | Do::StoreNt(at) | Do::Xchg(at) = *instruction {
            stores[at] += 1;
        }
    }
    let orders = stores.iter().map(|stores| (1..=*stores).product::<u64>());
    let sources = program.iter().map(|instruction| match *instruction {
        Do::Xchg(at) => stores[at] + 1,
        _ => 1,
    });
    orders.chain(sources).fold(1, u64::saturating_mul)
}

/// The program as a litmus test.
fn test(program: &[Do]) -> Test {
    let text = text(program);
    Test::parse(&text).unwrap_or_else(|fault| panic!("{fault}\n{text}"))
}

/// Its text; the n-th instruction stores n + 1.
fn text(program: &[Do]) -> String {
    let mut text = "X86 random\nLine=a b, c d, e\n{ }\n P0 ;\n".to_owned();
    for (index, instruction) in program.iter().enumerate() {
        let value = index + 1;
        let line = match *instruction {
            Do::Store(at) => format!("MOV [{}],${value}", NAMES[at]),
            Do::StoreNt(at) => format!("MOVNTI [{}],${value}", NAMES[at]),
            Do::Flush(kind, at) => format!("{} [{}]", kind.name().to_uppercase(), NAMES[at]),
            Do::Fence(fence) => fence.name().to_uppercase(),
            Do::Xchg(at) => format!("MOV EAX,${value} ;\n XCHG [{}],EAX", NAMES[at]),
            Do::Marker(_) => continue,
        };
        writeln!(text, " {line} ;").expect("a string can be written");
    }
    text.push_str("exists (true)\n");
    text
}

fn ops(program: &[Do]) -> Vec<PmOp> {
    let op = |what| PmOp {
        thread: 0,
        at: At::default(),
        rest: false,
        what,
    };
    let one = |(index, instruction): (usize, &Do)| {
        let piece = |at: usize| Piece {
            word: PLACES[at],
            bytes: [index as u8 + 1, 0, 0, 0, 0, 0, 0, 0],
            mask: 0xff,
        };
        match *instruction {
            Do::Store(at) => vec![op(What::Store(piece(at)))],
            Do::StoreNt(at) => vec![op(What::StoreNt(piece(at)))],
            Do::Flush(kind, at) => vec![op(What::Flush(kind, Some(PLACES[at] & !63)))],
            Do::Fence(fence) => vec![op(What::Fence(fence))],
            Do::Marker(marker) => vec![op(What::Marker(marker))],
            Do::Xchg(at) => [
                What::Fence(Fence::Locked),
                What::Store(piece(at)),
                What::Fence(Fence::Locked),
            ]
            .map(op)
            .into(),
        }
    };
    program.iter().enumerate().flat_map(one).collect()
}

fn contents(mut image: Image, stores: &[Piece]) -> Vec<u8> {
    stores.iter().for_each(|piece| image.store(piece));
    let page = image.pages(0, 1).next().map(|(_, page)| *page);
    PLACES
        .iter()
        .map(|at| page.map_or(0, |page| page[*at as usize]))
        .collect()
}

/// The states of the walk, each with the bytes of [`NAMES`]; fails on a repetition or a wrong count.
fn walked(program: &[Do], rules: Rules) -> BTreeSet<Vec<u8>> {
    let ops = ops(program).into_iter().map(Ok);
    let mut walk = Walk::new(Box::new(ops), Pending::new(rules, 1, Image::default()));
    let (mut ledger, mut counted, mut sets) = (Ledger::default(), 0, BTreeSet::new());
    let mut states = BTreeSet::from([vec![0; NAMES.len()]]);
    while let Some(number) = walk.next(&mut |_| {}).expect("operations in memory can be read") {
        let changed = walk.changed();
        counted += ledger
            .close(walk.pending(), changed, walk.boundary())
            .exact
            .expect("few");
        let interval = walk.interval();
        for which in interval.visits(BTreeSet::new(), number, u32::MAX, 1) {
            let kept = interval.kept(number, &which).expect("a visit names a state");
            let durable = walk.pending().durable.clone();
            states.insert(contents(durable, &interval.stores(&kept)));
            assert!(
                sets.insert((number, which.to_string())),
                "{number}:{which} is visited twice"
            );
        }
    }
    assert_eq!(counted, sets.len() as u128, "as many as were counted");
    states
}

fn modelled(program: &[Do], model: &str) -> BTreeSet<Vec<u8>> {
    states(&test(program), model)
}

/// The states that a model allows, each with the bytes of [`NAMES`].
fn states(test: &Test, model: &str) -> BTreeSet<Vec<u8>> {
    let model = Model::named(model).expect("a built-in model");
    let allowed = allowed(test, &model).expect("a small test");
    let observed = test.observed();
    let names: Vec<&str> = observed.iter().map(|id| test.location(*id).name.as_str()).collect();
    let value = |state: &Vec<u8>, name: &str| {
        names
            .iter()
            .position(|known| *known == name)
            .map_or(0, |index| state[index])
    };
    let all = allowed.states.iter();
    all.map(|state| NAMES.iter().map(|name| value(state, name)).collect())
        .collect()
}

fn named(name: &str) -> About {
    abouts()
        .into_iter()
        .find(|about| about.name == name)
        .expect("a registered design")
}

/// The program as a design whose programs must flush executes it: with its fences, and with plain stores and `clwb`, which
/// each of them has.
fn lowered(program: &[Do], about: &About) -> String {
    let lowering = design(about.name).expect("a registered design").lowering();
    let durable: String = lowering
        .durable
        .iter()
        .filter_map(|primitive| primitive.event())
        .map(|event| if event == "CFENCE" { "CFENCE $0" } else { event })
        .fold(String::new(), |text, event| text + " " + event + " ;\n");
    let plain = program.iter().map(|instruction| match *instruction {
        Do::StoreNt(at) => Do::Store(at),
        Do::Flush(_, at) => Do::Flush(Flush::Clwb, at),
        other => other,
    });
    let plain: Vec<Do> = plain.collect();
    text(&plain)
        .replace(" SFENCE ;\n", &durable)
        .replace(" MFENCE ;\n", &durable)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn designs_whose_programs_must_flush_allow_the_states_of_px86(program in program()) {
        for about in abouts().into_iter().filter(|about| sources(about) == (Some(Rules::Flushed), true)) {
            let text = lowered(&program, &about);
            let test = Test::parse(&text).unwrap_or_else(|fault| panic!("{fault}\n{text}"));
            let wider = states(&test, about.model);
            let plain = lowered(&program, &named("x86"));
            let missing: Vec<_> = states(&Test::parse(&plain).expect("a test"), "px86").difference(&wider).cloned().collect();
            prop_assert!(missing.is_empty(), "{}: {:?}\n{}", about.name, missing, text);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn walking_finds_the_states_of_px86(program in program()) {
        prop_assert_eq!(walked(&program, Rules::Flushed), modelled(&program, "px86"));
    }

    #[test]
    fn walking_finds_the_states_of_eadr(program in program()) {
        prop_assert_eq!(walked(&program, Rules::Visible), modelled(&program, "eadr"));
    }
}

#[test]
fn an_unfenced_list_append_has_the_state_in_which_only_the_head_is_there() {
    let program = [
        Do::Store(0),
        Do::Flush(Flush::Clwb, 0),
        Do::Store(2),
        Do::Flush(Flush::Clwb, 2),
        Do::Fence(Fence::Sfence),
    ];
    let head_alone = vec![0, 0, 3, 0, 0];
    assert!(walked(&program, Rules::Flushed).contains(&head_alone));
    assert!(!walked(&program, Rules::Visible).contains(&head_alone));
    let mended = [&program[..2], &[Do::Fence(Fence::Sfence)], &program[2..]].concat();
    assert!(!walked(&mended, Rules::Flushed).contains(&vec![0, 0, 4, 0, 0]));
}

#[test]
fn the_stores_of_a_transaction_become_visible_at_once() {
    let program = [
        Do::Store(0),
        Do::Fence(Fence::Locked),
        Do::Marker(Marker::TransactionBegin),
        Do::Store(0),
        Do::Store(1),
        Do::Store(2),
        Do::Marker(Marker::TransactionEnd),
        Do::Fence(Fence::Locked),
        Do::Store(3),
    ];
    let lines = |first: &[[u8; 2]], second: &[[u8; 2]]| -> BTreeSet<Vec<u8>> {
        let all = first
            .iter()
            .flat_map(|ab| second.iter().map(move |cd| [&ab[..], cd, &[0]].concat()));
        all.collect()
    };
    // A line has all of its stores or none; lines are written back one by one.
    let expected = lines(&[[0, 0], [1, 0], [4, 5]], &[[0, 0], [6, 0], [6, 9]]);
    assert_eq!(walked(&program, Rules::Flushed), expected);
    // What is visible is durable: all lines at once.
    let before = lines(&[[0, 0], [1, 0]], &[[0, 0]]);
    let after = lines(&[[4, 5]], &[[6, 0], [6, 9]]);
    assert_eq!(
        walked(&program, Rules::Visible),
        before.union(&after).cloned().collect()
    );
}
