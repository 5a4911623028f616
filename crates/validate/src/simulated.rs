//! Routines on a simulated core.

use crate::routine::{EffectiveAddress, Routine, RoutineOp, Word, REGISTERS};
use strandline_isa::{Addr, Alu, Cpu, Flush, Memory, Primitive, Rmw, Site, PM_BASE};
use strandline_machine::{factory, Heartbeat, MachineConfig, Options, Remote};
use strandline_sim::{design_named, play, Begin, Error, Play};

/// The design: the machine answers at each place.
const DESIGN: &str = "x86";

/// Volatile memory, which no routine uses, and a word of it.
const DRAM_BYTES: u64 = 4096;
const RESULT: Addr = Addr(0);

/// The site of the loop's own branch. Those of the body have its instructions' numbers.
const LOOP: Site = Site(u32::MAX);

/// The cycles of a lap on this machine, until its stores and flushes are done.
///
/// # Errors
/// The run makes no progress.
pub fn cycles(routine: &Routine, machine: &MachineConfig) -> Result<u64, Error> {
    let mut machine = machine.clone();
    machine.cores = 1;
    let memory = Memory::new(DRAM_BYTES, routine.bytes);
    for (offset, word) in routine.filling.words() {
        memory.write(Addr(PM_BASE + offset), 8, bits(word));
    }
    let routine = routine.clone();
    let begin = factory(move |cpu| run(&routine, cpu));
    let played = Play {
        cores: 1,
        memory,
        llc: Begin::Lines(Vec::new()),
        threads: vec![begin],
        remote: Remote::default(),
    };
    let options = Options {
        heartbeat: Heartbeat::Instructions,
        ..Options::default()
    };
    Ok(play(design_named(DESIGN)?, &machine, played, options)?.stats.cycles.0)
}

fn bits(word: Word) -> u64 {
    match word {
        Word::Value(value) => value,
        Word::Address(offset) => PM_BASE + offset,
    }
}

fn run<C: Cpu>(routine: &Routine, cpu: &C) {
    let mut registers = Registers::<C>([(0, C::Tag::default()); REGISTERS]);
    for (register, word) in &routine.registers {
        registers.0[usize::from(register.0)].0 = bits(*word);
    }
    for _ in 0..routine.warm_laps {
        lap(routine, cpu, &mut registers);
    }
    registers.settle(cpu);
    cpu.start_line();
    lap(routine, cpu, &mut registers);
    registers.settle(cpu);
}

fn lap<C: Cpu>(routine: &Routine, cpu: &C, registers: &mut Registers<C>) {
    for left in (0..routine.iterations).rev() {
        for (number, op) in (0..).zip(&routine.body) {
            registers.execute(*op, Site(number), cpu);
        }
        // `dec` and `jnz` are one micro-op, whose value is ready in time.
        cpu.branch(C::Tag::default(), left > 0, LOOP);
    }
}

/// Values, and when they are ready.
struct Registers<C: Cpu>([(u64, C::Tag); REGISTERS]);

impl<C: Cpu> Registers<C> {
    fn execute(&mut self, op: RoutineOp, site: Site, cpu: &C) {
        let all = &mut self.0;
        match op {
            RoutineOp::Add { to, from } => {
                let (a, b) = (all[usize::from(to.0)], all[usize::from(from.0)]);
                all[usize::from(to.0)] = (a.0.wrapping_add(b.0), cpu.alu(Alu::Simple, a.1, b.1));
            }
            RoutineOp::Mul { to, from } => {
                let (a, b) = (all[usize::from(to.0)], all[usize::from(from.0)]);
                all[usize::from(to.0)] = (a.0.wrapping_mul(b.0), cpu.alu(Alu::Mul, a.1, b.1));
            }
            RoutineOp::AddConstant { to, value } => {
                let a = &mut all[usize::from(to.0)];
                *a = (
                    a.0.wrapping_add_signed(value.into()),
                    cpu.alu(Alu::Simple, a.1, C::Tag::default()),
                );
            }
            RoutineOp::And { to, mask } => {
                let a = &mut all[usize::from(to.0)];
                *a = (a.0 & mask as u64, cpu.alu(Alu::Simple, a.1, C::Tag::default()));
            }
            RoutineOp::Load { to, at } => {
                let (addr, ready) = self.address(at);
                let loaded = cpu.load(addr, ready, 8);
                self.0[usize::from(to.0)] = (loaded.bits(), loaded.tag());
            }
            RoutineOp::Store { from, at } => {
                let (value, data) = self.0[usize::from(from.0)];
                let (addr, ready) = self.address(at);
                cpu.store(addr, ready, 8, value, data);
            }
            RoutineOp::StoreNt { from, at } => {
                let (value, data) = self.0[usize::from(from.0)];
                let (addr, ready) = self.address(at);
                cpu.store_nt(addr, ready, 8, value, data);
            }
            RoutineOp::LockedAdd { register, at } => {
                let (value, data) = self.0[usize::from(register.0)];
                let (addr, ready) = self.address(at);
                let old = cpu.rmw(addr, ready, Rmw::Add, value, data);
                self.0[usize::from(register.0)] = (old.bits(), old.tag());
            }
            RoutineOp::Clwb { at } => {
                let (addr, ready) = self.address(at);
                cpu.flush(addr, ready, Flush::Clwb);
            }
            RoutineOp::Fence => cpu.primitive(Primitive::Sfence),
            RoutineOp::Branch { on, mask } => {
                let (value, ready) = all[usize::from(on.0)];
                cpu.branch(ready, value as i32 & mask != 0, site);
            }
        }
    }

    /// Stores all values, so that a lap ends when the last one is known, as `rdtscp` waits for it.
    fn settle(&self, cpu: &C) {
        cpu.fenced();
        for (value, ready) in self.0 {
            cpu.store(RESULT, C::Tag::default(), 8, value, ready);
        }
    }

    /// The address, and when it is known. With an index its base is a constant.
    fn address(&self, at: EffectiveAddress) -> (Addr, C::Tag) {
        let (base, mut ready) = self.0[usize::from(at.base.0)];
        let mut addr = base.wrapping_add_signed(at.offset.into());
        if let Some(index) = at.index {
            let (value, known) = self.0[usize::from(index.0)];
            (addr, ready) = (addr.wrapping_add(value), known);
        }
        (Addr(addr), ready)
    }
}
