//! Marks before there is a design that heeds them: epochs in persist buffers, where every conflict is a dependence, keep what release
//! persistency promises once a release and an acquire end an epoch as an `ofence` does (an acquire, since a thread may acquire what it
//! has released itself).

use super::{conform, random, Subject};
use crate::order::{judge_all, Models};
use strandline_design::{
    About, Access, Admission, Asked, Departure, Design, Entry, Eviction, Level, Message, Places, Reply, Services, Sizes,
};
use strandline_designs::{with_design, DesignVisitor};
use strandline_isa::{Addr, CoreId, Line, Lowering, Primitive};
use strandline_machine::{Machine, Options, Outcome};
use strandline_order::shelf;
use strandline_sim::{observe_design, play, Broken, Error, Observation, Play, Spec};

/// `hops-ep` for programs with marks, sound or not.
struct Marked<D> {
    inner: D,
    /// A release ends an epoch, and so does an acquire.
    sound: bool,
}

impl<D: Design> Design for Marked<D> {
    fn about(&self) -> About {
        About {
            model: "rp",
            ..self.inner.about()
        }
    }

    fn places(&self) -> Places {
        self.inner.places()
    }

    fn storage_bytes(&self, machine: &Sizes) -> u64 {
        self.inner.storage_bytes(machine)
    }

    fn lowering(&self) -> Lowering {
        Lowering {
            acquire: &[Primitive::Acquire],
            release: &[Primitive::Release],
            ..self.inner.lowering()
        }
    }

    fn primitive(&mut self, hw: &mut dyn Services, core: CoreId, primitive: Primitive) -> Admission {
        match primitive {
            Primitive::Release if self.sound => Admission::Enter,
            Primitive::Acquire => Admission::Enter,
            _ => self.inner.primitive(hw, core, primitive),
        }
    }

    fn departs(&mut self, hw: &mut dyn Services, core: CoreId, entry: Entry, context: u8) -> Departure {
        let entry = match entry {
            Entry::Primitive(Primitive::Release | Primitive::Acquire) => Entry::Primitive(Primitive::Ofence),
            _ => entry,
        };
        self.inner.departs(hw, core, entry, context)
    }

    fn visible(&mut self, hw: &mut dyn Services, core: CoreId, addr: Addr) {
        self.inner.visible(hw, core, addr);
    }

    fn flushed(&mut self, hw: &mut dyn Services, core: CoreId, tag: u64) {
        self.inner.flushed(hw, core, tag);
    }

    fn asked(&mut self, hw: &mut dyn Services, owner: CoreId, requester: CoreId, line: Line, access: Access) -> Asked {
        self.inner.asked(hw, owner, requester, line, access)
    }

    fn told(&mut self, hw: &mut dyn Services, requester: CoreId, owner: CoreId, line: Line, reply: Reply) {
        self.inner.told(hw, requester, owner, line, reply);
    }

    fn evicted(&mut self, hw: &mut dyn Services, core: CoreId, level: Level, line: Line) -> Eviction {
        self.inner.evicted(hw, core, level, line)
    }

    fn message(&mut self, hw: &mut dyn Services, message: Message) {
        self.inner.message(hw, message);
    }
}

/// The design as a subject.
struct Of {
    sound: bool,
}

struct AboutOf;

impl DesignVisitor for AboutOf {
    type Out = About;

    fn visit<D: Design>(self, inner: D) -> About {
        Marked { inner, sound: true }.about()
    }
}

struct Player<'a>(bool, &'a Machine, Play, Options);

impl DesignVisitor for Player<'_> {
    type Out = Result<Outcome, Error>;

    fn visit<D: Design>(self, inner: D) -> Self::Out {
        let sound = self.0;
        play(Marked { inner, sound }, self.1, self.2, self.3)
    }
}

struct Observer<'a>(&'a Spec);

impl DesignVisitor for Observer<'_> {
    type Out = Result<Observation, Error>;

    fn visit<D: Design>(self, inner: D) -> Self::Out {
        observe_design(self.0, Marked { inner, sound: true }, Broken::default())
    }
}

impl Subject for Of {
    fn about(&self) -> About {
        with_design("hops-ep", AboutOf).expect("registered")
    }

    fn play(&self, machine: &Machine, program: Play, options: Options) -> Result<Outcome, Error> {
        with_design("hops-ep", Player(self.sound, machine, program, options)).expect("registered")
    }
}

#[test]
fn tests_of_acquire_and_release_are_run_and_show_nothing_that_is_forbidden() {
    let mut marked = 0;
    for entry in shelf() {
        let test = entry.test().expect("a right test");
        let ran =
            conform(&Of { sound: true }, &test, None, 30, 1).unwrap_or_else(|error| panic!("{}: {error}", entry.path));
        let Some(conformance) = ran else { continue };
        assert!(
            conformance.violations.is_empty(),
            "{}: {:#?}",
            entry.path,
            conformance.violations
        );
        marked += u32::from(entry.path.starts_with("release/"));
    }
    assert_eq!(marked, 10, "the whole folder");
}

#[test]
fn random_programs_of_release_persistency_are_mostly_free_of_races_and_find_a_release_that_orders_nothing() {
    let report = random(&Of { sound: true }, 1, 3000).expect("programs that can be run");
    assert!(report.violations.is_empty(), "{:#?}", report.violations);
    // In a third of the programs threads access one another's data, and in some of these runs a race is missed.
    assert!(
        report.undefined > 0 && report.undefined < 1000,
        "{} of 3000",
        report.undefined
    );
    let broken = random(&Of { sound: false }, 1, 3000).expect("programs that can be run");
    assert_eq!(broken.violations.len(), 1);
}

/// What threads of the workloads and of every runtime synchronise by is marked: no stretch of a run is left open.
#[test]
fn whole_runs_of_workloads_have_no_race_under_any_runtime() {
    for workload in ["hashmap", "sps", "pc", "tatp", "cq"] {
        for runtime in ["undo", "txn", "atlas", "sfr", "redo"] {
            let spec = Spec {
                threads: 4,
                tasks: Some(80),
                runtime: Some(runtime.to_owned()),
                ..Spec::new(workload, "hops-ep")
            };
            let seen = with_design("hops-ep", Observer(&spec)).expect("registered");
            let seen = seen.unwrap_or_else(|error| panic!("{error}"));
            let mut models = Models::named("rp").expect("a model");
            let model = models.on(&seen.machine).expect("a model");
            let judged = judge_all(model, &seen.journal, &seen.initial);
            assert!(
                !judged.is_undefined && judged.disorder.is_none(),
                "{workload}, {runtime}: {judged:?}"
            );
        }
    }
}
