//! Rules of LB++. Tests break them.

strandline_rules::rules! {
    Design {
        /// A store to a line of an older epoch waits until that epoch is durable. Broken: it writes the line at once, and the
        /// newer bytes persist with the older epoch.
        ConflictFlushesEpoch: "designs/src/lb_pp: intra-thread conflicts",
        /// An epoch is flushed when the epochs of other cores that it depends on are durable. Broken: as soon as it has ended, unless
        /// somebody waits for it.
        FlushAwaitsSources: "designs/src/lb_pp: dependence registers",
        /// A core notes the epoch of another core that wrote what it reads. Broken: it does not.
        RequesterRecords: "designs/src/lb_pp: dependence registers",
        /// An open epoch that becomes a source ends there. Broken: it stays open, and dependences may have a circle.
        SourceEnds: "designs/src/lb_pp: as in ASAP IV-A",
        /// A dependence register names one epoch. Broken: it stands for all of that epoch's core.
        RegisterNamesEpoch: "designs/src/lb_pp: dependence registers",
        /// A dfence waits for the epoch that it ends. Broken: for the one before.
        FenceAwaitsOwnEpoch: "designs/src/lb_pp",
        /// An epoch is durable when each of its lines has been acknowledged. Broken: each acknowledgement counts twice.
        LineAcknowledgedOnce: "designs/src/lb_pp: bank acknowledgements",
        /// A dfence's gate opens when its epoch is durable. Broken: when any epoch of its core is.
        FenceOpensWhenDurable: "designs/src/lb_pp",
    }
}
