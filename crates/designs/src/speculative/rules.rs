//! Rules of Speculative Persistence. Tests break them.

strandline_rules::rules! {
    Design {
        /// Stores stay in the speculative store buffer until their epoch has committed. Broken: they leave at once.
        SpStoresWaitForCommit: "Speculative Persistence 4.2.2",
        /// An epoch commits when the pcommits before it are answered. Broken: when they are sent.
        SpAwaitsPcommit: "Speculative Persistence 4.2.1",
        /// A pcommit is answered when every controller has answered it. Broken: when one has.
        SpAwaitsEveryController: "Speculative Persistence 2.2 and 4.2.1",
        /// A roll-back voids the stores that the buffer holds since. Broken: they stay, and nothing leaves the buffer any more.
        SpRollBackVoidsStores: "Speculative Persistence 4.2.2",
        /// A roll-back leaves the Bloom filter what older stores have set. Broken: it resets the filter.
        SpRollBackKeepsFilter: "Speculative Persistence 4.2.2",
        /// The block look-up table holds the lines of speculative loads. Broken: of stores alone.
        SpTableHoldsLoads: "Speculative Persistence 4.2.2",
        /// A locked instruction waits for what is left in the buffer, a clflush among it. Broken: it writes at once.
        SpLockedAwaitsBuffer: "Px86 (Raad et al., POPL 2020); Speculative Persistence 4.2.2",
        /// A line that has left the private caches still meets conflicts. Broken: only cores that hold it are asked.
        SpTableOutlivesCaches: "Speculative Persistence 4.2.2",
    }
}
