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
    /// The heap library, if its arena is persistent memory.
    pub pm_heap: Option<String>,
    /// Functions whose allocations are persistent memory; none if all are.
    pub allocators: Vec<String>,
    /// When recording begins.
    pub from: From,
    /// Which process is recorded on.
    pub fork: Fork,
    /// Functions whose calls are tasks.
    pub tasks: Vec<String>,
    /// Number of instructions after which it ends.
    pub max_instructions: Option<u64>,
}

impl Options {
    /// The launcher's options for another program that is recorded in the same way, into this pipe.
    pub fn words(&self, pipe: &str) -> Vec<String> {
        let mut words = vec!["--pipe".to_owned(), pipe.to_owned()];
        let mut add = |name: &str, value: &str| words.extend([name.to_owned(), value.to_owned()]);
        self.pm.iter().for_each(|path| add("--pm", path));
        self.ranges
            .iter()
            .for_each(|(start, end)| add("--pm-range", &format!("{start}:{end}")));
        self.pm_heap.iter().for_each(|library| add("--pm-heap", library));
        self.allocators.iter().for_each(|function| add("--allocator", function));
        match &self.from {
            From::Main => {}
            From::Start => add("--from", "start"),
            From::Marker => add("--from", "marker"),
            From::Symbol(name) => add("--from", name),
        }
        self.tasks.iter().for_each(|function| add("--task", function));
        if self.fork == Fork::Child {
            add("--fork", "child");
        }
        if let Some(limit) = self.max_instructions {
            add("--max-instructions", &limit.to_string());
        }
        words
    }
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
            "pm-heap" => options.pm_heap = Some(value),
            "allocator" => options.allocators.push(value),
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
