//! Parameters whose value is a word.

/// In which order a core's stores become visible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Consistency {
    /// Total store order: stores leave the store queue in program order (x86).
    #[default]
    Tso,
    /// Stores to different lines may leave in any order (DPO, section V: ARM v7 with store atomicity).
    Weak,
}

impl Consistency {
    pub(super) const ALL: [Consistency; 2] = [Consistency::Tso, Consistency::Weak];
    pub(super) const WORDS: &'static [&'static str] = &["tso", "weak"];
}

/// How a miss finds the other caches' copies of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coherence {
    /// The shared level keeps a directory and forwards to the owner or the sharers.
    #[default]
    Directory,
    /// Every miss is broadcast to all private caches.
    Snoop,
}

impl Coherence {
    pub(super) const ALL: [Coherence; 2] = [Coherence::Directory, Coherence::Snoop];
    pub(super) const WORDS: &'static [&'static str] = &["directory", "snoop"];
}
