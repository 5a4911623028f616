//! Rules of PMEM-Spec. Tests break them.

strandline_rules::rules! {
    Design {
        /// A store is accepted after its core's older ones, at whichever controllers. Broken: as soon as it arrives.
        PathInOrder: "PMEM-Spec (ASPLOS 2021): stores go down a path of their core's own",
        /// A line that was fetched before a store to it arrived is found. Broken: it is not.
        StaleLoadFound: "PMEM-Spec (ASPLOS 2021): loads that fetch stale memory are misspeculated",
        /// The speculation buffer holds a dropped line until what was stored in it has arrived. Broken: it forgets it at once.
        BufferHoldsWindow: "PMEM-Spec (ASPLOS 2021): violations are found within a window of time",
        /// A dfence waits until other cores' stores have arrived that its own core may depend on. Broken: for its own core's only.
        DurableWaitsWindow: "designs/src/pmem_spec",
    }
}
