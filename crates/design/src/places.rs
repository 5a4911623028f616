//! The places that hold bytes of persistent memory on their way from a core to the media.

/// A place, in the order of the way: bytes move from one to a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// A core's store queue, and what a design keeps of stores before they are visible.
    StoreQueue,
    /// A core's private caches.
    Private,
    /// The LLC of a host.
    Llc,
    /// A design's buffer beside the caches, which a store enters as it becomes visible.
    CoreBuffer,
    /// Between a host and the controllers: writes in flight.
    Link,
    /// A switch on that way.
    Switch,
    /// The controllers' write-pending queues.
    Queue,
    /// What a design keeps beside these queues.
    ControllerBuffer,
    /// A device's DRAM in front of its media.
    DeviceCache,
    /// The media, whose bytes nothing takes.
    Media,
}

impl Place {
    /// Whether a store is in this place, or in an earlier one, as soon as it is visible.
    #[inline(always)]
    #[must_use]
    pub fn has_visible(self) -> bool {
        self < Place::Link
    }
}

/// A structure of a design that holds bytes of persistent memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Its name, as in [`crate::Design::storage`].
    pub name: &'static str,
    /// Where it stands.
    pub place: Place,
    /// The most bytes of persistent memory in it, of all cores or controllers: without addresses and states, unless
    /// recovery needs them.
    pub bytes: u64,
}
