//! The rule of names, against what gcc -O0 makes of the same statements.

use super::{Frame, FrameStep, Operand, FRAME_BYTES, SLOTS};
use strandline_isa::{Addr, Alu, Scope, Site};

const SITE: Site = Site(1);

fn frame() -> Frame {
    Frame::new(Addr(4096))
}

/// Letters for the steps: loads and stores of slots, arithmetic, branches; a fused operation is no micro-op of its own.
fn steps(frame: &Frame) -> String {
    let letter = |step| match step {
        FrameStep::Load { .. } => "l",
        FrameStep::Store { .. } => "s",
        FrameStep::Alu { fused: true, .. } => "+",
        FrameStep::Alu { .. } => "a",
        FrameStep::Branch { .. } | FrameStep::Jump { .. } => "b",
        FrameStep::Spin => "",
    };
    let next = || {
        let step = frame.next()?;
        frame.issued();
        Some(letter(step))
    };
    std::iter::from_fn(next).collect()
}

/// A value that earlier code has stored.
fn variable(frame: &Frame) -> u64 {
    let value = frame.gives(0);
    frame.begins([0, 0]);
    assert_eq!(steps(frame), "s");
    value
}

#[test]
fn an_intermediate_result_stays_in_its_register() {
    let frame = frame();
    let [a, b] = [(); 2].map(|()| variable(&frame));
    // x = (a << 3) + b: mov, shl, add with a memory operand; the store of x comes with the next statement.
    let x = frame.alu(Alu::Simple, frame.alu(Alu::Simple, a, 0), b);
    assert_eq!(steps(&frame), "lal+");
    frame.begins([a, 0]);
    assert_eq!(steps(&frame), "sl", "x has a name");
    frame.begins([x, 0]);
    assert_eq!(steps(&frame), "l");
}

#[test]
fn a_result_that_is_used_again_makes_up_for_its_store_and_load() {
    let frame = frame();
    let a = variable(&frame);
    // x = a + 1; y = x << 2; z = x: the second use shows that x has a name.
    let x = frame.alu(Alu::Simple, a, 0);
    frame.alu(Alu::Simple, x, 0);
    assert_eq!(steps(&frame), "laa");
    frame.begins([x, 0]);
    assert_eq!(
        steps(&frame),
        "sslll".replacen("ll", "l", 1),
        "y and x are stored, x is loaded twice"
    );
    frame.begins([x, 0]);
    assert_eq!(steps(&frame), "l", "from now on as any variable");
}

#[test]
fn flags_are_never_stored_and_comparisons_take_an_operand_from_memory() {
    let frame = frame();
    let [a, b] = [(); 2].map(|()| variable(&frame));
    // if (a < b), if (a == 5): mov, cmp, jcc; cmp, jcc.
    frame.branch(frame.compare(a, b), true, SITE);
    assert_eq!(steps(&frame), "ll+b");
    frame.branch(frame.compare(a, 0), true, SITE);
    assert_eq!(steps(&frame), "l+b");
    frame.begins([0, 0]);
    assert_eq!(steps(&frame), "");
}

#[test]
fn a_call_passes_its_arguments_through_slots() {
    let frame = frame();
    frame.enter(Scope::Function { arguments: 2 });
    // Two loads; call, push, mov, sub; two stores.
    assert_eq!(steps(&frame), "llssaass");
    frame.leave(Scope::Function { arguments: 2 }, 0);
    assert_eq!(steps(&frame), "ll", "leave and ret");
}

#[test]
fn library_code_keeps_its_values_in_registers_and_its_result_has_a_name() {
    let frame = frame();
    let a = variable(&frame);
    frame.enter(Scope::Library);
    let x = frame.alu(Alu::Simple, a, 0);
    let y = frame.alu(Alu::Simple, x, a);
    frame.enter(Scope::Function { arguments: 3 });
    frame.leave(Scope::Function { arguments: 3 }, 0);
    frame.begins([x, 0]);
    assert_eq!(steps(&frame), "aa");
    frame.leave(Scope::Library, 0);
    frame.begins([y, 0]);
    assert_eq!(steps(&frame), "sl");
}

/// A design has rolled the core back, and its program was created anew while the old one was in a library.
#[test]
fn scopes_of_a_program_that_was_given_up_are_forgotten() {
    let frame = frame();
    let [old, new] = [(); 2].map(|()| frame.begins_program());
    frame.leave(Scope::Library, old);
    frame.leave(Scope::Function { arguments: 1 }, old);
    assert_eq!(steps(&frame), "");
    frame.leave(Scope::Function { arguments: 1 }, new);
    assert_eq!(steps(&frame), "ll");
}

/// A load of an old value must not wait for the store of a later one.
#[test]
fn a_slot_that_was_given_to_a_later_value_is_of_an_outer_frame() {
    let frame = frame();
    let old = variable(&frame);
    let slot_of = |value| {
        frame.begins([value, 0]);
        let step = frame.next().expect("a load");
        frame.issued();
        match step {
            FrameStep::Load { slot, .. } => slot,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(slot_of(old), old % SLOTS);
    (1..SLOTS).for_each(|_| _ = variable(&frame));
    assert_eq!(slot_of(old), old % SLOTS);
    variable(&frame);
    assert_eq!(slot_of(old), SLOTS + old % SLOTS);
    assert!(frame.holds(frame.at(2 * SLOTS - 1)) && !frame.holds(Addr(frame.base.0 + FRAME_BYTES)));
}

#[test]
fn operands_are_ready_when_they_were_produced_or_loaded() {
    let frame = frame();
    let held = frame.gives(30);
    frame.begins([held, 0]);
    assert_eq!(frame.ready(), (30, 0));
    let other = frame.gives(40);
    frame.begins([held, other]);
    frame.loaded(0, 77);
    assert_eq!(frame.ready(), (77, 40));
    assert_eq!(frame.ready_of(Operand::Constant), 0);
}

#[test]
fn a_program_that_is_created_anew_numbers_its_values_as_before() {
    let frame = frame();
    let a = variable(&frame);
    frame.alu(Alu::Simple, a, a);
    let saved = frame.save();
    let before = (frame.gives(1), steps(&frame));
    frame.restore(&saved);
    assert_eq!((frame.gives(1), steps(&frame)), before);
    frame.goes_on_from(a);
    assert_eq!(frame.gives(1), a + 1);
    frame.forget();
    assert_eq!(frame.next(), None);
}

/// A program on the frame alone, and what it executes: instructions, loads and stores.
struct Counted {
    frame: Frame,
    counts: [u64; 3],
}

impl Counted {
    fn issue(&mut self) {
        for letter in steps(&self.frame).chars() {
            self.counts[0] += u64::from(letter != '+');
            self.counts[1] += u64::from(letter == 'l');
            self.counts[2] += u64::from(letter == 's');
        }
    }

    fn access(&mut self, operands: [u64; 2], kind: usize) {
        self.frame.begins(operands);
        self.issue();
        self.counts[0] += 1;
        self.counts[kind] += 1;
    }

    fn load(&mut self, address: u64) -> u64 {
        self.access([address, 0], 1);
        self.frame.gives(0)
    }

    fn store(&mut self, address: u64, data: u64) {
        self.access([address, data], 2);
    }

    fn add(&mut self, a: u64, b: u64) -> u64 {
        self.frame.alu(Alu::Simple, a, b)
    }

    /// A comparison with a constant, if `b` is 0, and a branch.
    fn test(&mut self, a: u64, b: u64) {
        self.frame.branch(self.frame.compare(a, b), true, SITE);
    }
}

/// `a = &array[i]; b = &array[j]; t = *a; *a = *b; *b = t`.
fn swap(program: &mut Counted, [i, j, _]: [u64; 3]) {
    let [a, b] = [i, j].map(|index| {
        let offset = program.add(index, 0);
        program.add(offset, 0)
    });
    let (first, second) = (program.load(a), program.load(b));
    program.store(a, second);
    program.store(b, first);
}

/// `p = *at; q = p->right; p->right = q->left; q->left = p; *at = q`.
fn rotate(program: &mut Counted, [at, _, _]: [u64; 3]) {
    let p = program.load(at);
    let q = program.load(p);
    let left = program.load(q);
    program.store(p, left);
    program.store(q, p);
    program.store(at, q);
}

/// `if (q->tail - q->head == 64) ...; q->slot[q->tail & 63] = v; q->tail++`.
fn push(program: &mut Counted, [q, v, _]: [u64; 3]) {
    let (tail, head) = (program.load(q), program.load(q));
    let filled = program.add(tail, head);
    program.test(filled, 0);
    let index = program.add(tail, 0);
    let offset = program.add(index, 0);
    let slot = program.add(offset, q);
    program.store(slot, v);
    let next = program.add(tail, 0);
    program.store(q, next);
}

/// 64 turns of `while (p && p->key < k) p = p->next`.
fn walk(program: &mut Counted, [mut p, k, _]: [u64; 3]) {
    for _ in 0..64 {
        program.test(p, 0);
        let key = program.load(p);
        program.test(key, k);
        p = program.load(p);
    }
}

/// 64 turns of `while (p) { if (k == p->key) return p; p = k < p->key ? p->left : p->right; }`.
fn find(program: &mut Counted, [mut p, k, _]: [u64; 3]) {
    for _ in 0..64 {
        program.test(p, 0);
        let key = program.load(p);
        program.test(key, k);
        program.test(k, key);
        p = program.load(p);
    }
}

type Function = fn(&mut Counted, [u64; 3]);

/// The bodies of C functions as gcc 12.2 -O0 compiles them, counted in its assembly: instructions, loads and stores. Of
/// the loops 64 turns, one of them 9 and 14 instructions, with the jump of every other turn of `find` as half of one.
const MEASURED: [(&str, Function, [u64; 3]); 5] = [
    ("swap", swap, [20, 9, 5]),
    ("rotate", rotate, [16, 11, 5]),
    ("push", push, [21, 11, 2]),
    ("walk", walk, [64 * 9, 64 * 6, 64]),
    ("find", find, [64 * 27 / 2, 64 * 9, 64]),
];

#[test]
fn functions_execute_what_gcc_makes_of_them() {
    for (name, function, measured) in MEASURED {
        let frame = frame();
        let variables = [(); 3].map(|()| variable(&frame));
        let mut program = Counted { frame, counts: [0; 3] };
        function(&mut program, variables);
        program.frame.begins([0, 0]);
        program.issue();
        let [instructions, loads, stores] = program.counts;
        let near = |ours: u64, c: u64| (0.8..=1.2).contains(&(ours as f64 / c as f64));
        assert!(
            near(instructions, measured[0]) && near(loads, measured[1]),
            "{name}: {:?} for {measured:?}",
            program.counts
        );
        // A value that C would compute again is kept: one store more for each, and in a turn.
        assert!(
            stores.abs_diff(measured[2]) <= 64,
            "{name}: {stores} for {}",
            measured[2]
        );
    }
}
