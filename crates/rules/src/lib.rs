//! Rules that tests break one at a time, to check the checkers. This crate has the rules of the machine and of the logs;
//! a family of designs lists its own with [`rules!`]. A wrapper changes single answers of a design beside them
//! (`crates/crash/tests/cases/mutants/altered.rs`).
//!
//! Code names the rule that a line keeps ([`keeps`], [`kept`]), or asks [`broken`], which is constant `false` without the
//! feature `mutants`. Only tests enable that feature.

/// Defines `Rule`, an enum of rules. Each is a doc comment (the rule, then the effect of breaking it), a name and the
/// rule's source; they are grouped by [`Of`].
#[macro_export]
macro_rules! rules {
    ($($of:ident { $($(#[doc = $words:literal])+ $rule:ident: $source:literal,)+ })+) => {
        /// A rule that a test can break.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Rule {
            $($(
                $(#[doc = $words])+
                #[doc = concat!("\n\nSource: ", $source, ".")]
                $rule,
            )+)+
        }

        impl Rule {
            /// All of them.
            pub const ALL: &'static [$crate::Breakable] = &[$($($crate::Breakable {
                place: module_path!(),
                name: stringify!($rule),
                words: concat!($($words),+).trim_ascii(),
                source: $source,
                of: $crate::Of::$of,
            }),+),+];

            /// The rule, as one of any crate or family.
            #[must_use]
            pub const fn any(self) -> $crate::Breakable {
                Self::ALL[self as usize]
            }
        }

        impl From<Rule> for $crate::Breakable {
            fn from(rule: Rule) -> $crate::Breakable {
                rule.any()
            }
        }
    };
}

pub mod flush;
mod keeping;
pub mod time;

pub use keeping::{breaks, in_order, keeps, kept, last_first};

/// A rule of any crate or family.
#[derive(Clone, Copy, Debug)]
pub struct Breakable {
    /// The path of the module that lists it.
    pub place: &'static str,
    /// Its name there.
    pub name: &'static str,
    /// The rule, and the effect of breaking it.
    pub words: &'static str,
    /// Source of the rule: a paper or manual.
    pub source: &'static str,
    /// Whose rule it is.
    pub of: Of,
}

impl PartialEq for Breakable {
    fn eq(&self, other: &Breakable) -> bool {
        self.name == other.name && self.place == other.place
    }
}

impl Eq for Breakable {}

/// Whose rule it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// The machine's (`crates/machine`).
    MachineConfig,
    /// A family's of designs (`crates/designs`).
    Design,
    /// A rule of the logs, their recovery, or tasks that share a thread (`crates/runtime`).
    Log,
}

/// Whether a rule is broken on this thread; always `false` without the feature `mutants`.
#[inline(always)]
#[must_use]
pub fn broken(rule: impl Into<Breakable>) -> bool {
    #[cfg(feature = "mutants")]
    return BROKEN.get().is_some_and(|broken| broken == rule.into());
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
    static BROKEN: std::cell::Cell<Option<Breakable>> = const { std::cell::Cell::new(None) };
}

/// Runs `run` on this thread with `rule` broken, if one is given.
#[cfg(feature = "mutants")]
pub fn breaking<T>(rule: Option<Breakable>, run: impl FnOnce() -> T) -> T {
    /// Restores the previous state, even if `run` panics.
    struct Mend(Option<Breakable>);
    impl Drop for Mend {
        fn drop(&mut self) {
            BROKEN.set(self.0);
        }
    }
    let _mend = Mend(BROKEN.replace(rule));
    run()
}

rules! {
    MachineConfig {
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
        /// What a program says behind a fence that waits in the store queue is said once the fence has left. Broken: once
        /// it has retired.
        QueuedFenceHoldsWords: "COSPlay 4.3",
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
        /// A flush is acknowledged when the device has accepted the line. Broken: on several hosts, it ends at the host's LLC.
        FlushReachesDevice: "Intel SDM: clwb writes back to memory; CXL: memory is behind the host's caches",
        /// A host's caches are filled with what the device holds. Broken: with what they held before.
        FillsFromDevice: "CXL0 (arXiv 2407.16300): a load reads the device where no cache has the value",
        /// A host that reads a line whose write is on its way reads that write. Broken: the read passes it.
        ReadBehindOwnWrite: "CXL0 (arXiv 2407.16300): values propagate from a host's cache to memory in order",
        /// A flush that invalidates takes a clean line from the host's caches. Broken: it leaves clean lines.
        InvalidatesClean: "Intel SDM: clflush and clflushopt invalidate the line in every cache",
        /// A line that non-temporal stores have written in part is sent with their bytes alone. Broken: with those that the host
        /// last saw of the rest.
        CombinedSendsOwnBytes: "Intel SDM: write-combining buffers",
        /// With a directory, the cores of all hosts that have a line are snooped. Broken: those of the requester's host.
        SnoopsOtherHosts: "ARCHITECTURE.md, the seam: another core asks for a line",
        /// A dirty line whose evictions the design orders goes to another host dirty. Broken: the device writes it on the way.
        DirtyGoesAlong: "docs/cxl.md, Designs on several hosts",
        /// With a directory, a flush of a clean line waits for its write from any host. Broken: for those of its own host.
        FlushAwaitsOtherHosts: "Intel SDM: clwb; CXL 3: the answer to a back-invalidate snoop writes the line back",
        /// What a host that has failed would have flushed is lost. Broken: its design goes on flushing.
        FailedHostIsSilent: "docs/places.md: a host's failure takes its caches and its design's buffers",
        /// Visible stores of a host that fails are saved where those of a power failure are. Broken: its caches are lost.
        FailedHostIsSaved: "docs/places.md: with eadr a host writes its caches back when it fails",
        /// A directory knows every host that has a line. Broken: it forgets those that have read it.
        DirectoryKnowsReaders: "CXL 3.1, back-invalidation: the device tracks the hosts that have a line",
        /// A host gets a line that another has written once the device has accepted that. Broken: at once.
        AnswersBehindWriteBack: "CXL 3.1, back-invalidation: a dirty line is written back before the snoop is answered",
        /// A host that stores takes the copies of the others. Broken: they keep theirs.
        OwnerTakesCopies: "CXL 3.1, back-invalidation: a snoop for ownership invalidates",
        /// What only a host that fails has of a line, nobody reads any more. Broken: the others go on to see it.
        FailedLinesReturn: "CXL0 (arXiv 2407.16300): a failed host's cache is gone",
        /// A roll-back takes back what the program has announced since the checkpoint. Broken: it stays, and becomes true.
        RollBackTakesNotesBack: "ARCHITECTURE.md, the seam; Speculative Persistence 4.2.2",
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
        /// A ring holds the records of two regions: the open one takes no line of the one before. Broken: it holds one.
        RingHoldsTwoRegions: "runtime/log",
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
        /// A section's updates are durable before the marker that commits it is written. Broken: no wait between them.
        UpdatesBeforeMarker: "StrandWeaver Figure 6(a), step 2",
        /// The commit marker is durable before an entry is invalidated. Broken: no wait between them.
        MarkerBeforeInvalidation: "StrandWeaver Figure 6(a), step 2",
        /// The head moves last. Broken: it moves when the region ends, before its updates are durable.
        HeadLast: "StrandWeaver Figure 6(a), step 4",
        /// A block of entries is entered only when the durable head has left it. Broken: when the head has.
        DurableHeadLeftBlock: "StrandWeaver V, log structure; model/ring.rs",
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
