//! Calls of named functions: tasks of programs without markers, and a program's own allocators.
//!
//! A task is in the trace as the two markers are, each a block of its own, at the function's entry and where the call
//! returns to. What is allocated in a call of an allocator is persistent memory, which the heap library asks for.

use std::collections::{BTreeMap, BTreeSet};

use dynamorio_sys::module_data_t;
use strandline_capture::{Control, Marker, PacketKind};

use crate::block::Block;
use crate::lock::Lock;
use crate::region::{self, Watch};
use crate::stream::Stream;
use crate::thread::Thread;
use crate::{recorder, State};

/// What the calls of a function are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Task,
    Allocator,
}

/// The functions, and where they are called.
pub struct Calls {
    /// Their entries, with the indices of the functions.
    entries: Lock<BTreeMap<u64, BTreeSet<usize>>>,
    /// Where calls return to.
    returns: Lock<BTreeSet<u64>>,
    /// Functions that were called.
    called: Lock<BTreeSet<usize>>,
}

/// Calls of a thread that have not returned, the innermost last.
#[derive(Default)]
pub struct InProgress {
    tasks: Vec<Call>,
    allocators: Vec<Call>,
}

impl InProgress {
    fn of(&mut self, role: Role) -> &mut Vec<Call> {
        match role {
            Role::Task => &mut self.tasks,
            Role::Allocator => &mut self.allocators,
        }
    }

    /// Whether the thread, whose stack ends here, is in a call of an allocator. A call that an exception has left is none.
    ///
    /// # Safety
    /// The stack is readable from there on.
    #[must_use]
    pub unsafe fn allocates(&self, stack: u64) -> bool {
        // A function that the allocator has jumped to has the same place of its return address, which may be the stack's end.
        // SAFETY: the caller's promise; a call's place is on the stack if it is not below its end.
        let is_there =
            |call: &Call| call.stack >= stack && unsafe { (call.stack as *const u64).read() } == call.returns_to;
        self.allocators.iter().any(is_there)
    }
}

/// A call of such a function that has not returned.
#[derive(Clone, Copy, Debug)]
struct Call {
    /// Where it returns to.
    returns_to: u64,
    /// The place of this address on the stack.
    stack: u64,
}

impl Default for Calls {
    fn default() -> Self {
        Calls {
            entries: Lock::new(BTreeMap::new()),
            returns: Lock::new(BTreeSet::new()),
            called: Lock::new(BTreeSet::new()),
        }
    }
}

/// The functions' names.
fn functions() -> impl Iterator<Item = (Role, &'static String)> {
    let options = &recorder().options;
    let tasks = options.tasks.iter().map(|name| (Role::Task, name));
    tasks.chain(options.allocators.iter().map(|name| (Role::Allocator, name)))
}

/// Whether there are any.
pub fn are_named() -> bool {
    functions().next().is_some()
}

impl Calls {
    /// The action before the instruction at this address.
    pub fn watched(&self, pc: u64) -> Option<Watch> {
        if self.entries.lock().contains_key(&pc) {
            return Some(Watch::Call);
        }
        self.returns.lock().contains(&pc).then_some(Watch::Return)
    }

    /// Searches a module for the functions.
    ///
    /// # Safety
    /// DynamoRIO's description of a module.
    pub unsafe fn look_for(&self, module: &module_data_t, path: &str) {
        for (index, (_, name)) in functions().enumerate() {
            // SAFETY: the caller's promise.
            let found = unsafe { region::addresses(module, path, name) };
            let mut entries = self.entries.lock();
            for entry in found {
                entries.entry(entry).or_default().insert(index);
            }
        }
    }

    /// Whether a function of this role begins here; it then counts as called.
    fn note(&self, pc: u64, role: Role) -> bool {
        let entries = self.entries.lock();
        let here = entries.get(&pc).into_iter().flatten();
        let of_role = here.filter(|index| functions().nth(**index).is_some_and(|(found, _)| found == role));
        let before = of_role.clone().count();
        self.called.lock().extend(of_role);
        before > 0
    }

    /// Warns of functions of which there was no call.
    pub fn tell(&self, stream: &mut Stream) {
        let entries = self.entries.lock();
        let called = self.called.lock();
        for (index, (role, name)) in functions().enumerate() {
            let (option, when) = match role {
                Role::Task => ("--task", " while the program was recorded"),
                Role::Allocator => ("--pm-heap", ""),
            };
            let is_known = entries.values().any(|known| known.contains(&index));
            let what = match (called.contains(&index), is_known) {
                (true, _) => continue,
                (false, true) => format!("{option} {name}: the function was not called{when}"),
                (false, false) => format!(
                    "{option} {name}: the program and its libraries have no function of this name: a compiler may have \
                     inlined it (gcc -fno-inline), or its symbol was stripped"
                ),
            };
            stream.packet(PacketKind::Warning, 0, &[what.as_bytes()]);
        }
    }
}

/// The functions at this address are called, and the return address is at `stack`. A task begins only if it is recorded.
pub fn begins(pc: u64, stack: u64) {
    let calls = &recorder().calls;
    // SAFETY: in a clean call, at a function's entry: the call has stored the address.
    let (thread, returns_to) = unsafe { (Thread::current(), (stack as *const u64).read()) };
    let mut is_followed = false;
    for role in [Role::Task, Role::Allocator] {
        if role == Role::Task && recorder().state() != State::Recording || !calls.note(pc, role) {
            continue;
        }
        let own = thread.calls.of(role);
        // What jumped out of a call (`longjmp`, an exception) has left its part of the stack.
        own.retain(|call| call.stack > stack);
        own.push(Call { returns_to, stack });
        is_followed = true;
        if role == Role::Task && own.len() == 1 {
            mark(thread, Marker::TaskBegin, pc);
        }
    }
    if is_followed && calls.returns.lock().insert(returns_to) {
        // Its code may be there already, without the watch.
        region::forget(returns_to);
    }
}

/// The program comes to an address to which such calls return.
pub fn returned(pc: u64, stack: u64) {
    // SAFETY: in a clean call.
    let thread = unsafe { Thread::current() };
    let returns = |call: &Call| call.returns_to == pc && call.stack < stack;
    for role in [Role::Task, Role::Allocator] {
        let own = thread.calls.of(role);
        if own.last().is_some_and(returns) {
            own.pop();
            if role == Role::Task && own.is_empty() {
                mark(thread, Marker::TaskEnd, pc);
            }
        }
    }
}

/// Adds a block that is this marker alone.
pub fn mark(thread: &mut Thread, marker: Marker, pc: u64) {
    if recorder().state() == State::Recording {
        let code = [&[0x0f, 0x1f, 0x80][..], &marker.displacement().to_le_bytes()].concat();
        alone(thread, pc, code);
    }
}

/// Adds a block of one instruction without accesses.
pub fn alone(thread: &mut Thread, pc: u64, code: Vec<u8>) {
    let id = recorder()
        .blocks
        .lock()
        .define(Block::new(pc, code, Vec::new(), vec![0], 0));
    thread.push(&[Control::Block.word(u64::from(id))]);
}
