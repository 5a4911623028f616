//! Rules of HOPS and ASAP. Tests break them.

strandline_rules::rules! {
    Design {
        /// An epoch is complete when its writes are acknowledged. Broken: when they are sent.
        EpochAwaitsWrites: "ASAP V-C",
        /// An entry of the persist buffer keeps the bytes that its epoch's stores left. Broken: what is sent is what the line
        /// holds by then.
        EntryKeepsBytes: "ASAP V-A",
        /// A full persist buffer holds the store. Broken: the store goes on without an entry.
        FullBufferHoldsStore: "ASAP V-A",
        /// Strands of one core that write a line persist in that order. Broken: as if they had written different ones.
        StrandsOfALineInOrder: "StrandWeaver III-A, Equation 3; ASAP II-A",
        /// A release begins an epoch: what came before persists before it. Broken: it does not.
        ReleaseBeginsEpoch: "ASAP II-A and IV-A",
        /// With release persistency, a write to a persistent line that another core has written is a dependence, too, since flushes
        /// are of whole lines. Broken: it is none.
        LinesDepend: "ASAP IV-B",
        /// An early flush to a line that has an undo record is kept in a delay record. Broken: it is dropped.
        CollisionDelays: "ASAP IV-F and Table I",
        /// An early flush to a line that has a delay record of its own epoch takes that one's place. Broken: it is handled as if there were
        /// none.
        EpochsDelaysCoalesce: "ASAP IV-F",
        /// A safe flush takes the place of its own epoch's records of its line. Broken: it updates the undo record as if the line
        /// held a later epoch's value.
        SafeReplacesOwnRecords: "ASAP IV-B and V-B",
        /// A commit deletes the epoch's undo records. Broken: they stay.
        CommitForgetsUndo: "ASAP V-C",
        /// An epoch is durable when the controllers have acknowledged its commit. Broken: when they have been told.
        CommitAwaitsControllers: "ASAP V-C",
        /// A refused flush is sent again when its epoch is safe. Broken: it is forgotten.
        RefusedComesAgain: "ASAP V-D",
        /// An early flush behind a refused one of its line is refused, too. Broken: it is taken.
        RefusedInOrder: "ASAP V-D",
    }
}
