//! One-instruction latencies and bandwidths, derived by hand from the presets.
use std::future::Future;
use strandline_design::{About, Design, Needs};
use strandline_isa::*;

use strandline_machine::*;

struct X86;
impl Design for X86 {
    fn about(&self) -> About {
        About { name: "x86", paper: "", summary: "", needs: Needs::default(), promises_recovery: true, model: "" }
    }
    fn lowering(&self) -> Lowering {
        Lowering { log: true, flush: Some(Flush::Clwb), durable: &[Primitive::Sfence], ..Lowering::NOTHING }
    }
}

fn run<F: Future<Output = ()> + 'static>(machine: &Machine, warm: u64, program: impl FnOnce(SimCpu) -> F) -> Outcome {
    let mut system = System::new(machine, X86, 1, Memory::new(1 << 20, 1 << 20), Options::default());
    system.warm(PM_BASE..PM_BASE + warm);
    let cpu = system.cpu(CoreId(0));
    system.start(CoreId(0), Box::pin(program(cpu)));
    system.run().unwrap()
}

#[test]
fn sfence_waits_for_the_flush() {
    let m = Machine::preset("cosplay").unwrap();
    for n in [1u64, 2, 4, 8, 16, 32, 64] {
        let out = run(&m, 1 << 16, move |cpu| async move {
            let cpu = &cpu;
            for i in 0..n {
                let a = cpu.word(PM_BASE + i * 64);
                a.load().await;
            }
            cpu.start_line().await;
            for i in 0..n {
                let a = cpu.word(PM_BASE + i * 64);
                a.store(cpu.word(7)).await;
                a.flush().await;
            }
            cpu.primitive(Primitive::Sfence).await;
            cpu.word(PM_BASE).store(cpu.word(1)).await;
        });
        println!("{n} {:?}", out.stats);
    }
}

#[test]
fn speed() {
    let m = Machine::preset("cosplay").unwrap();
    let t = std::time::Instant::now();
    let out = run(&m, 1 << 20, move |cpu| async move {
        let cpu = &cpu;
        let mut s = cpu.word(88172645463325252);
        cpu.start_line().await;
        for i in 0..300_000u64 {
            cpu.note(Note::TaskBegin);
            let mut sum = cpu.word(0);
            for _ in 0..8 {
                s = s ^ (s << 13);
                s = s ^ (s >> 7);
                s = s ^ (s << 17);
                let a = (s.scaled_below(8192) << 6) + PM_BASE;
                let v = a.load().await;
                sum = sum + v;
                if sum.is(5).branch() {
                    sum = sum + 1;
                }
                let d = s & 0xff8;
                d.store(sum).await;
                d.load().await;
                for _ in 0..6 {
                    sum = sum + 3;
                }
            }
            let l = cpu.word(PM_BASE + (1 << 19) + (i % 4096) * 64);
            l.store(sum).await;
            l.flush().await;
            cpu.primitive(Primitive::Sfence).await;
            let l = (s.scaled_below(8192) << 6) + PM_BASE;
            l.store(sum).await;
            l.flush().await;
            cpu.primitive(Primitive::Sfence).await;
            cpu.note(Note::TaskEnd);
        }
    });
    let e = t.elapsed().as_secs_f64();
    println!("{:?} {} MIPS", out.stats, out.stats.instructions as f64 / e / 1e6);
}
