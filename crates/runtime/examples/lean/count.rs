//! Finds the switches between tasks in a trace, and counts their instructions.

use crate::library::{run, Resume};
use crate::pc::{marks, start, Frame, Pc, WindowSlot};
use crate::step::{trace, SingleStep};
use iced_x86::{
    FlowControl, Instruction, InstructionInfo, InstructionInfoFactory, Mnemonic, OpAccess, Register, UsedMemory,
};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::io;
use std::ops::Range;

/// Instructions by effect, without the `nop`s with which the compiler aligns loops. One with two effects (`call`
/// through memory loads, stores the return address and jumps) counts under each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Counts {
    /// Instructions.
    pub instructions: u32,
    /// Reads of memory, including the return address.
    pub loads: u32,
    /// Writes to memory, including the return address.
    pub stores: u32,
    /// Neither memory nor a jump: arithmetic, comparisons, moves.
    pub arithmetic: u32,
    /// Conditional branches.
    pub branches: u32,
    /// Jumps and calls with a constant target.
    pub direct: u32,
    /// Returns, and jumps and calls through a register or memory.
    pub indirect: u32,
}

impl Counts {
    /// All of them, in the order of the table.
    pub fn numbers(&self) -> [u32; 7] {
        [
            self.instructions,
            self.loads,
            self.stores,
            self.arithmetic,
            self.branches,
            self.direct,
            self.indirect,
        ]
    }

    /// Of these instructions.
    pub fn of<'a>(instructions: impl IntoIterator<Item = &'a Instruction>) -> Counts {
        let mut counts = Counts::default();
        for instruction in instructions
            .into_iter()
            .filter(|instruction| instruction.mnemonic() != Mnemonic::Nop)
        {
            counts.add(instruction);
        }
        counts
    }

    fn add(&mut self, instruction: &Instruction) {
        self.instructions += 1;
        let mut factory = InstructionInfoFactory::new();
        let memory = factory.info(instruction).used_memory();
        let loads = memory.iter().filter(|used| reads(used.access())).count();
        let stores = memory.iter().filter(|used| writes(used.access())).count();
        self.loads += loads as u32;
        self.stores += stores as u32;
        match instruction.flow_control() {
            FlowControl::Next if loads + stores == 0 => self.arithmetic += 1,
            FlowControl::Next => {}
            FlowControl::ConditionalBranch => self.branches += 1,
            FlowControl::UnconditionalBranch | FlowControl::Call => self.direct += 1,
            _ => self.indirect += 1,
        }
    }
}

/// Whose an instruction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Whose {
    /// The library's: a switch.
    Switch,
    /// The library's: it detects that a task has ended.
    End,
    /// The library's: it starts the next one.
    Start,
    /// The task's: it saves a value that it needs later.
    Save,
    /// The task's: it loads a value that it saved.
    Reload,
}

/// One instruction of a switch between tasks.
pub struct Passed {
    /// What was executed.
    pub instruction: Instruction,
    /// Whose it is.
    pub whose: Whose,
    /// The earlier instructions, by position, that computed a register, the flags or a memory word that it uses.
    pub needs: Vec<usize>,
}

/// A switch from one task to another (or to itself, if alone): from marker to marker, both excluded.
pub struct Passage {
    /// The marker of the task that is suspended.
    pub from: u8,
    /// The marker of the task that is resumed.
    pub to: u8,
    /// What was executed.
    pub passed: Vec<Passed>,
}

impl Passage {
    /// Counts what is `whose`.
    pub fn counts(&self, whose: Whose) -> Counts {
        let these = self.passed.iter().filter(|passed| passed.whose == whose);
        Counts::of(these.map(|passed| &passed.instruction))
    }
}

/// Single-steps `tasks` tasks in a window and lists each kind of switch once, with its count. The initial filling and
/// final emptying of the window are left out.
///
/// # Errors
/// The system does not permit single-stepping.
pub fn passages(window: usize, tasks: u64) -> io::Result<Vec<(Passage, u32)>> {
    let pc = Pc::new();
    let slots = pc.window(window);
    let frames: Vec<Frame<'_>> = slots.iter().map(WindowSlot::frame).collect();
    // The compiler must not know the window or the number of tasks.
    let steps = trace(|| run(black_box(Resume(start)), black_box(&frames), black_box(tasks)))?;
    let marks = steps
        .iter()
        .enumerate()
        .filter_map(|(position, step)| Some((position, step.mark()?)));
    let mut marked: Vec<(usize, u8)> = marks.collect();
    let last_start = marked.iter().rposition(|(_, mark)| *mark == marks::BEGIN);
    marked.truncate(last_start.map_or(0, |last| last + 1));
    let mut ways: BTreeMap<(u8, u8, Vec<u64>), (Passage, u32)> = BTreeMap::new();
    for pair in marked.windows(2) {
        let [(leaves, from), (comes, to)] = [pair[0], pair[1]];
        let ended = from == marks::END && to == marks::BEGIN;
        let yielded = from & marks::YIELD != 0 && to & marks::RESUMED != 0;
        if !ended && !yielded {
            continue;
        }
        let between = &steps[leaves + 1..comes];
        let path = between.iter().map(|step| step.instruction.ip()).collect();
        let passage = || Passage {
            from,
            to,
            passed: passed(between, from, &frames),
        };
        ways.entry((from, to, path)).or_insert_with(|| (passage(), 0)).1 += 1;
    }
    Ok(ways.into_values().collect())
}

fn reads(access: OpAccess) -> bool {
    use OpAccess::{CondRead, Read, ReadCondWrite, ReadWrite};
    matches!(access, Read | CondRead | ReadWrite | ReadCondWrite)
}

fn writes(access: OpAccess) -> bool {
    use OpAccess::{CondWrite, ReadCondWrite, ReadWrite, Write};
    matches!(access, Write | CondWrite | ReadWrite | ReadCondWrite)
}

fn passed(steps: &[SingleStep], from: u8, frames: &[Frame<'_>]) -> Vec<Passed> {
    let live: Vec<Range<u64>> = frames.iter().map(|frame| frame.live_bytes()).collect();
    let mut factory = InstructionInfoFactory::new();
    let mut sources = Sources::default();
    let mut library = if from == marks::END { Whose::End } else { Whose::Switch };
    let mut list = Vec::new();
    for (position, step) in steps.iter().enumerate() {
        let instruction = step.instruction;
        let info = factory.info(&instruction);
        let live_access = info.used_memory().iter().find(|used| {
            let at = address(used, step);
            live.iter().any(|bytes| bytes.contains(&at))
        });
        let whose = match live_access {
            Some(used) if writes(used.access()) => Whose::Save,
            Some(_) => Whose::Reload,
            None => library,
        };
        let needs = sources.pass(position, step, info);
        list.push(Passed {
            instruction,
            whose,
            needs,
        });
        // The code after the branch on the task's end belongs to the next task.
        if library == Whose::End && instruction.flow_control() == FlowControl::ConditionalBranch {
            library = Whose::Start;
        }
    }
    list
}

/// The last instruction that wrote each register, memory word, and the flags.
#[derive(Default)]
struct Sources {
    registers: BTreeMap<Register, usize>,
    memory: BTreeMap<u64, usize>,
    flags: Option<usize>,
}

impl Sources {
    /// What the instruction needs; it then becomes the last writer of its results. The stack pointer is left out.
    fn pass(&mut self, position: usize, step: &SingleStep, info: &InstructionInfo) -> Vec<usize> {
        let registers = || {
            info.used_registers()
                .iter()
                .filter(|used| used.register().full_register() != Register::RSP)
        };
        let mut needs: Vec<usize> = registers()
            .filter(|used| reads(used.access()))
            .filter_map(|used| self.registers.get(&used.register().full_register()))
            .chain(self.flags.iter().filter(|_| step.instruction.rflags_read() != 0))
            .copied()
            .collect();
        for used in info.used_memory().iter().filter(|used| reads(used.access())) {
            needs.extend(self.memory.get(&address(used, step)));
        }
        needs.sort_unstable();
        needs.dedup();
        for used in registers().filter(|used| writes(used.access())) {
            self.registers.insert(used.register().full_register(), position);
        }
        for used in info.used_memory().iter().filter(|used| writes(used.access())) {
            self.memory.insert(address(used, step), position);
        }
        if step.instruction.rflags_modified() != 0 {
            self.flags = Some(position);
        }
        needs
    }
}

fn address(used: &UsedMemory, step: &SingleStep) -> u64 {
    let value = |register: Register, _, _| Some(step.register(register));
    used.virtual_address(0, value).unwrap_or_default()
}
