//! Random recordings.

use crate::recording::{Block, Event, FenceClass, Link, LinkEvent, Module, Region, Turn};
use crate::{Ending, Lines, LinkAt, Place, RecordError, TurnAt, WaitAt, Writer};
use proptest::prelude::*;
use strandline_capture::{Access, AccessKind};

/// A written step, with copies of the data that [`crate::Executed`] borrows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Did {
    Block {
        block: u32,
        instructions: u32,
        addresses: Vec<u64>,
        values: Vec<u64>,
        fences: Vec<FenceClass>,
        turns: Vec<Turn>,
        links: Vec<Link>,
    },
    Event(Event),
}

/// All that a recording says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub program: Vec<String>,
    pub blocks: Vec<Block>,
    pub modules: Vec<Module>,
    pub regions: Vec<Region>,
    pub pages: Vec<(u64, u8)>,
    pub threads: Vec<Vec<Did>>,
    pub status: u64,
    pub warnings: Vec<String>,
    pub lines: Lines,
}

/// Where persistent memory begins.
pub const PM: u64 = 0x7000_0000_0000;

fn access() -> impl Strategy<Value = (u16, usize, u16)> {
    let size = prop_oneof![Just(8), Just(4), Just(1), Just(16), Just(32), Just(64), Just(512)];
    (0u16..6, 0..AccessKind::ALL.len(), size)
}

fn block() -> impl Strategy<Value = Block> {
    let accesses = proptest::collection::vec(access(), 0..5);
    let fences = proptest::collection::btree_set(0u16..6, 0..2);
    (0u64..1 << 47, accesses, fences, any::<bool>()).prop_map(|(pc, mut accesses, fences, repeats)| {
        accesses.sort_unstable();
        let access = |(instruction, kind, size)| Access {
            instruction,
            kind: AccessKind::ALL[kind],
            size,
        };
        Block {
            pc,
            code: vec![0x90; 6],
            instructions: 6,
            accesses: accesses.into_iter().map(access).collect(),
            repeats,
            fences: fences.into_iter().collect(),
        }
    })
}

/// The random parts of a step: which block or event, and numbers.
type Seed = (u16, u8, u64);

fn steps() -> impl Strategy<Value = Vec<Seed>> {
    proptest::collection::vec((any::<u16>(), any::<u8>(), any::<u64>()), 0..60)
}

/// A step of a thread.
fn did(blocks: &[Block], (which, how, number): Seed) -> Did {
    match how {
        0..8 => return Did::Event(Event::Syscall(number)),
        8..12 => {
            return Did::Event(Event::Sync {
                start: number,
                bytes: number >> 7,
            })
        }
        12..16 => return Did::Event(Event::Signal { number: number as u32 }),
        16..24 => {
            return Did::Event(Event::Wait {
                number: u32::from(how),
                times: number as u32,
            })
        }
        _ => {}
    }
    // Mostly few blocks, so that sequences of blocks repeat.
    let block = usize::from(which) % blocks.len();
    let known = &blocks[block];
    let cut = how < 32;
    let accesses = if cut {
        usize::from(how) % (known.accesses.len() + 1)
    } else {
        known.accesses.len()
    };
    let addresses: Vec<u64> = (0..accesses as u64)
        .map(|i| match how & 3 {
            0 => (number >> 1).wrapping_add(i) & (u64::MAX >> 2),
            1 => PM + (number & 0x3fff),
            2 => 0x1000 * i + u64::from(which) * 8,
            _ => 0x5000 + 64 * i,
        })
        .collect();
    let persistent = how & 3 == 1;
    let words = known.value_words(accesses);
    let values = (0..words as u32).map(|i| {
        if persistent {
            number.rotate_right(i) >> (how & 56)
        } else {
            0
        }
    });
    let instructions = if cut { 3 } else { 6 };
    let fences = known.fences.iter().filter(|fence| u32::from(**fence) < instructions);
    let class = [FenceClass::Idle, FenceClass::Order, FenceClass::Durable][usize::from(how) % 3];
    let turn = Turn {
        access: 0,
        before: number as u32,
    };
    let linked = accesses > 0 && how & 6 == 6 && u32::from(known.accesses[0].instruction) < instructions;
    let events = [
        LinkEvent::Wait {
            number: u32::from(how),
            times: number as u32,
        },
        LinkEvent::Signal {
            number: (number >> 9) as u32,
        },
    ];
    let links = events.map(|event| Link { access: 0, event });
    Did::Block {
        block: block as u32,
        instructions,
        fences: fences.map(|_| class).collect(),
        turns: if accesses > 0 && how & 7 == 7 && u32::from(known.accesses[0].instruction) < instructions {
            vec![turn]
        } else {
            vec![]
        },
        links: links.into_iter().filter(|_| linked).collect(),
        values: values.collect(),
        addresses,
    }
}

/// Places in the source, some of which several instructions have.
fn lines(words: &[String]) -> Lines {
    let place = |(line, word): (u32, &String)| Place {
        symbol: word.clone(),
        file: format!("{word}.c"),
        line,
        text: word.clone(),
        inlined_in: words.to_vec(),
    };
    let places = (1..).zip(words).map(place);
    let twice = |(pc, place): (u64, Place)| [(pc, place.clone()), (pc + 0x100, place)];
    Lines::new((0x40_0000..).zip(places).flat_map(twice))
}

/// A random recording.
pub fn plan() -> impl Strategy<Value = Plan> {
    let blocks = proptest::collection::vec(block(), 1..6);
    let threads = proptest::collection::vec(steps(), 0..4);
    let pages = proptest::collection::btree_map(0u64..8, 1u8.., 0..4);
    let words = proptest::collection::vec("[a-zäß /]{0,9}", 0..3);
    (blocks, threads, pages, words, any::<u64>()).prop_map(|(blocks, threads, pages, words, status)| {
        let known = |thread: Vec<Seed>| thread.into_iter().map(|seed| did(&blocks, seed)).collect();
        Plan {
            lines: lines(&words),
            program: words.clone(),
            threads: threads
                .into_iter()
                .map(known)
                .filter(|did: &Vec<Did>| !did.is_empty())
                .collect(),
            modules: vec![Module {
                base: 0x40_0000,
                end: 0x41_0000,
                offset: status >> 32,
                path: "/bin/cat".into(),
            }],
            regions: vec![Region {
                start: PM,
                bytes: 0x8000,
                offset: 0,
                path: "/dev/shm/pool".into(),
            }],
            pages: pages.into_iter().map(|(page, fill)| (PM + page * 4096, fill)).collect(),
            blocks,
            status,
            warnings: words,
        }
    })
}

/// Writes a recording.
pub fn write(plan: &Plan) -> Result<Vec<u8>, RecordError> {
    let mut writer = Writer::new(Vec::new(), &plan.program)?;
    for block in &plan.blocks {
        writer.block(block.clone());
    }
    plan.modules.iter().for_each(|module| writer.module(module.clone()));
    plan.regions.iter().for_each(|region| writer.region(region.clone()));
    plan.pages
        .iter()
        .for_each(|(address, fill)| writer.page(*address, &[*fill; 4096]));
    let mut ending = Ending {
        status: plan.status,
        warnings: plan.warnings.clone(),
        lines: plan.lines.clone(),
        ..Ending::default()
    };
    for (thread, steps) in plan.threads.iter().enumerate() {
        let (mut turns, mut links, mut waits, mut fences) = (vec![], vec![], vec![], vec![]);
        for did in steps {
            let step = writer.steps(thread as u32);
            match did {
                // Waits are passed at the end or in sequence; the reader cannot distinguish them.
                Did::Event(Event::Wait { number, times }) if number % 2 == 0 => {
                    waits.push(WaitAt {
                        step,
                        number: *number,
                        times: *times,
                    });
                }
                Did::Event(event) => writer.event(thread as u32, *event)?,
                Did::Block {
                    block,
                    instructions,
                    addresses,
                    values,
                    fences: classes,
                    turns: taken,
                    links: linked,
                } => {
                    links.extend(linked.iter().map(|link| LinkAt { step, link: *link }));
                    turns.extend(taken.iter().map(|turn| TurnAt { step, turn: *turn }));
                    fences.extend(classes);
                    let valued = plan.blocks[*block as usize].accesses[..addresses.len()]
                        .iter()
                        .zip(addresses);
                    let valued = valued.filter(|(access, _)| access.value_words() > 0);
                    let present: Vec<bool> = valued.map(|(_, address)| (PM..PM + 0x4000).contains(address)).collect();
                    writer.execute(thread as u32, *block, *instructions, addresses, values, &present)?;
                }
            }
        }
        // A thread that only waits must exist, too.
        if writer.steps(thread as u32) == 0 {
            writer.event(thread as u32, Event::Syscall(0))?;
        }
        ending.turns.push(turns);
        ending.links.push(links);
        ending.waits.push(waits);
        ending.fences.push(fences);
    }
    writer.finish(ending)
}
