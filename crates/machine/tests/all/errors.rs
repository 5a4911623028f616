//! The messages for a faulty machine file or `--set`.

use strandline_machine::MachineConfig;

/// The error of a file `m.toml` with this text.
fn file_error(text: &str) -> String {
    MachineConfig::from_toml("m.toml", text)
        .expect_err("the file is wrong")
        .to_string()
}

/// The error of a file that begins with a base and continues with this text, on line 2.
fn based_error(text: &str) -> String {
    file_error(&format!("base = \"cosplay\"\n{text}"))
}

fn set_error(key: &str, text: &str) -> String {
    let mut machine = MachineConfig::preset("cosplay").expect("a preset");
    let before = machine.clone();
    let error = machine.set(key, text).expect_err("the setting is wrong");
    assert_eq!(machine, before, "a refused setting changes nothing");
    error.to_string()
}

#[test]
fn wrong_type_in_a_file() {
    assert_eq!(
        based_error("[core]\nrob_entries = \"lots\""),
        "m.toml:3: core.rob_entries: expected a whole number, found \"lots\" (give 1 to 65536 entries)"
    );
    assert_eq!(
        based_error("core.rob_entries = 2.5"),
        "m.toml:2: core.rob_entries: expected a whole number, found \"2.5\" (give 1 to 65536 entries)"
    );
    assert_eq!(
        based_error("controllers.adr = [true]"),
        "m.toml:2: controllers.adr: expected a number, a text, true or false \
         (write a value, or { value = ..., unit = ..., source = ... })"
    );
    assert_eq!(
        based_error("core.consistency = \"sc\""),
        "m.toml:2: core.consistency: expected tso or weak, found \"sc\" (give tso or weak)"
    );
    assert_eq!(
        based_error("core = 4"),
        "m.toml:2: core: expected a section, found the integer (write [core] and its parameters below it)"
    );
    assert_eq!(
        based_error("name = 4"),
        "m.toml:2: name: invalid type: integer `4`, expected a string (put it in quotes)"
    );
}

#[test]
fn unknown_key_in_a_file() {
    assert_eq!(
        based_error("\n[core]\nrob_entrys = 4"),
        "m.toml:4: core.rob_entrys: no such parameter; did you mean core.rob_entries? (`strandline list machines NAME` shows all)"
    );
    assert_eq!(
        based_error("[cor]\nx = 1"),
        "m.toml:2: cor: no such key or section; did you mean core?"
    );
    assert_eq!(
        based_error("[core]\nrob_entries = { value = 1, units = \"entries\" }"),
        "m.toml:3: core.rob_entries: unknown field `units`, expected one of `value`, `unit`, `source` \
         (write a value, or { value = ..., unit = ..., source = ... })"
    );
}

#[test]
fn missing_keys() {
    let whole = include_str!("../../presets/cosplay.toml");
    let without = |keys: &[&str]| -> String {
        let kept = |line: &&str| !keys.iter().any(|key| line.starts_with(&format!("{key} =")));
        whole.lines().filter(kept).map(|line| format!("{line}\n")).collect()
    };
    let section = 1 + whole.lines().position(|line| line == "[core]").expect("a section");
    let fix = "(give it, or begin the file with base = \"cosplay\" and give only what differs)";
    assert_eq!(
        file_error(&without(&["rob_entries"])),
        format!("m.toml:{section}: core.rob_entries: missing {fix}")
    );
    assert_eq!(
        file_error(&without(&["rob_entries", "adr"])),
        format!("m.toml:{section}: core.rob_entries: missing, as are controllers.adr {fix}")
    );
    assert!(file_error("").starts_with("m.toml:1: cores: missing, as are core.clock_ghz, "));
    assert_eq!(
        based_error("core.rob_entries = { unit = \"entries\" }"),
        "m.toml:2: core.rob_entries: missing field `value` \
         (write a value, or { value = ..., unit = ..., source = ... })"
    );
}

#[test]
fn bad_unit() {
    assert_eq!(
        based_error("pm.read_latency = { value = 3, unit = \"s\" }"),
        "m.toml:2: pm.read_latency: unknown unit \"s\" (give it in cycles, ns, us or ms)"
    );
    assert_eq!(
        set_error("core.rob_entries", "3ns"),
        "--set machine.core.rob_entries=3ns: unknown unit \"ns\" (give it in entries)"
    );
    assert_eq!(
        set_error("l1.bytes", "1GB"),
        "--set machine.l1.bytes=1GB: unknown unit \"GB\" (give it in bytes, KiB or MiB)"
    );
}

#[test]
fn out_of_range() {
    assert_eq!(
        based_error("\n[core]\n\nrob_entries = 0"),
        "m.toml:5: core.rob_entries: 0 is out of range (give 1 to 65536 entries)"
    );
    assert_eq!(
        based_error("\"core.rob_entries\" = 0"),
        "m.toml:2: core.rob_entries: 0 is out of range (give 1 to 65536 entries)"
    );
    // 0.1 ns at 2.2 GHz are 0.22 cycles.
    assert_eq!(
        based_error("l1.latency = \"0.1ns\""),
        "m.toml:2: l1.latency: 0.1ns (0 cycles at 2.2 GHz) is out of range (give 1 to 1000000000 cycles, or ns)"
    );
    assert_eq!(
        based_error("pm.write_gbps = nan"),
        "m.toml:2: pm.write_gbps: expected a number, found \"NaN\" (give 0.001 to 100000 GB/s)"
    );
    assert_eq!(
        set_error("core.dispatch_width", "99999999999999999999"),
        "--set machine.core.dispatch_width=99999999999999999999: 99999999999999999999 is out of range \
         (give 1 to 64 micro-ops per cycle)"
    );
}

#[test]
fn parameters_that_do_not_go_together() {
    assert_eq!(
        based_error("[l1]\nlatency = 5\nbytes = 1000"),
        "m.toml:4: l1.bytes: 1000 bytes are not a whole number of sets of 8 ways of 64 bytes \
         (make l1.bytes a multiple of 512, or change l1.ways)"
    );
    assert_eq!(
        based_error("l2.bytes = \"32MiB\""),
        "m.toml:2: l2.bytes: llc.bytes of 16777216 cannot include l2.bytes of 33554432 \
         (make llc.bytes at least as large as l2.bytes)"
    );
    assert_eq!(
        based_error("controllers.interleave_bytes = 100"),
        "m.toml:2: controllers.interleave_bytes: 100 is not a multiple of 64 (give whole lines of 64 bytes)"
    );
    assert_eq!(
        based_error("pm.combine_bytes = 256"),
        "m.toml:2: pm.combine_bytes: a write-combining buffer without entries (give at least 1, or pm.combine_bytes = 0)"
    );
    assert_eq!(
        based_error("core.predictor_entries = 1000"),
        "m.toml:2: core.predictor_entries: 1000 is not a power of two from 1 up (give 1024)"
    );
    assert_eq!(
        based_error("pm.row_bytes = 1024"),
        "m.toml:2: pm.row_bytes: an open row takes 0 cycles where pm.read_latency is 600 \
         (give 1 to 600 cycles, or pm.row_bytes = 0)"
    );
}

#[test]
fn a_broken_rule_names_the_setting_that_broke_it() {
    let mut machine = MachineConfig::preset("cosplay").expect("a preset");
    machine.set("l2.bytes", "32MiB").expect("in range");
    assert_eq!(
        machine.validate().expect_err("the LLC has 16 MiB").to_string(),
        "--set machine.l2.bytes=33554432: llc.bytes of 16777216 cannot include l2.bytes of 33554432 \
         (make llc.bytes at least as large as l2.bytes)"
    );
    machine = MachineConfig::preset("cosplay").expect("a preset");
    machine.l1.ways = 0;
    assert_eq!(
        machine.validate().expect_err("no ways").to_string(),
        "machine cosplay: l1.ways: 0 is out of range (give 1 to 65536 ways)"
    );
}

#[test]
fn syntax_errors_have_a_line() {
    let error = based_error("[core]\nrob_entries = ");
    assert!(
        error.starts_with("m.toml:3: not TOML: ") && error.ends_with(" (mend the syntax)"),
        "{error}"
    );
    assert!(!error.contains('\n'), "{error}");
}

#[test]
fn bad_settings() {
    assert_eq!(
        set_error("core.rob_entries", "x"),
        "--set machine.core.rob_entries=x: expected a whole number, found \"x\" (give 1 to 65536 entries)"
    );
    assert_eq!(
        set_error("rob_entries", "1"),
        "--set machine.rob_entries=1: no such parameter; did you mean core.rob_entries? (`strandline list machines NAME` shows all)"
    );
    assert_eq!(
        set_error("pm.read_latncy", "1"),
        "--set machine.pm.read_latncy=1: no such parameter; did you mean pm.read_latency? (`strandline list machines NAME` shows all)"
    );
    assert_eq!(
        set_error("pm.read_latency", "1.5"),
        "--set machine.pm.read_latency=1.5: expected a whole number of cycles, or a number of ns, found \"1.5\" \
         (give 1 to 1000000000 cycles, or ns)"
    );
    assert_eq!(set_error("core\n.x", "1").lines().count(), 1);
}

#[test]
fn bad_base() {
    assert_eq!(
        file_error("base = \"skylake\""),
        "m.toml:1: base: no preset \"skylake\" (use one of cosplay, strandweaver, dpo, asap, sp, common, zen4, cxl-asic, cxl-fpga, cxl-switch, cmm-h)"
    );
}

#[test]
fn neither_preset_nor_file() {
    let error = MachineConfig::load("no such place/cosplya")
        .expect_err("not there")
        .to_string();
    assert!(
        error.starts_with("no such place/cosplya: neither a preset nor a file that can be read: "),
        "{error}"
    );
    let error = MachineConfig::load("cosplya").expect_err("not there").to_string();
    assert!(
        error.ends_with(
            "; did you mean cosplay? (give a file, or one of cosplay, strandweaver, dpo, asap, sp, common, zen4, cxl-asic, cxl-fpga, cxl-switch, cmm-h)"
        ),
        "{error}"
    );
    let error = MachineConfig::load(env!("CARGO_MANIFEST_DIR"))
        .expect_err("a directory")
        .to_string();
    assert_eq!(error.lines().count(), 1, "{error}");
}

#[test]
fn unknown_memory() {
    assert_eq!(
        set_error("media", "dram"),
        "--set machine.media=dram: machine cosplay has only one memory (set its parameters pm.* and controllers.*)"
    );
    let error = MachineConfig::preset("dpo").expect("a preset").set("media", "ddr4");
    assert_eq!(
        error.expect_err("no such memory").to_string(),
        "--set machine.media=ddr4: machine dpo has no memory \"ddr4\" (give dram or pcm or pwq)"
    );
    assert_eq!(
        file_error("base = \"dpo\"\nmedia = \"ddr4\""),
        "m.toml:2: media: machine m has no memory \"ddr4\" (give dram or pcm or pwq)"
    );
}

#[test]
fn wrong_memories_in_a_file() {
    assert_eq!(
        based_error("[other_media.fast]\npm.banks = 4"),
        "m.toml:1: media: missing, where there are others (give the machine's own memory a name)"
    );
    assert_eq!(
        based_error("media = \"a\"\n[other_media.fast]\nmedia = \"b\""),
        "m.toml:4: media: a memory cannot be another one (leave it out)"
    );
    assert_eq!(
        based_error("media = \"a\"\n[other_media.fast]\npm.bank = 4"),
        "m.toml:4: other_media.fast.pm.bank: no such parameter; did you mean pm.banks? \
         (`strandline list machines NAME` shows all)"
    );
    assert_eq!(
        based_error("media = \"a\"\n[other_media.fast]\npm.banks = 0"),
        "m.toml:4: pm.banks: 0 is out of range (give 1 to 65536 banks)"
    );
    assert_eq!(
        based_error("media = \"a\"\n[other_media]\npm = 4"),
        "m.toml:4: other_media.pm: expected a table a memory (write [other_media.NAME] and its parameters below it)"
    );
}

#[test]
fn a_cache_of_a_device_that_cannot_be_built() {
    let error = |text: &str| file_error(&format!("base = \"cmm-h\"\n{text}"));
    assert_eq!(
        error("cxl.cache_page_bytes = 3000"),
        "m.toml:2: cxl.cache_page_bytes: 3000 is not a power of two from 64 up (give 4096)"
    );
    assert_eq!(
        error("cxl.cache_bytes = 100000"),
        "m.toml:2: cxl.cache_bytes: 100000 bytes are not a whole number of sets of 16 ways of pages of 4096 bytes (give a multiple of 65536)"
    );
    assert_eq!(
        error("cxl.cache_latency = 0"),
        "m.toml:2: cxl.cache_latency: a device's cache that takes no time (give at least 1 cycle, or cxl.cache_bytes = 0)"
    );
    assert_eq!(
        error("pm.exclusive_banks = true"),
        "m.toml:2: pm.exclusive_banks: a device's cache is before plain media (give 0 for pm.row_bytes and pm.combine_bytes, false for \
         pm.exclusive_banks)"
    );
    assert_eq!(
        error("controllers.adr = false"),
        "m.toml:2: controllers.adr: a device that saves its cache saves its queue (give controllers.adr = true, or cxl.cache_bytes = 0)"
    );
}

#[test]
fn a_tlb_that_cannot_be_built() {
    let whole = |text: &str| based_error(&format!("[tlb]\n{text}"));
    assert_eq!(
        whole("l1_entries = 64\nl1_ways = 24"),
        "m.toml:3: tlb.l1_entries: 64 entries are not a power of two of sets of 24 ways \
         (make tlb.l1_entries tlb.l1_ways times a power of two; tlb.l1_ways = 64: fully associative)"
    );
    assert_eq!(
        whole("l1_entries = 8\nl1_ways = 8\npage_bytes = 5000"),
        "m.toml:5: tlb.page_bytes: 5000 is not a power of two from 4096 up (give 8192)"
    );
    assert_eq!(
        whole("l1_entries = 8\nl1_ways = 8\nwalkers = 0"),
        "m.toml:5: tlb.walkers: a TLB that nothing fills \
         (give at least 1, or tlb.l1_entries = 0 for no translation)"
    );
    let machine = MachineConfig::from_toml("m.toml", "base = \"sp\"\ntlb.l1_entries = 0");
    assert!(
        machine.is_ok(),
        "without a first level the other values have no effect: {machine:?}"
    );
}
