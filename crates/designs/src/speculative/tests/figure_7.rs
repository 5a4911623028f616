//! Figure 7: the buffer, the checkpoints and the epochs over time.

use super::rig::{Rig, A, B, C, D};
use crate::mock::ZERO;
use strandline_design::ControllerId;
use strandline_kernel::Cycles;

/// Buffer, checkpoints, speculative epochs.
fn state(rig: &mut Rig) -> (Vec<String>, usize, usize) {
    (rig.buffer(), rig.checkpoints(), rig.epochs())
}

fn is(entries: &[&str], checkpoints: usize, epochs: usize) -> (Vec<String>, usize, usize) {
    let entries = entries.iter().map(|entry| (*entry).to_owned()).collect();
    (entries, checkpoints, epochs)
}

/// Section 4.2.2: "The first pcommit+sfence is encountered, a first epoch starts and a checkpoint is
/// taken. The next two stores are placed in the SSB and retire. The second pcommit+sfence results in a
/// second checkpoint. When the first pcommit is completed, st A and st B are released to the cache."
#[test]
fn the_buffer_goes_through_the_steps_of_figure_7() {
    let mut rig = Rig::new(&[]);
    rig.pcommit();
    assert_eq!(state(&mut rig), is(&[], 0, 0), "a pcommit alone does not speculate");
    rig.sfence();
    assert_eq!(state(&mut rig), is(&[], 1, 1), "the first epoch");
    rig.store(A, 1);
    rig.store(B, 2);
    assert_eq!(state(&mut rig), is(&["st A", "st B"], 1, 1));
    rig.barrier();
    assert_eq!(state(&mut rig), is(&["st A", "st B", "pcommit"], 2, 2), "the second");
    rig.store(C, 3);
    rig.store(D, 4);
    assert_eq!(state(&mut rig), is(&["st A", "st B", "pcommit", "st C", "st D"], 2, 2));
    assert!(rig.both.hw.spec.performs.is_empty(), "nothing has left");

    // The first pcommit completes: the first epoch commits, its stores are released, one a cycle.
    rig.answer_pcommit();
    assert_eq!((rig.checkpoints(), rig.epochs()), (1, 1));
    rig.perform();
    assert_eq!(state(&mut rig), is(&["st B", "pcommit", "st C", "st D"], 1, 1));
    let next = Cycles(rig.both.hw.now + 1);
    let at: Vec<Cycles> = rig.both.hw.spec.performs.iter().map(|(.., at)| *at).collect();
    assert_eq!(at, [next], "the port takes one a cycle");
    rig.tick();
    rig.perform();
    rig.tick();
    // The second pcommit is executed. Its epoch's successor stays in the buffer.
    assert_eq!(state(&mut rig), is(&["st C", "st D"], 1, 1));
    assert!(!rig.is_certain());
    rig.both.answer(ControllerId(0));
    assert_eq!(state(&mut rig), is(&["st C", "st D"], 1, 1), "one of two controllers");
    rig.both.answer(ControllerId(1));
    assert_eq!((rig.checkpoints(), rig.epochs()), (0, 0));
    assert!(rig.is_certain());
    assert_eq!(rig.run_to_end(), ["st 5", "st 6"]);
    assert_eq!(state(&mut rig), is(&[], 0, 0));
    assert!(
        !rig.both.design.core(ZERO).active,
        "the core has left speculative execution"
    );
}
