//! Where a program's end begins: `main` has returned into the C library, or the library's `exit` runs.

use crate::source::functions;
use crate::{Block, Module, Recording};
use std::collections::HashMap;

/// Functions with which a program ends.
const NAMES: [&str; 4] = ["exit", "quick_exit", "_exit", "_Exit"];

/// What a block's place says of the program's end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// It is in the C library, into which `main` returns.
    pub in_c_library: bool,
    /// It is the start of a function with which the program ends.
    pub by_function: bool,
}

/// What the blocks of a recording say, in their order.
#[must_use]
pub fn ends(recording: &Recording) -> Vec<Ends> {
    let modules = recording.modules();
    let libraries: Vec<&Module> = modules.iter().filter(|module| is_c_library(&module.path)).collect();
    // A static program holds the C library itself.
    let own = || modules.iter().filter(|module| !module.path.contains(".so")).collect();
    let searched = if libraries.is_empty() { own() } else { libraries.clone() };
    let starts: HashMap<u64, Vec<u8>> = functions(&searched, &NAMES).into_iter().collect();
    let of = |block: &Block| Ends {
        in_c_library: libraries
            .iter()
            .any(|module| (module.base..module.end).contains(&block.pc)),
        by_function: starts.get(&block.pc).is_some_and(|code| is_same(code, &block.code)),
    };
    recording.blocks().iter().map(of).collect()
}

/// Whether a file has the executed code. If it was replaced since, its symbols say nothing.
fn is_same(code: &[u8], executed: &[u8]) -> bool {
    code.iter().zip(executed).all(|(one, other)| one == other)
}

fn is_c_library(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    ["libc.so", "libc-", "libc.musl", "ld-musl"]
        .iter()
        .any(|start| name.starts_with(start))
}

/// Notices how a thread leaves `main`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frames {
    /// The highest return address of a call: those of `main` and its callees are below its own.
    highest: u64,
    returned: bool,
    left: bool,
}

impl Frames {
    /// A call stored its return address here.
    pub fn call(&mut self, at: u64) {
        self.highest = self.highest.max(at);
    }

    /// A return loaded its address from here.
    pub fn returns(&mut self, at: u64) {
        self.returned = at > self.highest;
    }

    /// The thread's next block; whether the program's end begins with it.
    pub fn enter(&mut self, ends: Ends) -> bool {
        let returned = std::mem::take(&mut self.returned) && ends.in_c_library;
        let begins = !self.left && (returned || ends.by_function);
        self.left |= begins;
        begins
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IN_LIBRARY: Ends = Ends {
        in_c_library: true,
        by_function: false,
    };

    #[test]
    fn only_a_return_above_all_calls_leaves_main() {
        let mut frames = Frames::default();
        frames.call(0x7fe0);
        frames.call(0x7fc0);
        frames.returns(0x7fc0);
        assert!(!frames.enter(IN_LIBRARY), "a callback of the library returns");
        frames.returns(0x7fe0);
        assert!(!frames.enter(IN_LIBRARY));
        frames.returns(0x7ff0);
        assert!(frames.enter(IN_LIBRARY));
        assert!(!frames.enter(IN_LIBRARY), "it begins once");
    }

    #[test]
    fn a_return_to_code_outside_the_c_library_leaves_a_function_and_not_main() {
        let mut frames = Frames::default();
        frames.returns(0x7ff0);
        assert!(!frames.enter(Ends::default()));
        assert!(!frames.enter(IN_LIBRARY), "a later call of the library is no end");
        let by_function = Ends {
            by_function: true,
            ..IN_LIBRARY
        };
        assert!(frames.enter(by_function));
    }

    #[test]
    fn c_libraries_are_known_by_their_files() {
        for path in [
            "/lib/x86_64-linux-gnu/libc.so.6",
            "/lib/libc-2.31.so",
            "/lib/ld-musl-x86_64.so.1",
        ] {
            assert!(is_c_library(path), "{path}");
        }
        assert!(!is_c_library("/lib/libcrypto.so.3") && !is_c_library("/home/libc/program"));
    }

    #[test]
    fn symbols_of_a_file_that_was_replaced_say_nothing() {
        assert!(is_same(&[1, 2, 3, 4], &[1, 2]) && is_same(&[1, 2], &[1, 2, 3]));
        assert!(!is_same(&[1, 2, 3, 4], &[1, 9]));
    }
}
