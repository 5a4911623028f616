//! Functions that run in turn, each on a stack of its own.

use corosensei::{CoroutineResult, ScopedCoroutine, ScopedCoroutineRef, Yielder};

/// The stack of a running function. `suspend` hands a `Said` to whoever resumed the function. It returns when the function
/// is resumed, with a `Told`.
pub type Stack<Told, Said> = Yielder<Told, Said>;

/// A function, given its number, its stack and what it is resumed with at first.
pub type Function<'f, Told, Said> = dyn Fn(usize, &Stack<Told, Said>, Told) + 'f;

/// A function that waits to be resumed.
pub struct Suspended<'s, Told, Said>(ScopedCoroutineRef<'s, Told, Said, (), DefaultStack>);

type DefaultStack = corosensei::stack::DefaultStack;

impl<Told: 'static, Said: 'static> Suspended<'_, Told, Said> {
    /// Runs the function until it is suspended again: what it says then. Nothing once it has ended.
    pub fn resume(&mut self, told: Told) -> Option<Said> {
        match self.0.as_mut().resume(told) {
            CoroutineResult::Yield(said) => Some(said),
            CoroutineResult::Return(()) => None,
        }
    }
}

/// Calls `then` with `count` functions, none of which has begun: `run` with their numbers, from 0. Those that have not
/// ended then are unwound.
pub fn with_stacks<Told: 'static, Said: 'static, T>(
    count: usize,
    run: &Function<'_, Told, Said>,
    then: impl FnOnce(Vec<Suspended<'_, Told, Said>>) -> T,
) -> T {
    add_stacks(count, run, Vec::with_capacity(count), then)
}

fn add_stacks<Told: 'static, Said: 'static, T>(
    count: usize,
    run: &Function<'_, Told, Said>,
    suspended: Vec<Suspended<'_, Told, Said>>,
    then: impl FnOnce(Vec<Suspended<'_, Told, Said>>) -> T,
) -> T {
    let number = suspended.len();
    if number == count {
        return then(suspended);
    }
    let next = ScopedCoroutine::new(move |stack: &Stack<Told, Said>, told| run(number, stack, told));
    next.scope(|next| {
        let mut suspended = suspended;
        suspended.push(Suspended(next));
        add_stacks(count, run, suspended, then)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn functions_take_turns_and_those_left_are_unwound() {
        struct Dropped<'d>(&'d RefCell<Vec<usize>>, usize);
        impl Drop for Dropped<'_> {
            fn drop(&mut self) {
                self.0.borrow_mut().push(self.1);
            }
        }
        let dropped = RefCell::default();
        let run = |number: usize, stack: &Stack<u64, u64>, mut told: u64| {
            let _dropped = Dropped(&dropped, number);
            while told != 0 {
                told = stack.suspend(10 * told + number as u64);
            }
        };
        with_stacks(3, &run, |mut functions| {
            assert_eq!(functions[2].resume(1), Some(12));
            assert_eq!(functions[0].resume(2), Some(20));
            assert_eq!(functions[2].resume(3), Some(32));
            assert_eq!(functions[2].resume(0), None);
        });
        // The second has not begun.
        assert_eq!(dropped.into_inner(), [2, 0]);
    }
}
