//! Starts a program under DynamoRIO with the recorder's client. It replaces itself with DynamoRIO, which loads the
//! program. So the exit status, the signals, the standard streams and the process id are the program's own.

mod arguments;
mod program;
mod refusal;

use std::env;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The environment variable with the client's settings.
const SETTINGS: &str = "STRANDLINE_RECORDER";

/// The loader's environment variable with the libraries that it takes first.
const PRELOAD: &str = "LD_PRELOAD";

/// The exit status of bad input.
const BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    let words: Vec<OsString> = env::args_os().skip(1).collect();
    let (failure, program) = match arguments::read(words.iter().cloned()) {
        Ok(arguments) => (start(&arguments), arguments.program),
        Err(failure) => (failure, Vec::new()),
    };
    let told = refusal::pipe_among(&words).is_some_and(|pipe| refusal::tell(pipe, &program, &failure).is_ok());
    if !told {
        eprintln!("strandline-launch: {failure}");
    }
    ExitCode::from(BAD_INPUT)
}

/// Becomes the program; returns only on an error.
fn start(arguments: &arguments::Arguments) -> String {
    match prepare(arguments) {
        Ok(mut command) => format!(
            "cannot start DynamoRIO: {}: is the installation complete? run 'strandline setup-recorder'",
            command.exec()
        ),
        Err(failure) => failure,
    }
}

fn prepare(arguments: &arguments::Arguments) -> Result<Command, String> {
    let here = env::current_exe().map_err(|error| format!("cannot find its own place: {error}"))?;
    let folder = here.parent().unwrap_or(Path::new("/"));
    let core = needed(folder, "libdynamorio.so")?;
    let client = needed(folder, "libstrandline_client.so")?;
    let quote = quote_for(&client)?;
    let program = program::find(&arguments.program[0])?;
    let mut options = OsString::from("-code_api -stderr_mask 12 -no_follow_children -client_lib ");
    options.push(quote);
    options.push(&client);
    options.push(";0;");
    options.push(quote);
    let mut command = Command::new(core);
    if let Some((_, library)) = arguments.settings.iter().find(|(name, _)| *name == "pm-heap") {
        command.env(PRELOAD, preloaded(Path::new(library))?);
    }
    command
        .arg0(arguments.name.as_ref().unwrap_or(&arguments.program[0]))
        .args(&arguments.program[1..])
        .env("DYNAMORIO_EXE_PATH", program)
        .env("DYNAMORIO_RUNUNDER", "1")
        .env("DYNAMORIO_OPTIONS", options)
        .env(SETTINGS, settings(arguments));
    Ok(command)
}

/// The loader takes the heap library before those that the program already asks for.
fn preloaded(library: &Path) -> Result<OsString, String> {
    if !library.is_file() {
        return Err(format!(
            "{} is missing: run 'strandline setup-recorder'",
            library.display()
        ));
    }
    let mut all = library.as_os_str().to_owned();
    if all.as_bytes().iter().any(|byte| b" :".contains(byte)) {
        return Err(format!(
            "{}: the loader takes no path with a space or a colon",
            library.display()
        ));
    }
    if let Some(others) = env::var_os(PRELOAD) {
        all.push(":");
        all.push(others);
    }
    Ok(all)
}

fn needed(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let path = folder.join(name);
    match path.is_file() {
        true => Ok(path),
        false => Err(format!(
            "{} is missing: run 'strandline setup-recorder'",
            path.display()
        )),
    }
}

/// DynamoRIO splits its options into words, and a client's library at semicolons.
fn quote_for(client: &Path) -> Result<&'static str, String> {
    let bytes = client.as_os_str().as_bytes();
    ["\"", "'", "`"]
        .into_iter()
        .find(|quote| !bytes.contains(&quote.as_bytes()[0]) && !bytes.contains(&b';'))
        .ok_or_else(|| {
            format!(
                "DynamoRIO cannot load from {}: install where the path has no semicolon",
                client.display()
            )
        })
}

/// Settings for the client, one per line: a name, `=` and a value, in which `%` and line breaks are encoded as in a
/// URL.
fn settings(arguments: &arguments::Arguments) -> OsString {
    let mut text = Vec::new();
    for (name, value) in &arguments.settings {
        text.extend(name.as_bytes());
        text.push(b'=');
        for byte in value.as_bytes() {
            match byte {
                b'%' | b'\n' => text.extend(format!("%{byte:02x}").as_bytes()),
                byte => text.push(*byte),
            }
        }
        text.push(b'\n');
    }
    OsString::from_vec(text)
}
