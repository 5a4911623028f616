//! Rules of persist buffers, which several families use. Tests break them.

strandline_rules::rules! {
    Design {
        /// Writes of an epoch are sent when its core's earlier epochs are complete. Broken: before.
        EpochsInOrder: "ASAP II and Figure 1",
        /// An epoch waits for those of other cores that it depends on. Broken: it does not.
        EpochAwaitsOthers: "ASAP IV-A and IV-E",
        /// A dependence begins a new epoch on both cores. Broken: on neither.
        DependenceSplitsEpochs: "ASAP IV-E",
        /// Stores of one epoch to a line share an entry of the persist buffer. Broken: those of different epochs do, too.
        EpochsCoalesceApart: "ASAP IV-B and V-A",
    }
}
