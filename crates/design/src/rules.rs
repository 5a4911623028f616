//! Rules of shared parts that a test can break; see [`strandline_kernel::breakable_rules`].

strandline_kernel::breakable_rules! {
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
    /// A dirty line that leaves the L1 waits for the recorded tails of the strand buffers. Broken: it is written back at once.
    EvictionAwaitsTails: "StrandWeaver IV, managing cache writebacks",
    /// A request for a dirty line waits for the recorded tails of its owner's strand buffers. Broken: it is answered at once.
    SnoopAwaitsTails: "StrandWeaver IV, enabling inter-thread persist order",
    /// While a request for a line waits, its owner stores nothing more to it. Broken: it does.
    SnoopHoldsStores: "StrandWeaver III-A, Equations 1 and 3",
    /// A dirty line that gets a new owner is written back on its way. Broken: it is handed over dirty.
    HandedOverClean: "StrandWeaver III-A, Equation 2",
    /// Writes of an epoch are sent when its core's earlier epochs are complete. Broken: before.
    EpochsInOrder: "ASAP II and Figure 1",
    /// An epoch is complete when its writes are acknowledged. Broken: when they are sent.
    EpochAwaitsWrites: "ASAP V-C",
    /// An epoch waits for those of other cores that it depends on. Broken: it does not.
    EpochAwaitsOthers: "ASAP IV-A and IV-E",
    /// A read of what another core has written is a dependence, too. Broken: only a write is.
    ReadsDepend: "ASAP IV-A",
    /// Volatile lines carry dependences, too. Broken: only persistent ones do.
    VolatileLinesDepend: "ASAP IV-A",
    /// A dependence begins a new epoch on both cores. Broken: on neither.
    DependenceSplitsEpochs: "ASAP IV-E",
    /// Stores of one epoch to a line share an entry of the persist buffer. Broken: those of different epochs do, too.
    EpochsCoalesceApart: "ASAP IV-B and V-A",
    /// An entry of the persist buffer keeps the bytes that its epoch's stores left. Broken: what is sent is what the line
    /// holds by then.
    EntryKeepsBytes: "ASAP V-A",
    /// A full persist buffer holds the store. Broken: the store goes on without an entry.
    FullBufferHoldsStore: "ASAP V-A",
    /// Strands of one core that write a line persist in that order. Broken: as if they had written different ones.
    StrandsOfALineInOrder: "StrandWeaver III-A, Equation 3; ASAP II-A",
    /// A store that a release marks carries a dependence. Broken: none.
    ReleasesDepend: "ASAP IV-A and IV-E",
    /// A release begins an epoch: what came before persists before it. Broken: it does not.
    ReleaseBeginsEpoch: "ASAP II-A and IV-A",
    /// With release persistency, a write to a persistent line that another core has written is a dependence, too, since flushes
    /// are of whole lines. Broken: it is none.
    LinesDepend: "ASAP IV-B",
    /// Memory can be brought back from what came early: an undo record is made. Broken: none is.
    EarlyIsUndone: "ASAP IV-D and Table I",
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
