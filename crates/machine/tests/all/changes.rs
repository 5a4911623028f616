//! Changing a machine: by a file over a base, by `set`, and back to text.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use strandline_kernel::Cycles;
use strandline_machine::{preset_names, MachineConfig, ParamInfo};

fn preset(name: &str) -> MachineConfig {
    MachineConfig::preset(name).unwrap_or_else(|| panic!("{name} is a preset"))
}

/// The machine as a file that needs no base: every parameter as it is described.
fn whole_file(machine: &MachineConfig) -> String {
    let mut text = format!(
        "name = {:?}\npaper = {:?}\nsummary = {:?}\n",
        machine.name, machine.paper, machine.summary
    );
    for info in machine.describe() {
        let (key, value, unit, source) = (info.key, info.value, info.unit, info.source);
        text += &format!("{key} = {{ value = \"{value}{unit}\", source = {source:?} }}\n");
    }
    text
}

fn source_of(machine: &MachineConfig, key: &str) -> String {
    machine
        .describe()
        .into_iter()
        .find(|parameter| parameter.key == key)
        .expect("a key")
        .source
}

#[test]
fn a_file_gives_only_what_differs_from_its_base() {
    let text = "base = \"cosplay\"\n[core]\nrob_entries = 128\n[pm]\nread_latency = { value = 100, unit = \"ns\", source = \"a guess\" }\n";
    let machine = MachineConfig::from_toml("machines/small.toml", text).expect("right");
    let mut expected = preset("cosplay");
    expected.core.rob_entries = 128;
    expected.pm.read_latency = Cycles(220);
    assert_eq!(
        (&machine.name[..], &machine.core, &machine.pm),
        ("small", &expected.core, &expected.pm)
    );
    assert_eq!(source_of(&machine, "core.rob_entries"), "machines/small.toml:3");
    assert_eq!(source_of(&machine, "pm.read_latency"), "a guess");
    assert_eq!(source_of(&machine, "pm.write_to_controller"), "Table 2");
}

#[test]
fn a_path_may_hold_a_space() {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("two words");
    fs::create_dir_all(&directory).expect("a place for tests");
    let path = directory.join("my machine.toml");
    let name = path.to_str().expect("UTF-8");
    fs::write(&path, "base = \"sp\"\ncores = 2\n").expect("written");
    let machine = MachineConfig::load(name).expect("right");
    assert_eq!((&machine.name[..], machine.cores), ("my machine", 2));
    fs::write(&path, "base = \"sp\"\ncores = 2000\n").expect("written");
    let error = MachineConfig::load(name).expect_err("too many").to_string();
    assert_eq!(
        error,
        format!("{name}:2: cores: 2000 is out of range (give 0 to 1024 cores)")
    );
}

#[test]
fn load_takes_a_presets_name() {
    assert_eq!(MachineConfig::load("asap"), Ok(preset("asap")));
}

#[test]
fn set_takes_numbers_units_and_words() {
    let mut machine = preset("asap");
    for (key, text) in [
        ("core.rob_entries", "128"),
        ("pm.read_latency", "100ns"),
        ("pm.write_latency", "600cycles"),
        ("l1.bytes", "64KiB"),
        ("pm.write_gbps", "3.5GB/s"),
        ("controllers.adr", "false"),
        ("core.consistency", "weak"),
    ] {
        machine.set(key, text).unwrap_or_else(|error| panic!("{error}"));
    }
    assert_eq!((machine.core.rob_entries, machine.l1.bytes), (128, 65_536));
    // 100 ns at 2 GHz.
    assert_eq!(
        (machine.pm.read_latency, machine.pm.write_latency),
        (Cycles(200), Cycles(600))
    );
    assert_eq!((machine.pm.write_gbps, machine.controllers.adr), (3.5, false));
    assert_eq!(source_of(&machine, "pm.read_latency"), "command line");
    assert_eq!(machine.validate(), Ok(()));
}

#[test]
fn a_new_clock_keeps_nanoseconds_and_cycles_as_given() {
    let mut machine = preset("strandweaver");
    machine.set("pm.write_latency", "1000").expect("right");
    machine.dram.read_latency = Cycles(7);
    machine.set("core.clock_ghz", "4").expect("right");
    // 346 ns at 4 GHz; set in cycles; changed by the program.
    assert_eq!(
        (machine.pm.read_latency, machine.pm.write_latency),
        (Cycles(1384), Cycles(1000))
    );
    assert_eq!(machine.dram.read_latency, Cycles(7));
}

#[test]
fn zero_bytes_remove_the_second_level_and_four_settings_bring_one() {
    let mut machine = preset("cosplay");
    machine.set("l2.bytes", "0").expect("right");
    assert_eq!((&machine.l2, machine.validate()), (&None, Ok(())));
    let keys: Vec<_> = machine
        .describe()
        .iter()
        .map(|p| p.key)
        .filter(|key| key.starts_with("l2."))
        .collect();
    assert_eq!(keys, ["l2.bytes"]);
    machine.set("l2.ways", "8").expect("right");
    assert!(machine.validate().is_err(), "bytes are missing");
    for (key, text) in [("l2.latency", "12"), ("l2.mshrs", "16"), ("l2.bytes", "256KiB")] {
        machine.set(key, text).unwrap_or_else(|error| panic!("{error}"));
    }
    assert_eq!(machine.validate(), Ok(()));
}

#[test]
fn zero_bytes_remove_the_second_level_of_a_file_that_gives_its_other_parameters() {
    let cosplay = preset("cosplay");
    let bytes = cosplay.describe().into_iter().find(|info| info.key == "l2.bytes");
    let own = format!("l2.bytes = {{ value = \"{}bytes\"", bytes.expect("an L2").value);
    assert!(whole_file(&cosplay).contains(&own));
    let texts = [
        whole_file(&cosplay).replace(&own, "l2.bytes = { value = \"0\""),
        "base = \"cosplay\"\n[l2]\nlatency = 3\nbytes = 0\nways = 8\n".to_owned(),
    ];
    for text in texts {
        let machine = MachineConfig::from_toml("m.toml", &text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((&machine.l2, &machine.l1), (&None, &cosplay.l1), "{text}");
    }
}

#[test]
fn a_line_takes_at_least_a_cycle() {
    let mut machine = preset("cosplay");
    machine.pm.read_gbps = 100_000.0;
    assert_eq!(machine.pm.read_line_cycles(&machine.core), Cycles(1));
}

#[test]
fn a_described_machine_loads_as_the_same_machine() {
    for name in preset_names() {
        let mut machine = preset(name);
        for (key, text) in [
            ("l2.bytes", "0"),
            ("pm.write_to_controller", "33.3ns"),
            ("core.clock_ghz", "2.7"),
        ] {
            assert_eq!(reloaded(&machine), described(&machine), "{name} before {key}");
            machine.set(key, text).unwrap_or_else(|error| panic!("{error}"));
        }
        machine.summary = "quotes \" and \\ and\nlines".to_owned();
        assert_eq!(reloaded(&machine), described(&machine), "{name}");
    }
}

/// All that the outside sees of a machine.
fn described(machine: &MachineConfig) -> (String, String, String, Vec<ParamInfo>) {
    let MachineConfig {
        name, paper, summary, ..
    } = machine.clone();
    (name, paper, summary, machine.describe())
}

fn reloaded(machine: &MachineConfig) -> (String, String, String, Vec<ParamInfo>) {
    described(&MachineConfig::from_toml("x.toml", &whole_file(machine)).unwrap_or_else(|error| panic!("{error}")))
}

#[test]
fn a_memory_is_chosen_by_name_before_what_else_is_set() {
    let mut machine = preset("dpo");
    let sets = [("pm.banks", "4"), ("media", "dram"), ("pm.read_latency", "60ns")];
    machine.change(sets).expect("right");
    // DRAM's write of 61.25 ns at 2 GHz, to the nearest cycle; the user's own settings win wherever they stand.
    assert_eq!(
        (machine.pm.write_latency, machine.pm.banks, machine.pm.read_latency),
        (Cycles(123), 4, Cycles(120))
    );
    assert_eq!(source_of(&machine, "media"), "command line");
    assert!(source_of(&machine, "pm.write_latency").starts_with("Table II (DDR3"));
    assert_eq!(machine.validate(), Ok(()));
}

#[test]
fn any_memory_can_follow_any() {
    let names = ["pcm", "dram", "pwq"];
    let chosen = |first: &str, last: &str| {
        let mut machine = preset("dpo");
        machine.change([("media", first), ("media", last)]).expect("right");
        let values = machine.describe().into_iter();
        let values: Vec<_> = values.map(|info| (info.key, info.value, info.unit)).collect();
        values
    };
    for last in names {
        for first in names {
            assert_eq!(chosen(first, last), chosen(last, last), "{first}, {last}");
        }
    }
    assert_ne!(chosen("pcm", "pcm"), chosen("pwq", "pwq"));
}

#[test]
fn a_file_has_memories_of_its_own_and_changes_those_of_its_base() {
    let own = "base = \"sp\"\nmedia = \"slow\"\npm.write_latency = 900\n\
               [other_media.fast]\npm.write_latency = { value = 100, source = \"a guess\" }\n";
    let mut machine = MachineConfig::from_toml("m.toml", own).expect("right");
    assert_eq!((&machine.media[..], machine.pm.write_latency), ("slow", Cycles(900)));
    machine.set("media", "fast").expect("right");
    assert_eq!(machine.pm.write_latency, Cycles(100));
    assert_eq!(source_of(&machine, "pm.write_latency"), "a guess");
    machine.set("media", "slow").expect("right");
    assert_eq!(machine.pm.write_latency, Cycles(900));
    let based = "base = \"dpo\"\nmedia = \"dram\"\npm.banks = 4\n";
    let mut machine = MachineConfig::from_toml("m.toml", based).expect("right");
    assert_eq!((machine.pm.banks, machine.pm.write_latency), (4, Cycles(123)));
    machine.change([("media", "pwq"), ("media", "dram")]).expect("right");
    assert_eq!(machine.pm.banks, 4, "the file's DRAM has four banks");
}

#[test]
fn a_records_machine_has_the_memory_that_it_names() {
    let mut dram = preset("dpo");
    dram.set("media", "dram").expect("right");
    let values: Vec<_> = dram
        .describe()
        .into_iter()
        .map(|info| (info.key, format!("{} {}", info.value, info.unit)))
        .collect();
    let mut again = MachineConfig::of_record();
    again
        .change(values.iter().map(|(key, value)| (*key, &value[..])))
        .expect("a record's parameters are right");
    assert_eq!(
        (&again.media[..], &again.pm, &again.controllers),
        ("dram", &dram.pm, &dram.controllers)
    );
    let error = again.set("media", "pcm").expect_err("another memory").to_string();
    assert_eq!(
        error,
        "--set machine.media=pcm: the record has dram (leave it out, or give the machine instead)"
    );
}

#[test]
fn every_value_described_can_be_set() {
    for name in preset_names() {
        let machine = preset(name);
        let mut again = machine.clone();
        for info in machine.describe() {
            let text = format!("{}{}", info.value, info.unit);
            again
                .set(info.key, &text)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        let values = |machine: &MachineConfig| -> Vec<_> {
            machine
                .describe()
                .into_iter()
                .map(|info| (info.key, info.value, info.unit))
                .collect()
        };
        assert_eq!(values(&again), values(&machine));
    }
}

/// A line of a file that is wrong in some way more often than not.
fn some_line() -> impl Strategy<Value = String> {
    let key = prop::sample::select(vec![
        "core",
        "core.rob_entries",
        "l2.bytes",
        "pm.read_latency",
        "base",
        "cores",
        "[pm]",
        "x",
    ]);
    let value = prop_oneof![
        Just("\"cosplay\"".to_owned()),
        Just("{ value = 3, unit = \"ns\" }".to_owned()),
        Just("[[1], {}]".to_owned()),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>().prop_map(|number| number.to_string()),
        "\\PC{0,12}",
    ];
    (key, value).prop_map(|(key, value)| format!("{key} = {value}\n"))
}

const PRESETS: [&str; 2] = [
    include_str!("../../presets/cosplay.toml"),
    include_str!("../../presets/asap.toml"),
];

/// Places in a text, how many characters go there, and what comes in their place.
fn some_cuts() -> impl Strategy<Value = Vec<(prop::sample::Index, usize, String)>> {
    let with = prop_oneof![
        Just("\n".to_owned()),
        "[0-9.\"={}\\[\\]-]{0,3}",
        "(ns|KiB|l2|inf|nan|\\PC){0,2}"
    ];
    prop::collection::vec((any::<prop::sample::Index>(), 0..8usize, with), 1..4)
}

proptest! {
    #[test]
    fn no_text_panics_the_loader(text in "(?s).{0,200}") {
        if let Err(error) = MachineConfig::from_toml("x.toml", &text) {
            prop_assert_eq!(error.to_string().lines().count(), 1);
        }
    }

    #[test]
    fn no_file_over_a_base_panics_the_loader(lines in prop::collection::vec(some_line(), 0..6)) {
        let text = format!("base = \"asap\"\n{}", lines.concat());
        match MachineConfig::from_toml("x.toml", &text) {
            Ok(machine) => prop_assert_eq!(machine.validate(), Ok(())),
            Err(error) => prop_assert_eq!(error.to_string().lines().count(), 1),
        }
    }

    #[test]
    fn no_changed_preset_panics_the_loader(preset in prop::sample::select(PRESETS.to_vec()), cuts in some_cuts()) {
        let mut text: Vec<char> = preset.chars().collect();
        for (at, length, with) in cuts {
            let from = at.index(text.len());
            let to = text.len().min(from + length);
            text.splice(from..to, with.chars());
        }
        match MachineConfig::from_toml("x.toml", &String::from_iter(text)) {
            Ok(machine) => prop_assert_eq!(machine.validate(), Ok(())),
            Err(error) => prop_assert_eq!(error.to_string().lines().count(), 1),
        }
    }

    #[test]
    fn set_never_panics(index in any::<prop::sample::Index>(), text in prop_oneof!["(?s).{0,12}", "-?[0-9.e]{0,25}(ns|cycles|KiB|MiB|GHz)?"]) {
        let mut machine = preset("cosplay");
        let key = index.get(&machine.describe()).key;
        match machine.set(key, &text) {
            Ok(()) => drop(machine.validate()),
            Err(error) => prop_assert_eq!(error.to_string().lines().count(), 1),
        }
    }

    #[test]
    fn no_key_panics_set(key in "(?s).{0,20}") {
        prop_assert!(preset("cosplay").set(&key, "1").is_err());
    }
}
