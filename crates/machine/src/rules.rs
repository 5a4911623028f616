//! The machine's rules that a test can break; see [`strandline_kernel::breakable_rules`].

strandline_kernel::breakable_rules! {
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
    /// A dirty line that leaves the private caches is dirty in the shared level. Broken: it is clean there.
    VictimStaysDirty: "Intel SDM: write-back caches",
    /// Under TSO stores become visible in program order. Broken: the first whose line is there goes first.
    StoresInOrder: "Intel SDM: TSO; ASAP II-C",
    /// A load takes the youngest older store to its bytes. Broken: the oldest.
    ForwardsYoungest: "Intel SDM: TSO",
    /// A load sees its own core's older stores. Broken: it reads what other cores see.
    LoadSeesOwnStores: "Intel SDM: TSO",
    /// Loads wait for an older mfence. Broken: they pass it, as they pass an sfence.
    MfenceHoldsLoads: "Intel SDM: mfence",
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
}

impl Broken {
    /// Whether any is.
    pub fn any(self) -> bool {
        #[cfg(feature = "mutants")]
        return self.rule.is_some();
        #[cfg(not(feature = "mutants"))]
        false
    }
}
