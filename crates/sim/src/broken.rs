//! Rules that a run breaks on purpose.

use strandline_machine::Options;

/// The rules that are broken in a run, so that a test can see whether they are missed. Without the feature `mutants` there
/// are none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Broken {
    /// The machine's.
    #[cfg(feature = "mutants")]
    pub machine: Option<strandline_machine::Rule>,
    /// The undo log's.
    #[cfg(feature = "mutants")]
    pub log: Option<strandline_runtime::Rule>,
    /// Cycles without the end of a task after which the run is given up, if not as many as usual.
    #[cfg(feature = "mutants")]
    pub patience: Option<strandline_kernel::Cycles>,
}

impl Broken {
    /// How the machine is run.
    pub(crate) fn options(self, seed: u64, journal: bool) -> Options {
        let options = Options {
            seed,
            journal,
            trace: journal,
            ..Options::default()
        };
        #[cfg(feature = "mutants")]
        let options = Options {
            broken: self.machine,
            patience: self.patience.unwrap_or(options.patience),
            ..options
        };
        options
    }
}
