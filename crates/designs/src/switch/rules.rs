//! Rules of buffers on the way to memory. Tests break them.

strandline_rules::rules! {
    Design {
        /// A read gets the newest bytes that the buffer has of its line. Broken: the oldest.
        ForwardsNewest: "arXiv 2606.07159: stale reads; arXiv 2503.04991: read forwarding",
        /// A read that misses in the caches asks the buffer. Broken: it passes, and gets what the device has.
        ReadAsksBuffer: "arXiv 2606.07159: stale reads",
        /// An entry stays in the buffer until the device has accepted it. Broken: until it is sent.
        EntryUntilAccepted: "arXiv 2503.04991: persist order at the switch",
        /// Bytes of one line leave the buffer in the order in which they came, one write at a time. Broken: the newest first, and
        /// none waits for another.
        LineLeavesInOrder: "arXiv 2606.07159: stale writes",
        /// A write that coalesces adds its bytes to those of the entry. Broken: the entry forgets what it had.
        CoalescingKeepsOlder: "arXiv 2606.07159: coalescing",
        /// A write that coalesces replaces the bytes that it has. Broken: those of the entry stay.
        CoalescingTakesNewer: "arXiv 2606.07159: coalescing",
        /// A line that comes through another port takes the entry of the first along. Broken: each port has an entry of its own,
        /// and the older one may be sent last.
        OneEntryOfALine: "arXiv 2606.07159: stale writes of distributed buffers",
        /// What the buffer holds is saved when power fails. Broken: it is lost.
        BufferIsSaved: "arXiv 2503.04991: persistent at the switch",
    }
}
