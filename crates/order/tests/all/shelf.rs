//! The shelf: expected files match the models, and the tests of the papers' figures match the papers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use strandline_order::{allowed, expected, shelf, show_expected, stored, Entry, Model, Test};

fn read(entry: &Entry) -> Test {
    entry.test().unwrap_or_else(|fault| panic!("{fault}"))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let below = |path: PathBuf| if path.is_dir() { files(&path) } else { vec![path] };
    paths.flat_map(below).collect()
}

/// The built-in folders, each with its tests sorted by name.
fn folders() -> BTreeMap<&'static str, Vec<Entry>> {
    let mut folders: BTreeMap<&str, Vec<Entry>> = BTreeMap::new();
    for entry in shelf() {
        folders.entry(entry.folder).or_default().push(entry);
    }
    folders
}

/// The contents of a folder's file for a model; `None` if the model accepts none of the tests.
fn computed(model: &Model, tests: &[Entry]) -> Option<String> {
    let tests = tests.iter().map(|entry| (entry, read(entry)));
    let lines = tests.filter(|(_, test)| model.takes(test)).map(|(entry, test)| {
        let said = expected(&test, model).unwrap_or_else(|fault| panic!("{}: {fault}", entry.path));
        show_expected(entry.name(), model.base(), &said)
    });
    lines.reduce(|text, lines| text + &lines)
}

/// The out-of-date files of a model, given the existing ones.
fn wrong(model: &Model, files: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let wrong = |(folder, tests): (&str, Vec<Entry>)| {
        let file = format!("litmus/{folder}/{}.expected", model.base());
        match (computed(model, &tests), files(folder)) {
            (computed, stored) if computed == stored => None,
            (Some(_), Some(_)) => Some(format!("{file} differs")),
            (Some(_), None) => Some(format!("{file} is missing")),
            (None, _) => Some(format!("{file} is of a model that takes none of the tests")),
        }
    };
    folders().into_iter().filter_map(wrong).collect()
}

fn named(name: &str) -> Model {
    Model::named(name).unwrap_or_else(|fault| panic!("{fault}"))
}

#[test]
fn each_folder_has_the_expected_states_of_each_model() {
    for name in Model::names() {
        let model = named(&name);
        let wrong = wrong(&model, |folder| stored(folder, &model).map(str::to_owned));
        assert!(wrong.is_empty(), "{}: run `make promote`", wrong.join(", "));
    }
}

#[test]
fn a_new_model_is_its_file_and_a_file_in_each_folder() {
    let text = std::fs::read_to_string(root().join("models/px86.cat")).expect("a model");
    let copy = Model::parse("new", &text, &BTreeSet::new()).unwrap_or_else(|fault| panic!("{fault}"));
    let original = named("px86");
    let folders = folders()
        .into_keys()
        .filter(|folder| stored(folder, &original).is_some());
    let missing: Vec<String> = folders
        .map(|folder| format!("litmus/{folder}/new.expected is missing"))
        .collect();
    assert_eq!(wrong(&copy, |_| None), missing);
    let renamed = |folder: &str| Some(stored(folder, &original)?.replace("px86", "new"));
    assert_eq!(wrong(&copy, renamed), Vec::<String>::new());
}

#[test]
fn an_entry_knows_what_is_expected_of_it() {
    for (_, tests) in folders() {
        for model in Model::names().iter().map(|name| named(name)) {
            let said = tests[0].expected(&model).unwrap_or_else(|fault| panic!("{fault}"));
            let variants = model.takes(&read(&tests[0])).then_some(1 + model.variants().len());
            assert_eq!(
                said.map(|said| said.len()),
                variants,
                "{}: {}",
                tests[0].path,
                model.name()
            );
        }
    }
}

#[test]
fn each_file_is_a_test_or_of_a_model() {
    let files = files(&root().join("litmus"));
    let is = |path: &&PathBuf, wanted: &str| path.extension().is_some_and(|extension| extension == wanted);
    let tests = files.iter().filter(|path| is(path, "litmus"));
    assert_eq!(tests.count(), shelf().len(), "all tests are built in");
    let models = Model::names();
    for path in files.iter().filter(|path| !is(path, "litmus")) {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let known = is(&path, "expected") && models.iter().any(|name| name == stem);
        assert!(known, "{}: of no model", path.display());
    }
}

#[test]
fn names_are_the_files_and_unique() {
    let entries = shelf();
    let mut folders: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for entry in &entries {
        let name = read(entry).name;
        assert_eq!(entry.name(), name, "{}", entry.path);
        folders.entry(name).or_default().push(entry.folder);
    }
    for (name, folders) in &folders {
        // A generated name has the shape, and its folder the instruction set. So another set may have the same name.
        let is_by_hand = |folder: &&&str| ["classic", "papers"].contains(*folder);
        assert!(
            folders.len() == 1 || folders.iter().find(is_by_hand).is_none(),
            "{name}: in {folders:?}"
        );
    }
    assert!(entries.len() >= 150, "{} tests only", entries.len());
}

#[test]
fn no_test_stands_twice() {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for entry in shelf() {
        let test = Test {
            name: "same".to_owned(),
            title: String::new(),
            ..read(&entry)
        };
        if let Some(other) = seen.insert(test.to_string(), entry.path) {
            panic!("{} is {other}", entry.path);
        }
    }
}

#[test]
fn each_model_has_tests_of_its_own_instructions() {
    let tests: Vec<Test> = shelf().iter().map(read).collect();
    for name in Model::names() {
        let model = named(&name);
        let own = tests.iter().filter(|test| model.takes(test));
        let used: BTreeSet<_> = own.flat_map(Test::classes).collect();
        assert_eq!(&used, model.isa(), "{name}: instructions that no test of it has");
    }
}

/// The states of a shelf test that a model allows.
fn states(model: &str, path: &str) -> BTreeSet<String> {
    let entry = shelf().into_iter().find(|entry| entry.path == path);
    let test = read(&entry.unwrap_or_else(|| panic!("{path}: no such test")));
    let model = named(model);
    assert!(model.takes(&test), "{path}");
    let allowed = allowed(&test, &model).unwrap_or_else(|fault| panic!("{path}: {fault}"));
    allowed.states.iter().map(|state| test.show_state(state)).collect()
}

/// All states of locations with these values, except the forbidden ones.
fn all_but(values: &[(&str, u8)], forbidden: impl Fn(&[u8]) -> bool) -> BTreeSet<String> {
    let mut states = vec![Vec::new()];
    for (_, most) in values {
        let longer = |state: &Vec<u8>| {
            (0..=*most)
                .map(|value| [state.as_slice(), &[value]].concat())
                .collect::<Vec<_>>()
        };
        states = states.iter().flat_map(longer).collect();
    }
    let shown = |state: &Vec<u8>| {
        let parts = values
            .iter()
            .zip(state)
            .map(|((name, _), value)| format!("{name}={value}"));
        parts.collect::<Vec<_>>().join(" ")
    };
    states.iter().filter(|state| !forbidden(state)).map(shown).collect()
}

const AB: [(&str, u8); 2] = [("a", 1), ("b", 1)];
const ABC: [(&str, u8); 3] = [("a", 1), ("b", 1), ("c", 1)];

#[test]
fn strandweaver_figure_2_a_b() {
    // Equation 1: A before B on strand 0; C is on strand 1 and unordered.
    let expected = all_but(&ABC, |s| s[0] == 0 && s[1] == 1);
    assert_eq!(states("strand", "papers/strandweaver-2ab"), expected);
}

#[test]
fn strandweaver_figure_2_c_d() {
    // Equation 2: JoinStrand orders A and B, on any strand, before C.
    let expected = all_but(&ABC, |s| (s[0] == 0 || s[1] == 0) && s[2] == 1);
    assert_eq!(states("strand", "papers/strandweaver-2cd"), expected);
}

#[test]
fn strandweaver_figure_2_e_f() {
    // Equation 3: A=1 before A=2, which are on two strands; Equation 1: A=2 before B. So B without A=2 is forbidden,
    // and so is the figure's state (A=0, B=1).
    let expected = all_but(&[("a", 2), ("b", 1)], |s| s[0] < 2 && s[1] == 1);
    assert_eq!(states("strand", "papers/strandweaver-2ef"), expected);
}

#[test]
fn strandweaver_figure_2_g_h() {
    // A load of A establishes no persist order: no state is forbidden, including (A=0, B=1).
    let allowed = states("strand", "papers/strandweaver-2gh");
    assert_eq!(allowed, all_but(&AB, |_| false));
    assert!(allowed.contains("a=0 b=1"));
    // A write in place of the load, or a JoinStrand, forbids it.
    for path in ["papers/strandweaver-2gh-locked", "papers/strandweaver-2gh-join"] {
        assert!(!states("strand", path).contains("a=0 b=1"), "{path}");
    }
}

#[test]
fn strandweaver_figure_2_i_j() {
    // Either thread's B may be the later one; B=2 of thread 1 is before C. If it is the later one, thread 0's B=1 is
    // before it; otherwise B=1 may follow. In both cases (B=0, C=1) is forbidden. A is on a separate strand.
    let values = [("a", 1), ("b", 2), ("c", 1)];
    let expected = all_but(&values, |s| s[1] == 0 && s[2] == 1);
    assert_eq!(states("strand", "papers/strandweaver-2ij"), expected);
    // If thread 0's store of B is seen first, the figure's state is forbidden: C without thread 1's B.
    let seen = states("strand", "papers/strandweaver-2ij-seen");
    let forbidden = |state: &&String| state.contains("c=1") && state.contains("seen=1") && !state.contains("b=2");
    assert_eq!(seen.iter().find(forbidden), None);
}

#[test]
fn delegated_persist_ordering_figure_1() {
    // S_X is in group A of the fence, S_Y in group B: X before Y. If L_Y reads from S_Y, then S_Z, which depends on it, is in group B
    // too: X before Z. If it reads the initial 0, Z holds 0. S_Y and S_Z are both of group B: not ordered.
    let expected = all_but(&[("x", 1), ("y", 1), ("z", 1)], |s| {
        s[0] == 0 && (s[1] == 1 || s[2] == 1)
    });
    assert_eq!(states("rcbsp:weak-stores", "papers/dpo-1"), expected);
}

#[test]
fn delegated_persist_ordering_figure_3_left() {
    // Coherence order is persist order. Y=1 says that core 1 read core 0's store and so overwrote it; the fence puts X=2 before Y.
    let expected = all_but(&[("x", 2), ("y", 1)], |s| s[1] == 1 && s[0] != 2);
    assert_eq!(states("rcbsp:weak-stores", "papers/dpo-3-left"), expected);
}

#[test]
fn delegated_persist_ordering_figure_3_right() {
    // Y=1 only if the load of the flag reads core 0's store, which is in group B of the fence; then S_Y is too, by its dependence. S_X
    // is in group A.
    let expected = all_but(&[("x", 1), ("y", 1)], |s| s[0] == 0 && s[1] == 1);
    assert_eq!(states("rcbsp:weak-stores", "papers/dpo-3-right"), expected);
    // Without the fence there are no groups: nothing is ordered.
    let free = all_but(&[("x", 1), ("y", 1)], |_| false);
    assert_eq!(states("rcbsp:weak-stores", "papers/dpo-3-right-no-fence"), free);
}

/// Both kinds of cores: total store order, and weak ones, of which the paper speaks.
const CORES: [&str; 2] = ["rcbsp", "rcbsp:weak-stores"];

/// Checks the states of a test of the paper, with the highest value of each location, on both kinds of cores.
#[track_caller]
fn dpo(test: &str, values: &[(&str, u8)], forbidden: impl Fn(&[u8]) -> bool) {
    let expected = all_but(values, forbidden);
    for model in CORES {
        assert_eq!(states(model, &format!("papers/{test}")), expected, "{model}");
    }
}

#[test]
fn delegated_persist_ordering_equation_2() {
    // The flag comes behind the fence, and so does what depends on a load (p=1) that reads it.
    let values = [("f", 1), ("x", 1), ("z", 1), ("p", 1)];
    dpo("dpo-eq2-address", &values, |s| {
        s[1] == 0 && (s[0] == 1 || s[2] == 1 && s[3] == 1)
    });
    // A branch holds no load of a weak core: it reads the old x=3 (no store leaves 2). Under total store order a load waits for a load.
    let values = [("p", 1), ("q", 3)];
    let [tso, weak] = CORES.map(|model| states(model, "papers/dpo-eq2-branch-load"));
    assert_eq!(weak, all_but(&values, |s| s[1] == 2));
    assert_eq!(tso, all_but(&values, |s| s[1] == 2 || s == [1, 3]));
}

#[test]
fn delegated_persist_ordering_equation_3() {
    // z=1 says that thread 1 read thread 0's flag: z is in group B, and f=2 came before f=1, so thread 0 does not read it later.
    // z=2 says nothing, although p=2 shows f=2 in group B: the load read it in its own store queue.
    let values = [("x", 1), ("z", 2), ("p", 2)];
    dpo("dpo-eq3-own", &values, |s| s[1] == 1 && (s[0] == 0 || s[2] == 2));
}

#[test]
fn delegated_persist_ordering_equation_4() {
    // p=1: thread 1 is in group B; q=3: it read f before thread 2 wrote it, whose fence puts z behind that.
    let values = [("x", 1), ("z", 1), ("p", 1), ("q", 3)];
    dpo("dpo-eq4-three", &values, |s| s[3] == 2 || s == [0, 1, 1, 3]);
    // Without thread 1's fence, z is in no group.
    dpo("dpo-eq4-no-fence", &[("x", 1), ("z", 1), ("p", 3)], |s| s[2] == 2);
}

#[test]
fn delegated_persist_ordering_equation_5() {
    // p=1: f=1 depends on x; q=2: f=2 overwrites it, so x is in group A of the fence behind f=2.
    dpo("dpo-eq5-group-a", &[("x", 1), ("z", 1), ("p", 1), ("q", 2)], |s| {
        s == [0, 1, 1, 2]
    });
    // z=1 was told by f=1; z=2 by f=2, which is in group B only if it overwrites f=1, which p=2 says.
    let values = [("x", 1), ("z", 2), ("p", 2)];
    dpo("dpo-eq5-group-b", &values, |s| {
        s[0] == 0 && (s[1] == 1 || s[1] == 2 && s[2] == 2)
    });
}

#[test]
fn delegated_persist_ordering_equation_6() {
    // Two epochs: p=1 says that thread 1 read the flag, and so its fence comes behind thread 0's.
    dpo("dpo-3-epochs", &[("x", 1), ("y", 1), ("p", 1)], |s| s == [0, 1, 1]);
    // A persist and an epoch: x, which the reader has seen, is in group A of its fence.
    dpo("dpo-3-persist-epoch", &[("x", 1), ("y", 1)], |s| s == [0, 1]);
    // z=1 says that all has been passed on, so x is in group A. y is in no group, although its thread's persists are in order.
    dpo("dpo-eq6-passed-on", &[("x", 1), ("y", 1), ("z", 1)], |s| {
        s[0] == 0 && s[2] == 1
    });
}

#[test]
fn a_fence_forbids_the_classic_shapes_to_recovery() {
    // Under total store order a load passes a barrier and the stores before it: that is what sb and r need.
    for (test, on_tso) in [
        ("mp+dmbs", false),
        ("sb+dmbs", true),
        ("lb+dmbs", false),
        ("wrc+dmbs", false),
        ("isa2+dmbs", false),
        ("s+dmbs", false),
        ("r+dmbs", true),
        ("2+2w+dmbs", false),
        ("iriw+dmbs", false),
    ] {
        let entry = shelf().into_iter().find(|entry| entry.name() == test);
        let test = read(&entry.unwrap_or_else(|| panic!("{test}: no such test")));
        let claimed = |model: &str| {
            let allowed = allowed(&test, &named(model)).unwrap_or_else(|fault| panic!("{fault}"));
            allowed.states.iter().any(|state| test.is_claimed(state))
        };
        assert_eq!(CORES.map(claimed), [on_tso, false], "{}", test.name);
    }
}

#[test]
fn a_dfence_waits_and_a_dmb_does_not() {
    for model in CORES {
        // The output may come first; behind a dfence it may not, whichever thread stored x.
        assert_eq!(
            states(model, "classic/wo+dmb"),
            all_but(&[("x", 1), ("o", 1)], |_| false),
            "{model}"
        );
        for path in ["epoch/wo+dfence", "classic/wrco+dmb+dfence"] {
            assert_eq!(
                states(model, path),
                all_but(&[("x", 1), ("o", 1)], |s| s == [0, 1]),
                "{model}: {path}"
            );
        }
        // Told to another thread, which tells the world: x was 1 before.
        let told = states(model, "classic/mpo+dfence");
        let expected = all_but(&[("x", 2), ("o", 1)], |s| s[0] == 0 || s == [1, 1]);
        assert_eq!(told, expected, "{model}");
    }
}
