//! `cxl0` agrees with a machine of hosts that own their memory, and allows what present hardware does.

use super::named;
use super::places::{Places, Wrong};
use super::programs::Programs;
use std::collections::BTreeSet;
use strandline_order::litmus::{Class, FlushKind, Instruction, LocationId};
use strandline_order::{allowed, shelf, Model, Test};

/// Maximum number of moments of a test on the shelf.
const MOST: usize = 200_000;

fn states(test: &Test, model: &Model) -> BTreeSet<Vec<u8>> {
    allowed(test, model).unwrap_or_else(|fault| panic!("{fault}")).states
}

/// The tests of the shelf that the model takes, with their paths.
fn taken(model: &Model) -> Vec<(&'static str, Test)> {
    let read = |entry: strandline_order::Entry| (entry.path, entry.test().unwrap_or_else(|fault| panic!("{fault}")));
    let all = shelf().into_iter().map(read);
    all.filter(|(_, test)| model.takes(test)).collect()
}

fn assert_same(test: &Test, stepped: &BTreeSet<Vec<u8>>, allowed: &BTreeSet<Vec<u8>>) {
    let show = |a: &BTreeSet<Vec<u8>>, b| a.difference(b).map(|state| test.show_state(state)).collect::<Vec<_>>();
    let (machine, model) = (show(stepped, allowed), show(allowed, stepped));
    assert_eq!(
        stepped, allowed,
        "{test}only the machine has {machine:?}, only the model has {model:?}"
    );
}

#[test]
fn the_machine_shows_what_cxl0_allows() {
    let model = named("cxl0");
    let on_shelf = taken(&model);
    for (path, test) in &on_shelf {
        let stepped = Places { test, wrong: None }.states(MOST).expect(path);
        assert_same(test, &stepped, &states(test, &model));
        assert!(test.condition_holds(&stepped), "{path}: its sentence is wrong");
    }
    assert!(on_shelf.len() >= 20, "{} tests only", on_shelf.len());
    let is_thorough = std::env::var_os("STRANDLINE_THOROUGH").is_some();
    let (seed, programs, moments) = if is_thorough { (2, 1000, 5000) } else { (1, 50, 1000) };
    let mut compared = 0;
    for test in Programs::from(seed, true).take(programs) {
        if let Some(stepped) = (Places {
            test: &test,
            wrong: None,
        })
        .states(moments)
        {
            assert_same(&test, &stepped, &states(&test, &model));
            compared += 1;
        }
    }
    assert!(compared >= programs / 4, "{compared} of {programs} compared");
}

/// Each of two hosts flushes its own store and then, as the owner, the other's. One of the four flushes comes last, and it finds what
/// the other host has passed on, or its own host has: its location is in memory. The model does not order flushes that find the same.
#[test]
fn the_model_allows_flushes_in_a_circle() {
    let text = "X86 circle\nOutput=o p\nOwner=x h1, y h0\n{ }\n P0@h0 | P1@h1 ;\n LSTORE [x],$1 | LSTORE [y],$1 ;\n \
        LFLUSH [x] | LFLUSH [y] ;\n LFLUSH [y] | LFLUSH [x] ;\n OUT [o],$1 | OUT [p],$1 ;\nexists (true)";
    let test = Test::parse(text).unwrap_or_else(|fault| panic!("{fault}"));
    let (model, machine) = (
        states(&test, &named("cxl0")),
        Places {
            test: &test,
            wrong: None,
        }
        .states(MOST),
    );
    let more: Vec<_> = model.difference(&machine.expect("few moments")).cloned().collect();
    assert_eq!(more, [test.read_state("x=0 y=0 o=1 p=1").expect("a state")]);
}

#[test]
fn the_shelf_shows_each_wrong_machine() {
    let on_shelf = taken(&named("cxl0"));
    for wrong in Wrong::ALL {
        let shows = |(_, test): &&(&str, Test)| {
            let wrongly = Places {
                test,
                wrong: Some(wrong),
            }
            .states(MOST);
            wrongly != Places { test, wrong: None }.states(MOST)
        };
        assert!(on_shelf.iter().find(shows).is_some(), "{wrong:?}");
    }
}

/// The instructions of present hardware, with a directory, for what it has of CXL0. Every instruction waits for the ones before.
fn on_x86(instruction: Instruction) -> Vec<Instruction> {
    let mfence = Class::all()
        .find(|class| class.name() == "MFENCE")
        .map(Instruction::Fence);
    let first = match instruction {
        Instruction::StoreTo(at, value, Class::Lstore) => Instruction::Store(at, value, false),
        Instruction::StoreTo(at, value, _) => Instruction::StoreNt(at, value),
        Instruction::FlushTo(at, _) => Instruction::Flush(at, FlushKind::Clflush),
        Instruction::Out(..) => instruction,
        other => return vec![other],
    };
    std::iter::once(first).chain(mfence).collect()
}

/// A program of what present hardware has, which the device owns.
fn with_present_instructions(mut test: Test) -> Test {
    test.hosts.owners = vec![None; test.locations.len()];
    for instruction in test.threads.iter_mut().flatten() {
        match instruction {
            Instruction::StoreTo(_, _, class @ Class::Rstore) => *class = Class::Mstore,
            Instruction::FlushTo(_, class) => *class = Class::Rflush,
            _ => {}
        }
    }
    test
}

/// What of a state both models mean: what survivors put out, where hosts fail alone. `cxl0` gives a location what a load finds, and
/// `cxl-coherent` what the device has.
fn shared(test: &Test, states: BTreeSet<Vec<u8>>) -> BTreeSet<Vec<u8>> {
    let observed: Vec<LocationId> = test.observed();
    let is_output = |id: &LocationId| test.location(*id).kind == strandline_order::litmus::LocationKind::Output;
    let is_shared = |(id, _): &(&LocationId, u8)| test.hosts.fail_alone().is_none() || is_output(id);
    let part = |state: Vec<u8>| {
        let kept = observed.iter().zip(state).filter(is_shared);
        kept.map(|(_, value)| value).collect()
    };
    states.into_iter().map(part).collect()
}

/// One thread a host: what others on its host see of a non-temporal store is not durable before the fence, as an `MSTORE` is.
#[test]
fn cxl0_allows_what_present_hardware_does() {
    let (cxl0, coherent) = (named("cxl0"), named("cxl-coherent"));
    let mut compared = 0;
    for test in Programs::from(3, true).take(60).map(with_present_instructions) {
        let mut hosts = test.hosts.of_threads.clone();
        hosts.dedup();
        if hosts.len() < test.threads.len() || hosts.len() > 2 {
            continue;
        }
        let mut mapped = test.clone();
        mapped.hosts.owners.clear();
        for thread in &mut mapped.threads {
            *thread = thread.iter().flat_map(|instruction| on_x86(*instruction)).collect();
        }
        let (present, all) = (states(&mapped, &coherent), states(&test, &cxl0));
        let (present, all) = (shared(&test, present), shared(&test, all));
        assert!(present.is_subset(&all), "{test}{mapped}{:?}", present.difference(&all));
        compared += 1;
    }
    assert!(compared >= 20, "{compared} compared");
}
