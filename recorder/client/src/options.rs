//! What the launcher says.

use std::fs;

/// The environment variable that holds the settings.
const SETTINGS: &str = "STRANDLINE_RECORDER=";

/// When recording begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum From {
    /// At the entry of the program's function `main`.
    #[default]
    Main,
    /// At once.
    Start,
    /// At a marker of the program.
    Marker,
    /// At the entry of the function of this name.
    Symbol(String),
}

/// Which process is recorded on, if the program starts another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fork {
    /// The one that starts it.
    #[default]
    Parent,
    /// The new one.
    Child,
}

/// The settings.
#[derive(Debug, Default)]
pub struct Options {
    /// Where packets go.
    pub pipe: String,
    /// Files and folders of persistent memory.
    pub pm: Vec<String>,
    /// Ranges of addresses of persistent memory: start and end.
    pub ranges: Vec<(u64, u64)>,
    /// The arena of the heap library is persistent memory.
    pub pm_heap: bool,
    /// When recording begins.
    pub from: From,
    /// Which process is recorded on.
    pub fork: Fork,
    /// Functions whose calls are tasks.
    pub tasks: Vec<String>,
    /// Number of instructions after which it ends.
    pub max_instructions: Option<u64>,
}

/// The launcher's settings in the environment.
pub fn read() -> Option<Options> {
    let environment = fs::read("/proc/self/environ").ok()?;
    let variable = environment
        .split(|byte| *byte == 0)
        .find_map(|text| text.strip_prefix(SETTINGS.as_bytes()))?;
    let text = String::from_utf8_lossy(variable);
    let mut options = Options::default();
    for line in text.lines() {
        let (name, value) = line.split_once('=')?;
        let value = value.replace("%0a", "\n").replace("%25", "%");
        match name {
            "pipe" => options.pipe = value,
            "pm" => options.pm.push(value),
            "pm-range" => {
                let (start, end) = value.split_once(':')?;
                options.ranges.push((start.parse().ok()?, end.parse().ok()?));
            }
            "pm-heap" => options.pm_heap = true,
            "from" if value == "main" => options.from = From::Main,
            "from" if value == "start" => options.from = From::Start,
            "from" if value == "marker" => options.from = From::Marker,
            "from" => options.from = From::Symbol(value),
            "fork" if value == "parent" => options.fork = Fork::Parent,
            "fork" if value == "child" => options.fork = Fork::Child,
            "task" => options.tasks.push(value),
            "max-instructions" => options.max_instructions = value.parse().ok(),
            _ => return None,
        }
    }
    Some(options)
}
