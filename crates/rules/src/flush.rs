//! Rules of flush on fail, which `crates/sim/tests/all/flush.rs` checks.

rules! {
    MachineConfig {
        /// A flush on fail writes every place of which power failure is said to take nothing. Broken: it leaves out the caches.
        EverySavedPlaceIsWritten: "ASAP II-C: eADR flushes the caches",
        /// Hosts write their caches back before the controllers flush what they hold. Broken: the controllers flush first, and what
        /// comes then stays with them.
        CachesBeforeBuffers: "CXL 2.0: Global Persistent Flush, phases 1 and 2",
        /// A device answers when its bytes are on the media. Broken: when it has the message.
        AnswersWhenDurable: "CXL 2.0: Global Persistent Flush, phase 2",
    }
}
