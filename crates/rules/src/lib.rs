//! Rules that tests break one at a time, to check the checkers. This crate has the rules of the machine, of shared
//! parts and of the logs. A wrapper breaks a design's own rules (`crates/crash/tests/cases/mutants/altered.rs`).
//!
//! Code tests [`broken`], which is constant `false` without the feature `mutants`. Only tests enable that feature.

/// Each rule is a doc comment (the rule, then the effect of breaking it), a name and the rule's source.
macro_rules! rules {
    ($($of:ident { $($(#[doc = $words:literal])+ $rule:ident: $source:literal,)+ })+) => {
        /// A rule that a test can break.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $($(
                $(#[doc = $words])+
                #[doc = concat!("\n\nSource: ", $source, ".")]
                $rule,
            )+)+
        }

        impl Rule {
            /// All of them.
            pub const ALL: &'static [Rule] = &[$($(Rule::$rule),+),+];

            /// The rule, and the effect of breaking it.
            #[must_use]
            pub fn words(self) -> &'static str {
                match self {
                    $($(Rule::$rule => concat!($($words),+).trim_ascii(),)+)+
                }
            }

            /// Source of the rule: a paper or manual.
            #[must_use]
            pub fn source(self) -> &'static str {
                match self {
                    $($(Rule::$rule => $source,)+)+
                }
            }

            /// Whose rule it is.
            #[must_use]
            pub fn of(self) -> Of {
                match self {
                    $($(Rule::$rule)|+ => Of::$of,)+
                }
            }
        }
    };
}

/// Whose rule it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// The machine's (`crates/machine`).
    Machine,
    /// A rule of a part that designs share (`crates/design`).
    Design,
    /// A rule of the logs, their recovery, or tasks that share a thread (`crates/runtime`).
    Log,
}

/// Whether a rule is broken on this thread; always `false` without the feature `mutants`.
#[inline(always)]
#[must_use]
pub fn broken(rule: Rule) -> bool {
    #[cfg(feature = "mutants")]
    return BROKEN.get() == Some(rule);
    #[cfg(not(feature = "mutants"))]
    {
        let _ = rule;
        false
    }
}

/// Whether any rule is.
#[inline(always)]
#[must_use]
pub fn any_broken() -> bool {
    #[cfg(feature = "mutants")]
    return BROKEN.get().is_some();
    #[cfg(not(feature = "mutants"))]
    false
}

#[cfg(feature = "mutants")]
thread_local! {
    static BROKEN: std::cell::Cell<Option<Rule>> = const { std::cell::Cell::new(None) };
}

/// Runs `run` on this thread with `rule` broken, if one is given.
#[cfg(feature = "mutants")]
pub fn breaking<T>(rule: Option<Rule>, run: impl FnOnce() -> T) -> T {
    /// Restores the previous state, even if `run` panics.
    struct Mend(Option<Rule>);
    impl Drop for Mend {
        fn drop(&mut self) {
            BROKEN.set(self.0);
        }
    }
    let _mend = Mend(BROKEN.replace(rule));
    run()
}

rules! {
    Machine {
        /// A flush takes its turn behind the older stores. Broken: it overtakes stores that wait for their lines.
        FlushBehindStores: "COSPlay 4.3; Px86 (Raad et al., POPL 2020)",
        /// A flush of a line that is clean because another write-back carries its bytes waits for that write. Broken: it is
        /// acknowledged at once.
        CleanFlushWaitsForFlight: "StrandWeaver II-B: strong persist atomicity; Px86 (Raad et al., POPL 2020)",
        /// Writes to one line arrive at their controller in the order in which they were looked up. Broken: a later one may
        /// overtake.
        WritesOfALineInOrder: "Px86 (Raad et al., POPL 2020): persists of a line follow coherence",
        /// Writes that found the write queue full are offered again in the order of their arrival. Broken: the latest first.
        WaitingWritesInOrder: "Px86 (Raad et al., POPL 2020): persists of a line follow coherence",
        /// Queued writes to one line reach the media oldest first. Broken: a controller neither combines them nor keeps
        /// their order, and the newest goes first.
        MediaOrderOfALine: "DPO IV-B: the controller schedules freely only within an epoch",
        /// A write that joins a queued one to its line replaces its bytes. Broken: the queued bytes stay.
        CoalescingTakesNewer: "DPO IV-F",
        /// A write joins a queued one only while that has not been issued. Broken: it joins one that the media are busy
        /// with, and is lost.
        CoalescingBeforeIssue: "DPO IV-F",
        /// What the write queue has accepted reaches the media even if power fails. Broken: the queue is lost.
        AdrSavesQueue: "StrandWeaver II-B; COSPlay 2.1",
        /// What the write queue has accepted reaches the media even if power fails, issued or not. Broken: only writes issued
        /// to the media are saved.
        AdrSavesUnissued: "StrandWeaver II-B; COSPlay 2.1",
        /// A flush is acknowledged when the write queue has accepted it. Broken: when it has reached the controller, before
        /// the backend operation.
        AcknowledgedAfterBackend: "COSPlay 2.2: backend operations come before the controller",
        /// A write that finds the queue full is acknowledged when it is accepted. Broken: when it has arrived.
        AcknowledgedAfterAcceptance: "COSPlay 4.3: a clwb stays until the acknowledgement",
        /// The store queue waits for a clflush. Broken: it goes on, as behind a clflushopt.
        ClflushBlocksQueue: "Intel SDM; Px86 (Raad et al., POPL 2020)",
        /// A clflushopt writes a dirty line back before it invalidates it. Broken: it only invalidates.
        ClflushoptWritesBack: "Intel SDM; Speculative Persistence 2.2",
        /// A flush finds the line in whatever cache it is dirty. Broken: only in its own core's.
        FlushFindsOtherCores: "Intel SDM: clwb acts on every cache of the coherence domain",
        /// A flush writes back what is dirty only in the shared level. Broken: it takes the shared level's word for clean.
        FlushFindsSharedLevel: "Intel SDM: clwb acts on every cache of the coherence domain",
        /// A fence sends the write-combining buffers and waits for them. Broken: it does neither.
        FenceSendsCombined: "Intel SDM: sfence and non-temporal stores",
        /// A fence waits until non-temporal stores are accepted. Broken: it sends them and does not wait.
        FenceAwaitsCombined: "Intel SDM: sfence and non-temporal stores",
        /// A partly written write-combining buffer writes only its own bytes. Broken: the rest of the line becomes zero.
        CombiningKeepsRest: "Intel SDM: write-combining buffers",
        /// A fence waits for everything older. Broken: it is released while one store or flush is left.
        FenceWaitsForAll: "COSPlay 4.3",
        /// A line that leaves the shared level takes its bytes in private caches along. Broken: they are dropped.
        BackInvalidationWritesBack: "Intel SDM: write-back caches",
        /// A dirty line that another core takes stays dirty. Broken: it counts as clean from then on.
        TakenLineStaysDirty: "Intel SDM: write-back caches",
        /// A line that is dirty in the LLC and read back is dirty in the caches of its reader. Broken: it counts as clean.
        ReadBackStaysDirty: "Intel SDM: write-back caches",
        /// A line that is dirty in the LLC is dirty in the caches of the core that is to write it, and may lose it before.
        /// Broken: it counts as clean until it is written.
        OwnedBackStaysDirty: "Intel SDM: write-back caches",
        /// A line that several cores read stays dirty in the LLC. Broken: it counts as clean.
        SharedLineStaysDirty: "Intel SDM: write-back caches",
        /// A dirty line that leaves the L1 is dirty in the L2. Broken: the L2 takes it for clean.
        SecondLevelTakesDirty: "Intel SDM: write-back caches",
        /// A line that leaves the L2 takes its bytes in the L1 along. Broken: they are dropped.
        SecondLevelVictimDirty: "Intel SDM: write-back caches",
        /// A flush writes back what is dirty only in the L2. Broken: it takes the L2's word for clean.
        FlushFindsSecondLevel: "Intel SDM: clwb acts on every cache of the coherence domain",
        /// The directory knows each core that holds a line. Broken: it forgets the one that reads it alone.
        ReaderIsKnown: "COSPlay Table 2: directory in the LLC",
        /// A dirty line whose eviction was held is dirty in the LLC. Broken: it counts as clean there.
        HeldLineJoinsDirty: "StrandWeaver IV: managing cache writebacks",
        /// A line that leaves its core's caches keeps the design's tag in the LLC. Broken: the LLC loses it.
        LlcKeepsTag: "ASAP II: LB++ has epochs in the caches",
        /// Under TSO stores become visible in program order. Broken: the first whose line is there goes first.
        StoresInOrder: "Intel SDM: TSO; ASAP II-C",
        /// A load takes the youngest older store to its bytes. Broken: the oldest.
        ForwardsYoungest: "Intel SDM: TSO",
        /// A load sees its own core's older stores. Broken: it reads what other cores see.
        LoadSeesOwnStores: "Intel SDM: TSO",
        /// A locked instruction waits until older stores are visible. Broken: it performs while they are queued.
        LockedDrainsQueue: "Intel SDM: locked instructions",
        /// A locked instruction reads and writes at one moment. Broken: its write goes through the store queue.
        LockedIsAtomic: "Intel SDM: locked instructions",
        /// On weak machines, stores to one line, and a flush of it, keep their order. Broken: they do not.
        SameLineInOrder: "DPO IV-C: persists to one location in order",
        /// A pcommit is done when accepted writes are on the media. Broken: when they have been issued to them.
        CommitAwaitsMedia: "DPO II-A",
        /// Under eADR a newer store in a cache survives the arrival of its line's older write-back. Broken: the write queue
        /// drains over the caches.
        CachesDrainLast: "ASAP II-C",
        /// A flush that finds the write-back buffer full waits. Broken: it is dropped.
        FullBufferKeepsFlush: "COSPlay 4.3",
        /// A flush waits for an older one of its line in the write-back buffer. Broken: it counts as done by that one,
        /// though the line may have been stored to since.
        SameLineFlushWaits: "COSPlay 4.3",
        /// A roll-back takes back what the program has announced since the checkpoint. Broken: it stays, and becomes true.
        RollBackTakesNotesBack: "ARCHITECTURE.md, the seam; Speculative Persistence 4.2.2",
    }
    Design {
        /// A store is accepted after its core's older ones, at whichever controllers. Broken: as soon as it arrives.
        PathInOrder: "PMEM-Spec (ASPLOS 2021): stores go down a path of their core's own",
        /// A line that was fetched before a store to it arrived is found. Broken: it is not.
        StaleLoadFound: "PMEM-Spec (ASPLOS 2021): loads that fetch stale memory are misspeculated",
        /// The speculation buffer holds a dropped line until what was stored in it has arrived. Broken: it forgets it at once.
        BufferHoldsWindow: "PMEM-Spec (ASPLOS 2021): violations are found within a window of time",
        /// A dfence waits until other cores' stores have arrived that its own core may depend on. Broken: for its own core's only.
        DurableWaitsWindow: "designs/src/pmem_spec",
        /// The next persist or fence of a core waits for the dependences in AccumDP. Broken: it waits for none.
        AccumulatedApplies: "DPO IV-D and IV-E",
        /// A core passes on the dependences that it has met to a core that conflicts with its accesses since. Broken: it passes on
        /// none but those on its own persists and fences.
        DependencesPassOn: "DPO III-C, Equation 6",
        /// A core knows its accesses since the oldest dependence that it passes on. Broken: it forgets them when any of them is
        /// resolved.
        AccessesKeptWhileInherited: "DPO III-C, Equation 6",
        /// Another core's store to a line conflicts with a load since a fence. Broken: only stores conflict.
        ReadsConflict: "DPO IV-C: read- and write-sets",
        /// A core that hands a line over resets the Youngest bit of its persists of the line. Broken: they keep it.
        YoungestIsCleared: "DPO IV-D, field Y, and IV-E, step 5",
        /// A persist is the youngest of its line in its own buffer. Broken: older ones keep the Youngest bit.
        YoungestIsOne: "DPO IV-D, field Y",
        /// A read or write set never denies a line that it was given. Broken: it forgets every other line.
        FiltersNeverForget: "DPO IV-C: false positives do not compromise correctness",
        /// A controller issues no write before those of older epochs are on the media. Broken: it issues any.
        SeparatorsBind: "DPO IV-B and IV-D, PM write queue",
        /// Controllers tell each other which epochs are complete. Broken: each goes by its own queue alone.
        ControllersAgree: "designs/src/dpo",
        /// A store coalesces in a persist buffer only while AccumDP is empty. Broken: in any case.
        CoalescingNeedsNoDependence: "DPO IV-F",
        /// Queued writes to a line coalesce only within an epoch. Broken: across separators, too.
        QueueCoalescesWithinEpoch: "DPO IV-F",
        /// A dfence waits until its epoch is durable. Broken: until it has drained.
        DurableAwaitsEpochs: "designs/src/dpo",
        /// Without ADR a dc cvap of a line that is in a write queue is done when it is on the media. Broken: at once.
        QueuedLineAwaited: "DPO II-C",
        /// Without ADR the stores behind a clflush wait until its line is on the media. Broken: until a write queue has it.
        ClflushDurable: "DPO II-C; Px86 (Raad et al., POPL 2020)",
        /// Without ADR a fence waits until non-temporal stores are on the media. Broken: until a write queue has them.
        NonTemporalDurable: "DPO II-C; Px86 (Raad et al., POPL 2020)",
        /// Without ADR a locked instruction that orders flushes waits until they are on the media. Broken: until a write queue
        /// has them.
        LockedAwaitsDurable: "DPO II-C; Px86 (Raad et al., POPL 2020)",
        /// A store to a line of an older epoch waits until that epoch is durable. Broken: it writes the line at once, and the
        /// newer bytes persist with the older epoch.
        ConflictFlushesEpoch: "designs/src/lb_pp: intra-thread conflicts",
        /// A core notes the epoch of another core that wrote what it reads. Broken: it does not.
        RequesterRecords: "designs/src/lb_pp: dependence registers",
        /// A dfence waits for the epoch that it ends. Broken: for the one before.
        FenceAwaitsOwnEpoch: "designs/src/lb_pp",
        /// An epoch is durable when each of its lines has been acknowledged. Broken: each acknowledgement counts twice.
        LineAcknowledgedOnce: "designs/src/lb_pp: bank acknowledgements",
        /// A dfence's gate opens when its epoch is durable. Broken: when any epoch of its core is.
        FenceOpensWhenDurable: "designs/src/lb_pp",
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
        /// While a request for a line waits, its owner stores nothing more to it. Broken: it does.
        SnoopHoldsStores: "StrandWeaver III-A, Equations 1 and 3",
        /// Writes of an epoch are sent when its core's earlier epochs are complete. Broken: before.
        EpochsInOrder: "ASAP II and Figure 1",
        /// An epoch is complete when its writes are acknowledged. Broken: when they are sent.
        EpochAwaitsWrites: "ASAP V-C",
        /// An epoch waits for those of other cores that it depends on. Broken: it does not.
        EpochAwaitsOthers: "ASAP IV-A and IV-E",
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
    Log {
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
        TrailerLast: "runtime/log",
        /// Each line that a step updated gets the step's trailer. Broken: only the first.
        EveryTrailerWritten: "runtime/log",
        /// Each line that a step updated is flushed before the region is durable. Broken: all but the last.
        EveryUpdateFlushed: "COSPlay Figure 4(a)",
        /// A region is durable before its locks are released. Broken: it is waited for when the thread logs next.
        DurableBeforeRelease: "COSPlay 2.1; StrandWeaver IV: persists follow the lock's order",
        /// A region that hardware may have misled is confirmed before its last step's trailers. Broken: they are written at once.
        ValidateBeforeCommit: "runtime/abort.rs: recovery takes a region for committed by them",
        /// An abort writes every word of a record back. Broken: all but the last.
        EveryWordUndone: "PMEM-Spec (ASPLOS 2021): the section is undone by its own log",
        /// An interrupted region is aborted. Broken: it goes on.
        AbortDelivered: "PMEM-Spec (ASPLOS 2021): a misspeculation is treated as a power failure",
        /// A step's number is greater than the trailers that it logged. Broken: only than its thread's last.
        ClockPassesTrailers: "Lamport, Time, clocks, and the ordering of events (1978); runtime/log",
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
        /// The records of a write-ahead log are flushed. Broken: they are not.
        WalRecordsFlushed: "Speculative Persistence 3.1, step 1",
        /// The logged bit is set only after the records are durable. Broken: it may become durable first.
        WalRecordsBeforeBit: "Speculative Persistence 3.1: a premature undo log may be applied",
        /// A region updates only after its logged bit is durable. Broken: the updates may become durable first.
        WalBitBeforeUpdates: "Speculative Persistence 3.1: an incomplete set of updates may go undetected",
        /// The logged bit is cleared only after the updates are durable. Broken: that may become durable first.
        WalUpdatesBeforeClear: "Speculative Persistence 3.1: the four steps are strictly ordered",
        /// Recovery undoes a write-ahead log only if its bit is set. Broken: always.
        WalBitDecides: "Speculative Persistence 3.1: with a bit of 0 the structure is reliable",
        /// Recovery undoes all records of a write-ahead log. Broken: all but the first.
        WalEveryRecordUndone: "Speculative Persistence 3.1, step 1",
        /// Recovery undoes the newest record of a write-ahead log first. Broken: the oldest first.
        WalNewestUndoneFirst: "ARIES (TODS 1992): undo in reverse order",
        /// One fence serves all tasks of a window whenever it has gone round. Broken: there is none.
        RoundFenced: "COSPlay 5 and Figure 7(b)",
        /// That fence comes after the last task of the window has yielded. Broken: one task too early.
        FenceEndsRound: "COSPlay 5 and Figure 7(b)",
    }
}
