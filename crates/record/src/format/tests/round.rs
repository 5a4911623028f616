//! Written recordings are read back.

use super::random::{plan, write, Did, Plan, PM};
use crate::recording::{Event, ThreadStep};
use crate::{RecordError, Recording};
use proptest::prelude::*;

/// All that a recording says.
pub fn read(recording: &Recording) -> Result<Plan, RecordError> {
    let mut threads = Vec::new();
    for thread in 0..recording.threads().len() {
        let mut stream = recording.stream(thread)?;
        let mut steps = Vec::new();
        while let Some(step) = stream.next()? {
            steps.push(match step {
                ThreadStep::Event(event) => Did::Event(event),
                ThreadStep::Block(executed) => Did::Block {
                    block: executed.block,
                    instructions: executed.instructions,
                    addresses: executed.addresses.to_vec(),
                    values: executed.values.to_vec(),
                    fences: executed.fences.to_vec(),
                    turns: executed.turns.to_vec(),
                    links: executed.links.to_vec(),
                },
            });
        }
        threads.push(steps);
    }
    let pages = recording.initial_pages()?;
    Ok(Plan {
        program: recording.program().to_vec(),
        blocks: recording.blocks().to_vec(),
        modules: recording.modules().to_vec(),
        regions: recording.regions().to_vec(),
        pages: pages.map(|(address, bytes)| (address, bytes[17])).collect(),
        threads,
        status: recording.status(),
        warnings: recording.warnings().to_vec(),
        lines: recording.lines().clone(),
    })
}

/// What `write` adds for threads that only wait.
fn with_dummies(mut plan: Plan) -> Plan {
    for thread in &mut plan.threads {
        let waits = |did: &Did| matches!(did, Did::Event(Event::Wait { number, .. }) if number % 2 == 0);
        if thread.iter().all(waits) {
            thread.push(Did::Event(Event::Syscall(0)));
        }
    }
    plan
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(plan in plan()) {
        let bytes = write(&plan).expect("a plan can be written");
        let recording = Recording::from_bytes(bytes).expect("what was written can be opened");
        prop_assert_eq!(read(&recording).expect("and read"), with_dummies(plan));
    }

    #[test]
    fn totals_and_pages_are_those_of_the_steps(plan in plan()) {
        let bytes = write(&plan).expect("a plan can be written");
        let recording = Recording::from_bytes(bytes).expect("what was written can be opened");
        let (mut instructions, mut stores, mut persistent, mut pages) = (0, 0, 0, std::collections::BTreeSet::new());
        for did in plan.threads.iter().flatten() {
            let Did::Block { block, instructions: executed, addresses, .. } = did else { continue };
            instructions += u64::from(*executed);
            for (access, address) in plan.blocks[*block as usize].accesses.iter().zip(addresses) {
                let inside = (PM..PM + 0x8000).contains(address);
                stores += u64::from(matches!(access.kind as u8, 1 | 2 | 8));
                persistent += u64::from(access.kind.writes() && inside);
                let touched = address / 4096..=(address + u64::from(access.size) - 1) / 4096;
                pages.extend(touched.filter(|page| !(PM / 4096..PM / 4096 + 8).contains(page)));
            }
        }
        let totals = recording.totals();
        prop_assert_eq!((totals.instructions, totals.stores, totals.persistent_stores), (instructions, stores, persistent));
        let runs = recording.volatile_pages().iter().flat_map(|run| (run.start / 4096)..(run.end / 4096));
        prop_assert_eq!(runs.collect::<Vec<_>>(), pages.into_iter().collect::<Vec<_>>());
    }
}
