//! Rules of strand persistency. Tests break them.

strandline_rules::rules! {
    Design {
        /// A persist barrier holds the flushes behind it in its strand buffer until those before it have completed. Broken: they
        /// issue at once.
        BarrierHoldsBuffer: "StrandWeaver IV, strand buffer unit",
        /// A flush retires from its strand buffer, and lets the barrier behind it complete, when it is acknowledged. Broken: when
        /// it is sent.
        BarrierAwaitsAll: "StrandWeaver IV, strand buffer unit",
        /// A flush lets older flushes of its line complete first, whichever strand buffer they are in. Broken: it goes by its own
        /// buffer alone.
        LineInOrderAcrossStrands: "StrandWeaver III-A, Equations 3 and 4",
        /// A flush waits in the persist queue for the youngest older store to its line. Broken: it does not look for one.
        FlushAwaitsStore: "StrandWeaver IV, persist queue",
        /// Stores behind a barrier wait until the flushes before it have issued to the strand buffers. Broken: they do not.
        BarrierHoldsStores: "StrandWeaver IV, persist queue",
        /// A join completes when everything before it has completed. Broken: when it has issued.
        JoinAwaitsCompletion: "StrandWeaver IV, persist queue",
        /// A store waits for the older flushes of its line to look the line up. Broken: it does not.
        StoreAwaitsFlush: "StrandWeaver III-A, Equation 1",
        /// An eviction or a request waits for the tails of all strand buffers. Broken: for the first one's.
        TailsOfAllBuffers: "StrandWeaver IV, managing cache writebacks",
        /// While a request for a line waits, its owner stores nothing more to it. Broken: it does.
        SnoopHoldsStores: "StrandWeaver III-A, Equations 1 and 3",
    }
}
