//! Rules of Delegated Persist Ordering. Tests break them.

strandline_rules::rules! {
    Design {
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
    }
}
