//! Writes the generated part of the shelf of litmus tests:
//! `cargo run --release -p strandline-order --example generate -- litmus`.

mod cycles;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder] = arguments.as_slice() else {
        eprintln!("generate: give the folder to write to: generate -- litmus");
        return ExitCode::from(2);
    };
    match write(Path::new(folder)) {
        Ok(count) => {
            println!("{count} tests in {folder}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("generate: {message}");
            ExitCode::from(2)
        }
    }
}

/// Writes the tests, and deletes tests in their folders that are no longer generated.
fn write(folder: &Path) -> Result<usize, String> {
    let shelf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus");
    let files = cycles::generate(&shelf)?;
    let at = |path: &str| folder.join(path);
    let fault = |path: &str, error: std::io::Error| format!("{}: {error}", at(path).display());
    for family in cycles::folders() {
        std::fs::create_dir_all(at(family)).map_err(|error| fault(family, error))?;
        for path in cycles::tests_in(folder, family)?
            .keys()
            .filter(|path| !files.contains_key(*path))
        {
            std::fs::remove_file(at(path)).map_err(|error| fault(path, error))?;
        }
    }
    for (path, text) in &files {
        std::fs::write(at(path), text).map_err(|error| fault(path, error))?;
    }
    Ok(files.len())
}
