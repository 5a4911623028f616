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
    /// One fence serves all tasks of a window whenever it has gone round. Broken: there is none.
    RoundFenced: "COSPlay 5 and Figure 7(b)",
    /// That fence comes after the last task of the window has yielded. Broken: one task too early.
    FenceEndsRound: "COSPlay 5 and Figure 7(b)",
}
