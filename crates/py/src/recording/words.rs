//! Output that both sources of crash states share.

use serde_json::{json, Value};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use strandline_design::About;
use strandline_record::order::{Places, PmOp, PoolFile, What};
use strandline_record::states::{Assumed, Dependent, Spot, Stored, Visit, Why};
use strandline_record::{At, Marker, Recording, Source};

/// Maximum number of stores that explain a state, of those that it has and of those that it lacks.
pub const MOST_STORES: usize = 16;

/// A plan's entries on the recording and the design.
pub fn recording(
    recording: &Recording,
    places: &Places,
    about: &About,
    source: &mut Source,
    audit: &BTreeMap<Spot, u64>,
) -> Value {
    let audit = findings(source, audit);
    let file = |file: &PoolFile| json!({"name": file.name, "path": file.path, "bytes": file.bytes});
    let totals = recording.totals();
    json!({
        "program": recording.program(), "warnings": recording.warnings(), "incomplete": recording.is_incomplete(),
        "threads": recording.threads().len(), "instructions": totals.instructions,
        "persistent_stores": totals.persistent_stores,
        "model": about.model, "promises_recovery": about.promises_recovery,
        "files": places.files().iter().map(file).collect::<Vec<_>>(), "audit": audit,
    })
}

/// The findings of an audit: of the program's own instructions once, with the calls that led to each; of a library's
/// instructions once for each call in the program.
fn findings(source: &mut Source, audit: &BTreeMap<Spot, u64>) -> Vec<Value> {
    let mut by_place: BTreeMap<Spot, BTreeMap<u64, u64>> = BTreeMap::new();
    for (spot, count) in audit {
        let (at, store) = (source.folded(spot.at), spot.store.map(|store| source.folded(store)));
        let calls = by_place.entry(Spot { at, store, ..*spot }).or_default();
        *calls.entry(spot.at.from).or_default() += count;
    }
    let entries = by_place.iter().map(|(spot, calls)| {
        let mut entry = site(source, spot.at);
        entry["finding"] = json!(spot.finding.key());
        entry["instruction"] = json!(spot.instruction);
        entry["count"] = json!(calls.values().sum::<u64>());
        entry["store"] = spot.store.map_or(Value::Null, |store| site(source, store));
        entry["why"] = if spot.why.is_empty() {
            Value::Null
        } else {
            json!(spot.why)
        };
        entry["callers"] = callers(source, calls);
        entry
    });
    entries.collect()
}

/// The calls that led to an instruction, with counts, the most frequent first.
fn callers(source: &mut Source, calls: &BTreeMap<u64, u64>) -> Value {
    let mut calls: Vec<(u64, u64)> = calls.iter().map(|(from, count)| (*from, *count)).collect();
    calls.sort_by_key(|(from, count)| (Reverse(*count), *from));
    let told = calls.iter().filter_map(|(from, count)| {
        let caller = source.caller(At { pc: 0, from: *from })?;
        Some(json!({"site": caller.to_string(), "pc": from, "count": count}))
    });
    told.collect()
}

/// Adds to a plan's audit the reads of undurable values, each with the store that it read.
pub fn reads(value: &mut Value, source: &mut Source, reads: &BTreeMap<Dependent, u64>) {
    let mut by_place: BTreeMap<Dependent, u64> = BTreeMap::new();
    for (what, count) in reads {
        let (load, store) = (source.folded(what.load), source.folded(what.store));
        *by_place.entry(Dependent { load, store }).or_default() += count;
    }
    let entries = by_place.iter().map(|(what, count)| {
        let mut entry = site(source, what.load);
        entry["callers"] = json!([]);
        entry["finding"] = json!("read_undurable_then_persisted");
        entry["instruction"] = json!("load");
        entry["count"] = json!(count);
        entry["store"] = site(source, what.store);
        entry["why"] = Value::Null;
        entry
    });
    let entries: Vec<Value> = entries.collect();
    if let Some(audit) = value["audit"].as_array_mut() {
        audit.extend(entries);
    }
}

/// Adds to a plan how many loads' places among other threads' stores are assumed, and the first of them; none if they are known.
pub fn assumed(value: &mut Value, source: &mut Source, assumed: &Assumed) {
    value["assumed"] = match assumed.loads {
        0 => Value::Null,
        loads => json!({"loads": loads, "load": place(source, assumed.load), "store": place(source, assumed.store)}),
    };
}

/// A state that was written into its own folder in `folder`, with at most so many of the stores on each side.
pub fn visit(source: &mut Source, places: &Places, folder: &Path, visit: &Visit, most: usize) -> Value {
    let files: Vec<PathBuf> = places
        .files()
        .iter()
        .map(|file| folder.join(&visit.name).join(&file.name))
        .collect();
    json!({
        "name": visit.name, "interval": visit.interval, "tasks": visit.tasks, "differs": visit.differs, "files": files,
        "began": operation(source, visit.began), "ends": operation(source, visit.ends),
        "has": stores(source, places, &visit.has, most), "has_stores": visit.has.len(),
        "lacks": stores(source, places, &visit.lacks, most), "lacks_stores": visit.lacks.len(),
        "has_code": code(source, &visit.has), "lacks_code": code(source, &visit.lacks),
        "has_lines": lines(source, &visit.has), "lacks_lines": lines(source, &visit.lacks),
        "tasks_done": visit.done, "represents": visit.represents,
        "torn": torn(source, visit), "run": null,
    })
}

/// Torn stores of instructions whose manuals promise more than eight bytes at once, though not after a loss of power.
fn torn(source: &mut Source, visit: &Visit) -> Vec<Value> {
    let named = visit.torn.iter().filter_map(|at| Some((*at, source.at_once(at.pc)?)));
    let named: Vec<(At, &str)> = named.collect();
    let entry = |(at, instruction): (At, &str)| {
        let mut value = site(source, at);
        value["instruction"] = json!(instruction);
        value
    };
    named.into_iter().map(entry).collect()
}

/// The addresses of stores in the program's own code, each once; of all stores, not only the first. A library's store is
/// where the program called it.
fn code(source: &mut Source, stores: &[Stored]) -> BTreeSet<u64> {
    stores.iter().map(|store| source.own(store.at).pc).collect()
}

/// The source lines of stores in the program's own code, each once.
fn lines(source: &mut Source, stores: &[Stored]) -> BTreeSet<String> {
    stores.iter().map(|store| source.own(store.at).source_line()).collect()
}

/// The place of an instruction, and the program's own call that led to it.
pub fn site(source: &mut Source, at: At) -> Value {
    let mut value = place(source, at.pc);
    value["site"] = json!(source.told(at));
    value["source_line"] = json!(source.own(at).source_line());
    value["caller"] = match source.caller(at).map(|caller| caller.pc) {
        None => Value::Null,
        Some(from) => place(source, from),
    };
    value
}

fn place(source: &mut Source, pc: u64) -> Value {
    let site = source.site(pc);
    json!({
        "site": site.to_string(), "pc": site.pc, "symbol": site.symbol, "file": site.file, "line": site.line,
        "text": site.text, "inlined_in": site.inlined_in, "module": site.module, "offset": site.offset,
        "in_library": site.in_library(),
    })
}

fn operation(source: &mut Source, op: Option<PmOp>) -> Option<Value> {
    let op = op?;
    let instruction = match op.what {
        What::Store(_) | What::Unknown => "store",
        What::StoreNt(_) => "non-temporal store",
        What::Flush(flush, _) => flush.name(),
        What::Fence(fence) => fence.name(),
        What::Sync { .. } => "msync or fsync",
        What::Marker(Marker::TransactionEnd) => "xend",
        What::Marker(_) => "marker",
        What::Exit => "exit",
        What::Load { .. } => "load",
    };
    let mut value = site(source, op.at);
    value["instruction"] = json!(instruction);
    value["thread"] = json!(op.thread);
    Some(value)
}

fn stores(source: &mut Source, places: &Places, stores: &[Stored], most: usize) -> Vec<Value> {
    let mut store = |store: &Stored| {
        let mut value = site(source, store.at);
        value["place"] = json!(places.show(store.place));
        value["times"] = json!(store.times);
        value["bytes"] = json!(store.bytes);
        value["serial"] = json!(store.serial);
        value["why"] = store.why.map_or(Value::Null, |why| reason(source, why));
        value
    };
    let mut stores: Vec<Value> = stores.iter().map(&mut store).collect();
    // Stores of the program itself explain more than stores of a library.
    stores.sort_by_key(|store| store["in_library"] == true);
    stores.truncate(most);
    stores
}

/// Why a store is not durable, with the places in the program's own code that flush and fence it.
fn reason(source: &mut Source, why: Why) -> Value {
    let (reason, flush, fence) = match why {
        Why::NeverFlushed => ("never_flushed", None, None),
        Why::FlushedBefore(flush) => ("flushed_before", Some(flush), None),
        Why::NeverFenced(flush) => ("never_fenced", Some(flush), None),
        Why::NtNeverFenced => ("nt_never_fenced", None, None),
        Why::NotYetFlushed(flush) => ("not_yet_flushed", Some(flush), None),
        Why::NotYetFenced(flush, fence) => ("not_yet_fenced", Some(flush), Some(fence)),
        Why::NtNotYetFenced(fence) => ("nt_not_yet_fenced", None, Some(fence)),
        Why::NotYetSynced => ("not_yet_synced", None, None),
        Why::NotYetVisible => ("not_yet_visible", None, None),
    };
    let mut own = |at: Option<At>| {
        let site = at.map(|at| source.own(at).clone());
        let name = site.as_ref().map(ToString::to_string);
        (name, site.map(|site| place(source, site.pc)))
    };
    let ((flush, flush_at), (fence, fence_at)) = (own(flush), own(fence));
    json!({"reason": reason, "flush": flush, "fence": fence, "flush_at": flush_at, "fence_at": fence_at})
}

/// Adds an object's keys to another's.
pub fn add(value: &mut Value, more: Value) {
    if let (Value::Object(value), Value::Object(more)) = (value, more) {
        value.extend(more);
    }
}
