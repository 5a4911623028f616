//! The undo log's and the coroutines' rules that a test can break; see [`strandline_kernel::breakable_rules`].

strandline_kernel::breakable_rules! {
    /// Every line that a step updates has a record. Broken: only the first that the step logs.
    EveryLineLogged: "COSPlay Figure 4(a)",
    /// A record of many words has its successors. Broken: a line's words after the first four are not logged.
    EveryWordLogged: "COSPlay Figure 4(a)",
    /// A record holds the line's old trailer. Broken: zero, as if nobody had written the line.
    RecordKeepsTrailer: "runtime/recovery.rs: other threads' regions are judged by it",
    /// Records are flushed. Broken: they are not.
    RecordsFlushed: "COSPlay Figure 4(a)",
    /// Records are flushed before the fence. Broken: after it.
    FlushBeforeFence: "COSPlay Figure 4(a)",
    /// A line's trailer is written after its payload. Broken: before it.
    TrailerLast: "runtime/log.rs",
    /// Each line that a step updated gets the step's trailer. Broken: only the first.
    EveryTrailerWritten: "runtime/log.rs",
    /// Each line that a step updated is flushed before the region is durable. Broken: all but the last.
    EveryUpdateFlushed: "COSPlay Figure 4(a)",
    /// A region is durable before its locks are released. Broken: it is waited for when the thread logs next.
    DurableBeforeRelease: "COSPlay 2.1; StrandWeaver IV: persists follow the lock's order",
    /// A step's number is greater than the trailers that it logged. Broken: only than its thread's last.
    ClockPassesTrailers: "Lamport, Time, clocks, and the ordering of events (1978); runtime/log.rs",
    /// A region is committed only if all lines of its last step have its trailer. Broken: if one has.
    EveryLineDecides: "runtime/recovery.rs",
    /// A region is committed only if its last step is. Broken: if any step is the newest and complete.
    LastStepDecides: "runtime/recovery.rs",
    /// Recovery undoes only a thread's newest region. Broken: also the steps of older ones that it meets first.
    OlderRegionsStand: "runtime/recovery.rs",
    /// Recovery undoes all records of a region. Broken: the first.
    EveryRecordUndone: "COSPlay Figure 4(a)",
    /// Recovery undoes the newest step first. Broken: the oldest first.
    NewestUndoneFirst: "ARIES (TODS 1992): undo in reverse order",
    /// Recovery undoes the regions of every thread. Broken: the first thread's.
    EveryThreadRecovered: "runtime/recovery.rs",
    /// Tasks that share a thread have a log each. Broken: they have the first one's.
    OwnLog: "runtime/recovery.rs: of each log only the newest region is undone",
    /// A task sets its context whenever it goes on. Broken: only when it begins.
    ContextSetAgain: "COSPlay Figure 4(b)",
    /// A task that has yielded before a fence executes the fence when it goes on. Broken: the fence is left out.
    FenceAfterYield: "COSPlay Figure 4(b)",
    /// An entry of a log is flushed before the update that it is for. Broken: it is not flushed.
    EntriesFlushed: "StrandWeaver Figure 5",
    /// The lines that a transaction has updated are flushed before it is committed. Broken: they are not flushed.
    LinesFlushedAtEnd: "StrandWeaver V: log_end flushes all PM mutations",
    /// The commit marker is durable before an entry is invalidated. Broken: no wait between them.
    MarkerBeforeInvalidation: "StrandWeaver Figure 6(a), step 2",
    /// The head moves last. Broken: it moves when the region ends, before its updates are durable.
    HeadLast: "StrandWeaver Figure 6(a), step 4",
    /// Recovery finishes a commit that was under way. Broken: it rolls back the entries that were not invalidated yet.
    CommitFinished: "StrandWeaver Figure 6(b), step 2",
    /// Recovery undoes the newest entry first, over all lanes. Broken: the oldest first.
    EntriesUndoneInReverse: "StrandWeaver Figure 6(b), step 3",
    /// A lane's clock passes the stamps that it finds. Broken: it goes on from its own.
    ClockPassesStamps: "Atlas (OOPSLA 2014): happens-before across threads; model/ledger.rs",
    /// A batch is committed only when all that it depends on is. Broken: whenever it is full.
    CommitAwaitsDependences: "Atlas (OOPSLA 2014); model/ledger.rs",
    /// A group of regions is acknowledged and settled when it is durable. Broken: as soon as it is full.
    GroupDurable: "model/redo.rs",
    /// Recovery replays a region only if all of its entries are durable. Broken: if its last one is.
    ReplayOfWholeRegions: "model/replay.rs",
    /// Recovery replays a region only if all that it depends on stands, and undoes it otherwise. Broken: every complete one.
    ReplayAwaitsDependences: "model/replay.rs",
    /// One fence serves all tasks of a window whenever it has gone round. Broken: there is none.
    RoundFenced: "COSPlay 5 and Figure 7(b)",
    /// That fence comes after the last task of the window has yielded. Broken: one task too early.
    FenceEndsRound: "COSPlay 5 and Figure 7(b)",
}
