//! Rules of persist buffers, which several families use. Tests break them.

strandline_rules::rules! {
    Design {
        /// Writes of an epoch are sent when its core's earlier epochs are complete. Broken: before.
        EpochsInOrder: "ASAP II and Figure 1",
        /// An epoch waits for those of other cores that it depends on. Broken: it does not.
        EpochAwaitsOthers: "ASAP IV-A and IV-E",
        /// A dependence begins a new epoch on both cores. Broken: on neither.
        DependenceSplitsEpochs: "ASAP IV-E",
        /// An epoch commits when the commits of those before it are answered. Broken: when they are sent; an epoch still ends with
        /// all answers.
        CommitsInTurn: "ASAP V-C",
        /// Each strand proves its own epochs. Broken: a commit proves all older epochs of its core.
        FrontierHasStrands: "docs/asap-frontier.md, The frontier",
        /// Dependences on an epoch are resolved when all commits up to it are answered. Broken: when its own are.
        ResolvedByAllAnswers: "docs/asap-frontier.md, Answers",
        /// A dfence waits for an answer that its epochs' frontier is known. Broken: for their commits to be sent.
        FenceAwaitsAnswer: "docs/asap-frontier.md, Answers",
        /// A dfence waits until an epoch without early flushes is proved, too. Broken: such an epoch does not hold it.
        FenceAwaitsSafe: "docs/asap-frontier.md, Answers",
        /// Of two frontiers of strands with the same number the larger one has the bits of both. Broken: the bits that were heard of
        /// first stay.
        JoinKeepsBits: "docs/asap-frontier.md, The frontier",
        /// A safe flush waits for an early one of its line and epoch, which may be refused. Broken: it goes once that one is sent.
        FlightHoldsYounger: "ASAP V-D",
        /// Stores of one epoch to a line share an entry of the persist buffer. Broken: those of different epochs do, too.
        EpochsCoalesceApart: "ASAP IV-B and V-A",
    }
}
