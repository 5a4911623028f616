//! Rules of `dccvap`. Tests break them.

strandline_rules::rules! {
    Design {
        /// Without ADR a dc cvap of a line that is in a write queue is done when it is on the media. Broken: at once.
        QueuedLineAwaited: "DPO II-C",
        /// Without ADR the stores behind a clflush wait until its line is on the media. Broken: until a write queue has it.
        ClflushDurable: "DPO II-C; Px86 (Raad et al., POPL 2020)",
        /// Without ADR a fence waits until non-temporal stores are on the media. Broken: until a write queue has them.
        NonTemporalDurable: "DPO II-C; Px86 (Raad et al., POPL 2020)",
        /// Without ADR a locked instruction that orders flushes waits until they are on the media. Broken: until a write queue
        /// has them.
        LockedAwaitsDurable: "DPO II-C; Px86 (Raad et al., POPL 2020)",
    }
}
