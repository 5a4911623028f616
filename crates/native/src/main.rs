//! `strandline-native WORKLOAD`: runs a built-in workload on real memory.

use std::process::ExitCode;

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn main() -> ExitCode {
    use strandline_native::{run, Args, Error, USAGE};

    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.iter().any(|arg| arg == "--help" || arg == "-h") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    match Args::parse(&args).and_then(|args| run(&args)) {
        Ok(ran) => {
            println!("{ran}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("strandline-native: {error}");
            ExitCode::from(match error {
                Error::Input(_) => 2,
                Error::Broken(_) => 1,
            })
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
fn main() -> ExitCode {
    eprintln!("strandline-native: runs on x86-64 under Linux only; `strandline run` simulates the workloads anywhere");
    ExitCode::from(2)
}
