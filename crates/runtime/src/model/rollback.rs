//! Recovery of the logs of pairs after a crash (StrandWeaver, ISCA 2020, Figure 6(b)).
//!
//! First a commit that was under way is finished: the entries up to the newest commit marker are
//! invalidated, and the head is moved. Then all valid entries are undone, newest first over all
//! lanes: by their clocks, which follow happens-before, and within a lane by position. So a section
//! that has ended is undone with all that depends on it: a section is committed only after its
//! dependences. Each entry is invalidated as soon as it is undone, so that a crash in between
//! undoes only the older ones again.

use super::entry::Entry;
use super::layout::{head, ModelLayout};
use super::scan::Scan;
use strandline_isa::{Addr, Image};
use strandline_rules::{keeps, last_first, Rule};

/// Undoes the entries that were not committed.
pub(crate) fn roll_back(image: &dyn Image, layout: &ModelLayout) {
    let mut valid: Vec<(u64, u64, Entry)> = Vec::new();
    let mut ends = Vec::new();
    for lane in 0..layout.pm.lanes() {
        let mut scan = Scan::of(image, layout, lane);
        keeps(Rule::CommitFinished, || finish_commit(image, &mut scan));
        let entries = scan.entries.iter().filter(|entry| entry.valid);
        valid.extend(entries.map(|entry| (entry.clock(), entry.position, *entry)));
        ends.push((lane, scan.end));
    }
    valid.sort_unstable_by_key(|(clock, position, _)| (*clock, *position));
    last_first(Rule::EntriesUndoneInReverse, valid.iter(), |(_, _, entry)| {
        entry.undo(image);
        entry.invalidate(image);
    });
    for (lane, end) in ends {
        set_head(image, layout, lane, end);
    }
}

/// Figure 6(b), step 2.
fn finish_commit(image: &dyn Image, scan: &mut Scan) {
    let Some(last) = scan.entries.iter().rposition(|entry| entry.marker) else {
        return;
    };
    for entry in scan.entries.drain(..=last) {
        if entry.valid {
            entry.invalidate(image);
        }
    }
}

/// Sets a lane's head, if it is not there already.
pub(crate) fn set_head(image: &dyn Image, layout: &ModelLayout, lane: usize, end: u64) {
    let word = Addr(layout.base(lane).0 + head::LAST);
    if image.word(word) != end {
        image.set_word(word, end);
    }
}
