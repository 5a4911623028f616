//! Writes the generated part of the shelf of litmus tests: `cargo run --release -p strandline-order --example generate -- litmus`.

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

fn write(folder: &Path) -> Result<usize, String> {
    let files = cycles::generate().map_err(|fault| fault.to_string())?;
    for (path, text) in &files {
        let path = folder.join(path);
        let parent = path.parent().unwrap_or(folder);
        let written = std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&path, text));
        written.map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(files.len())
}
