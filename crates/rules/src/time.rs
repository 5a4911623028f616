//! Rules of time, which the laws of machines check (`crates/sim/tests/all/laws`): they change no state that memory can
//! hold, only when it is reached.

rules! {
    MachineConfig {
        /// A request for a turn is no action. Broken: it moves the present to the turn, where it stays until an event.
        TurnIsNoAction: "ARCHITECTURE.md, time",
        /// A step begins in its own cycle. Broken: in that of the step before.
        StepInItsOwnCycle: "ARCHITECTURE.md, time",
        /// A core runs ahead of the others by `simulation.slack` at most. Broken: by twice as much.
        SlackIsTakenOnce: "ARCHITECTURE.md, time",
        /// A fence retires in the cycle in which its condition holds. Broken: a horizon later, by `simulation.slack`.
        WokenAtOnce: "ARCHITECTURE.md, waiters",
        /// A fence retires in the cycle in which its condition holds. Broken: four cycles before.
        WokenNoEarlier: "ARCHITECTURE.md, waiters",
        /// What completes wakes who waits for it. Broken: the next turn of another core's program does.
        WokenByItsOwn: "ARCHITECTURE.md, waiters",
        /// A wake is never lost. Broken: one in three cycles loses its wakes, and the next event of any core repairs it.
        EveryWakeArrives: "ARCHITECTURE.md, waiters",
        /// A write keeps the media's port busy once. Broken: twice.
        PortBookedOnce: "DPO V: bandwidth of the media",
        /// A packet keeps the channels' bus busy. Broken: the bus is always free.
        ChannelIsOccupied: "PMEM-Spec (ASPLOS 2021): the persist path's bus",
        /// What a core sends in order takes the way to a device. Broken: none.
        PacketsCrossLink: "docs/cxl.md, the machine",
        /// A commit and its answer take the way to a device and back. Broken: none.
        CommitsCrossLink: "docs/cxl.md, the machine",
    }
}
