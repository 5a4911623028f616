//! Rules of HOPS and ASAP. Tests break them.

strandline_rules::rules! {
    Design {
        /// An epoch is complete when its writes are acknowledged. Broken: when they are sent.
        EpochAwaitsWrites: "ASAP V-C",
        /// An entry of the persist buffer keeps the bytes that its epoch's stores left. Broken: what is sent is what the line
        /// holds by then.
        EntryKeepsBytes: "ASAP V-A",
        /// A dfence waits for the epochs that depend on other cores, too, whichever context they are of. Broken: for its own context's.
        FenceAwaitsDependent: "ASAP IV-A: a dfence makes durable what its core has seen",
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
        /// A safe flush of a line that has an undo record becomes what the line is undone to. Broken: it is written to memory.
        SafeUpdatesUndo: "ASAP Table I",
        /// A commit handles the values of the epoch's delay records as safe flushes. Broken: it drops them.
        CommitWritesDelays: "ASAP V-C",
        /// An epoch is durable when the values of its delay records are accepted. Broken: before.
        CommitAwaitsDelays: "ASAP V-C",
        /// A commit deletes the epoch's undo records. Broken: they stay.
        CommitForgetsUndo: "ASAP V-C",
        /// An epoch is durable when the controllers have acknowledged its commit. Broken: when they have been told.
        CommitAwaitsControllers: "ASAP V-C",
        /// A controller that hears of a frontier commits all of its epochs. Broken: the one whose commit it is.
        CommitsCumulate: "docs/asap-frontier.md, The controllers",
        /// A controller commits a core's epochs in their order. Broken: newest first.
        CommitsInOrder: "docs/asap-frontier.md, The controllers",
        /// A late commit, of an older epoch, is only answered. Broken: the controller's frontier falls back to it.
        FrontierNeverFalls: "docs/asap-frontier.md, The controllers",
        /// Now and then an epoch's commit goes to all controllers, so that no frontier is so old that numbers which wrap seem to be in it.
        /// Broken: only to those that got early writes of it.
        AllHearInTime: "docs/asap-frontier.md, Numbers that wrap",
        /// The commit that all controllers must get goes to each. Broken: not to the last.
        EachHearsInTime: "docs/asap-frontier.md, Numbers that wrap",
        /// A core's current epoch is near its oldest, so that their numbers can be told apart. Broken: as far as the epoch table
        /// has room.
        EpochsStayNear: "docs/asap-frontier.md, Numbers that wrap",
        /// The value of a committed delay record is what its line holds until it is written. Broken: an early flush that arrives meanwhile
        /// undoes to what memory holds.
        DueIsWhatLineHolds: "docs/asap-frontier.md, The controllers",
        /// A safe flush carries the frontier. Broken: it carries none.
        SafeFlushCarriesFrontier: "docs/asap-frontier.md, Safe flushes",
        /// The frontier that a safe flush carries counts before the flush. Broken: after it.
        FrontierBeforeFlush: "docs/asap-frontier.md, Safe flushes",
        /// Epochs that a dfence has waited for are sources of dependences until all answers are in. Broken: until the dfence ends.
        FencedStaySources: "docs/asap-frontier.md, Answers",
        /// Recovery takes the largest frontier that any controller has of a core. Broken: each controller goes by its own.
        RecoveryTakesLargest: "docs/asap-frontier.md, Recovery",
        /// Recovery writes due values before what it commits. Broken: over that.
        DuesComeFirst: "docs/asap-frontier.md, Recovery",
        /// Recovery commits delay records, too, so power failure saves them. Broken: undo records alone are saved.
        DelaysAreSaved: "docs/asap-frontier.md, Recovery",
        /// What was saved stays valid until recovery has ended. Broken: a controller's frontiers are erased when its table is recovered,
        /// and power fails again after the first.
        SavedUntilRecovered: "docs/asap-frontier.md, Recovery",
        /// A refused flush is sent again when its epoch is safe. Broken: it is forgotten.
        RefusedComesAgain: "ASAP V-D",
        /// An early flush behind a refused one of its line is refused, too. Broken: it is taken.
        RefusedInOrder: "ASAP V-D",
    }
}
