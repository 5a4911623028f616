//! Tasks of programs without markers: each call of a named function is one. A call is in the trace as the two markers are,
//! each a block of its own, at the function's entry and where the call returns to.

use std::collections::{BTreeMap, BTreeSet};

use dynamorio_sys::module_data_t;
use strandline_capture::{Control, Kind, Marker};

use crate::block::Block;
use crate::lock::Lock;
use crate::region::{self, Watch};
use crate::stream::Stream;
use crate::thread::Thread;
use crate::{recorder, State};

/// The functions, and where they are called.
pub struct Tasks {
    /// Their entries, with the index of the function's name.
    entries: Lock<BTreeMap<u64, usize>>,
    /// Where calls return to.
    returns: Lock<BTreeSet<u64>>,
    /// Functions that were called while the program was recorded.
    called: Lock<BTreeSet<usize>>,
}

/// A call of such a function that has not returned.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Where it returns to.
    returns_to: u64,
    /// The place of this address on the stack.
    stack: u64,
}

impl Default for Tasks {
    fn default() -> Self {
        Tasks {
            entries: Lock::new(BTreeMap::new()),
            returns: Lock::new(BTreeSet::new()),
            called: Lock::new(BTreeSet::new()),
        }
    }
}

impl Tasks {
    /// The action before the instruction at this address.
    pub fn watched(&self, pc: u64) -> Option<Watch> {
        if self.entries.lock().contains_key(&pc) {
            return Some(Watch::TaskBegin);
        }
        self.returns.lock().contains(&pc).then_some(Watch::TaskEnd)
    }

    /// Searches a module for the functions.
    ///
    /// # Safety
    /// DynamoRIO's description of a module.
    pub unsafe fn look_for(&self, module: &module_data_t, path: &str) {
        for (index, name) in recorder().options.tasks.iter().enumerate() {
            // SAFETY: the caller's promise.
            let found = unsafe { region::addresses(module, path, name) };
            self.entries
                .lock()
                .extend(found.into_iter().map(|entry| (entry, index)));
        }
    }

    /// Warns of functions of which there was no call.
    pub fn tell(&self, stream: &mut Stream) {
        let entries = self.entries.lock();
        let called = self.called.lock();
        for (index, name) in recorder().options.tasks.iter().enumerate() {
            let what = match (called.contains(&index), entries.values().any(|known| *known == index)) {
                (true, _) => continue,
                (false, true) => format!("--task {name}: the function was not called while the program was recorded"),
                (false, false) => format!(
                    "--task {name}: the program and its libraries have no function of this name: a compiler may have inlined \
                     it (gcc -fno-inline), or its symbol was stripped"
                ),
            };
            stream.packet(Kind::Warning, 0, &[what.as_bytes()]);
        }
    }
}

/// The function at this address is called, and its return address is at `stack`.
pub fn begins(pc: u64, stack: u64) {
    let tasks = &recorder().tasks;
    // SAFETY: in a clean call, at a function's entry: the call has stored the address.
    let (thread, returns_to) = unsafe { (Thread::current(), (stack as *const u64).read()) };
    if let Some(index) = tasks.entries.lock().get(&pc) {
        tasks.called.lock().insert(*index);
    }
    // What jumped out of a call (`longjmp`, an exception) has left its part of the stack.
    thread.tasks.retain(|call| call.stack > stack);
    thread.tasks.push(Call { returns_to, stack });
    if thread.tasks.len() == 1 {
        mark(thread, Marker::TaskBegin, pc);
    }
    let fresh = tasks.returns.lock().insert(returns_to);
    if fresh {
        // Its code may be there already, without the watch.
        region::forget(returns_to);
    }
}

/// The program comes to an address to which such calls return.
pub fn returned(pc: u64, stack: u64) {
    // SAFETY: in a clean call.
    let thread = unsafe { Thread::current() };
    let returns = |call: &Call| call.returns_to == pc && call.stack < stack;
    if !thread.tasks.last().is_some_and(returns) {
        return;
    }
    thread.tasks.pop();
    if thread.tasks.is_empty() {
        mark(thread, Marker::TaskEnd, pc);
    }
}

/// Adds a block that is this marker alone.
fn mark(thread: &mut Thread, marker: Marker, pc: u64) {
    if recorder().state() != State::Recording {
        return;
    }
    let code = [&[0x0f, 0x1f, 0x80][..], &marker.displacement().to_le_bytes()].concat();
    let id = recorder()
        .blocks
        .lock()
        .define(Block::new(pc, code, Vec::new(), vec![0], 0));
    thread.push(&[Control::Block.word(u64::from(id))]);
}
