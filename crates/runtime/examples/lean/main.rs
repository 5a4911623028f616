//! The instructions of our stackless coroutine library, counted from its machine code.
//!
//! `cargo run --release -p strandline-runtime --example lean` prints the counts and the listings of docs/coroutines.md.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod count;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod library;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod pc;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod print;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod step;
#[cfg(all(test, target_arch = "x86_64", target_os = "linux"))]
mod tests;

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn main() -> std::process::ExitCode {
    use std::process::ExitCode;

    match count::passages(4, 80) {
        Ok(passages) => {
            print::table(&passages);
            let without_waiting =
                |passage: &&count::Passage| passage.from != pc::marks::YIELD && passage.to != pc::marks::RESUMED;
            let ways = passages.iter().map(|(passage, _)| passage);
            ways.filter(without_waiting).for_each(print::listing);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("lean: cannot step through a process of ours ({error}); run it where ptrace is allowed");
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
fn main() {}
