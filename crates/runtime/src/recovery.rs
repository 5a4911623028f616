//! Undo logging's recovery after a crash.
//!
//! For each lane (a thread, or one of the tasks that share it) only its newest region matters: the
//! lane finished the previous one before it began this one. The region is committed if its last
//! step is completely logged and every line of that step has a trailer at least as great as the
//! step's number. A greater one is a later region's, which acquired the lock only after this one
//! was durable. Otherwise its steps are undone, newest first. A step that is not completely logged
//! has updated nothing.

use crate::layout::{Instead, Record};
use crate::model::{replay::replay, rollback::roll_back};
use crate::wal::undo_logged;
use crate::{LogLayout, Runtime};
use std::collections::BTreeMap;
use strandline_isa::{Addr, Image, LINE_BYTES};
use strandline_rules::{keeps, kept, last_first, Rule};

/// The newest region of one lane: its steps by sequence number.
struct Newest {
    region: u64,
    steps: BTreeMap<u64, Vec<Record>>,
}

/// Undoes what was not committed, or runs the runtime's own recovery. Recovery is idempotent: after
/// a crash during recovery it runs again from the start with the same result, if the words that it
/// sets become durable in their order.
///
/// Its last write for each lane says that the lane's region is settled, so that a later recovery skips it.
pub fn recover(image: &dyn Image, logs: &LogLayout) {
    match &logs.instead {
        Instead::Nothing => undo_unfinished(image, logs),
        Instead::Model(model) if model.logging.runtime == Runtime::Redo => replay(image, model),
        Instead::Model(model) => roll_back(image, model),
        Instead::Wal(wal) => undo_logged(image, wal),
    }
}

/// Undoes each lane's newest region unless it is committed.
fn undo_unfinished(image: &dyn Image, logs: &LogLayout) {
    let newest: Vec<Newest> = (0..logs.lanes()).map(|lane| scan(image, logs, lane)).collect();
    let lanes = kept(Rule::EveryThreadRecovered, newest.len(), || 1);
    for region in &newest[..lanes] {
        if !region.committed(image) {
            region.undo(image);
        }
    }
    for (lane, region) in newest.iter().enumerate() {
        let settled = logs.settled(lane);
        if image.word(settled) < region.region {
            image.set_word(settled, region.region);
        }
    }
}

/// The newest unsettled region in the ring of `lane`, with the steps that are completely logged.
fn scan(image: &dyn Image, logs: &LogLayout, lane: usize) -> Newest {
    let mut region = image.word(logs.settled(lane));
    let mut steps: BTreeMap<u64, Vec<Record>> = BTreeMap::new();
    let ring = logs.ring(lane);
    for at in ring.clone().step_by(LINE_BYTES as usize) {
        let Some(record) = Record::read(image, &ring, at, region) else {
            continue;
        };
        if record.meta.region > region {
            region = record.meta.region;
            keeps(Rule::OlderRegionsStand, || steps.clear());
        }
        let most = record.meta.count.min(logs.records()) as usize;
        let step = steps.entry(record.sequence);
        step.or_insert_with(|| Vec::with_capacity(most)).push(record);
    }
    if region == image.word(logs.settled(lane)) {
        steps.clear();
    }
    let lines = |records: &[Record]| records.iter().map(|record| record.lines).sum::<u64>();
    steps.retain(|_, records| lines(records) == records[0].meta.count);
    Newest { region, steps }
}

impl Newest {
    fn committed(&self, image: &dyn Image) -> bool {
        self.steps.last_key_value().is_some_and(|(sequence, records)| {
            let written = |record: &Record| image.word(record.trailer()) >= *sequence;
            let is_last = kept(Rule::LastStepDecides, records[0].meta.last, || true);
            let all = records.iter().all(written);
            is_last && kept(Rule::EveryLineDecides, all, || records.iter().any(written))
        })
    }

    fn undo(&self, image: &dyn Image) {
        let mut left = kept(Rule::EveryRecordUndone, usize::MAX, || 1);
        last_first(Rule::NewestUndoneFirst, self.steps.values(), |records| {
            let undone = records.iter().take(left);
            left -= undone.len();
            undone.for_each(|record| record.undo(image));
        });
    }
}

impl Record {
    fn undo(&self, image: &dyn Image) {
        for (i, old) in self.old_words().iter().enumerate() {
            image.set_word(Addr(self.target.0 + 8 * i as u64), *old);
        }
        image.set_word(self.trailer(), self.old_trailer);
    }
}
