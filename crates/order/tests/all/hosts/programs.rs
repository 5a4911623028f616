//! Random programs of a few hosts.

use strandline_order::litmus::{
    Class, Condition, FlushKind, Formula, Hosts, Instruction, Location, LocationId, LocationKind, Operand, Quantifier,
    Register,
};
use strandline_order::Test;

/// Programs by their number.
pub struct Programs {
    state: u64,
    /// Whether the next program may have non-temporal stores.
    non_temporal: bool,
    /// Whether hosts own locations, and the instructions are those of CXL0.
    owned: bool,
}

impl Programs {
    /// Those of x86, or of CXL0.
    pub fn from(seed: u64, owned: bool) -> Programs {
        Programs {
            state: seed,
            non_temporal: true,
            owned,
        }
    }

    fn below(&mut self, most: usize) -> usize {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) as usize % most
    }

    fn instruction(&mut self, place: (usize, usize), locations: usize, fences: &[Instruction]) -> Instruction {
        let at = LocationId(self.below(locations) as u8);
        // What is stored tells where; registers tell what was read there.
        let value = Operand::Number((1 + place.0 * 4 + place.1) as u8);
        let register = Register(place.1 as u8);
        match self.below(if self.owned { 11 } else { 13 }) {
            kind @ 0..=7 if self.owned => match kind {
                0..=2 => Instruction::Load(register, at, false),
                3 => Instruction::StoreTo(at, value, Class::Rstore),
                4 => Instruction::StoreTo(at, value, Class::Mstore),
                _ => Instruction::StoreTo(at, value, Class::Lstore),
            },
            8..=9 if self.owned => Instruction::FlushTo(at, Class::FLUSHES_TO[self.below(2)]),
            0..=3 => Instruction::Load(register, at, false),
            4..=6 => Instruction::Store(at, value, false),
            7 if self.non_temporal => Instruction::StoreNt(at, value),
            7 => Instruction::Store(at, value, false),
            8 => Instruction::Flush(at, FlushKind::Clwb),
            9 => Instruction::Flush(at, FlushKind::ClflushOpt),
            10 if !self.owned => Instruction::Flush(at, FlushKind::Clflush),
            11 => fences[self.below(fences.len())],
            _ => Instruction::Add(at, register),
        }
    }
}

fn location(name: String, kind: LocationKind, line: usize) -> Location {
    Location {
        name,
        kind,
        line,
        initial: 0,
    }
}

impl Programs {
    /// The owner of each location: a host or the device.
    fn owners(&mut self, locations: usize) -> Vec<Option<u8>> {
        let all = 0..if self.owned { locations } else { 0 };
        all.map(|at| [None, Some(0), Some(1)][self.below(3)].filter(|_| at < 2))
            .collect()
    }
}

impl Iterator for Programs {
    type Item = Test;

    fn next(&mut self) -> Option<Test> {
        let fences = Class::all().filter(|class| ["SFENCE", "MFENCE"].contains(&class.name()));
        let fences: Vec<Instruction> = fences.map(Instruction::Fence).collect();
        let placed: [&[u8]; 4] = [&[0, 1], &[0, 1], &[0, 0, 1], &[0, 1, 2]];
        let of_threads = placed[self.below(4)].to_vec();
        let most = 4 - of_threads.len() / 2;
        let memory = 2;
        let shared_line = !self.owned && self.below(3) == 0 && of_threads.len() == 2;
        // Where a non-temporal store to a line, a flush of it and a store to it follow each other without a fence, the model allows
        // what the machine does not show: that the fetch for the last one comes before the first one is accepted.
        self.non_temporal = !shared_line;
        let mut locations = vec![
            location("x".to_owned(), LocationKind::Persistent, 0),
            location("y".to_owned(), LocationKind::Persistent, usize::from(!shared_line)),
        ];
        let mut threads = Vec::new();
        for thread in 0..of_threads.len() {
            let mut instructions: Vec<Instruction> = (0..most)
                .map(|at| self.instruction((thread, at), memory, &fences))
                .collect();
            let read: Vec<Register> = instructions
                .iter()
                .filter_map(|instruction| match instruction {
                    Instruction::Load(register, ..) | Instruction::Add(_, register) => Some(*register),
                    _ => None,
                })
                .collect();
            for register in read {
                let out = LocationId(locations.len() as u8);
                instructions.push(Instruction::Out(out, Operand::Register(register)));
                locations.push(location(
                    format!("o{:02}", locations.len()),
                    LocationKind::Output,
                    locations.len(),
                ));
            }
            threads.push(instructions);
        }
        let owners = self.owners(locations.len());
        let fail = match self.below(3) {
            0 => vec![],
            1 => vec![0],
            _ => vec![1],
        };
        Some(Test {
            name: "random".to_owned(),
            title: String::new(),
            locations,
            threads,
            hosts: Hosts {
                of_threads,
                fail,
                owners,
            },
            condition: Condition {
                quantifier: Quantifier::Forall,
                formula: Formula::True,
            },
        })
    }
}
