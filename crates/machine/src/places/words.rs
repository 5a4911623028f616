//! What is said of the places: names, and a sentence for each fate.

use super::{Failure, Fate, Places};
use strandline_design::Place;

impl Failure {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Failure::Host => "host",
            Failure::Switch => "switch",
            Failure::Device => "device",
            Failure::Power => "power",
        }
    }
}

impl Fate {
    /// In a word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Fate::Survives => "survives",
            Fate::Flushed => "flushed",
            Fate::Lost => "lost",
        }
    }
}

impl Places {
    /// When a store is durable.
    #[must_use]
    pub fn durable_when(&self) -> &'static str {
        match self.durable_from {
            place if place.has_visible() => "as soon as it is visible",
            Place::Link | Place::Switch => "once the switch has accepted it",
            Place::Media => "once it is on the media",
            _ if self.way.has_device => "once the device has accepted it",
            _ if self.stop == Some(Place::ControllerBuffer) => "once the buffer before its write queue has accepted it",
            _ => "once a write queue has accepted it",
        }
    }

    /// Why a failure leaves of a place what it leaves.
    #[must_use]
    pub fn why(&self, place: Place, failure: Failure) -> String {
        match (self.fate(place, failure), place) {
            (Fate::Survives, Place::Media) => "the media keep their bytes without power".to_owned(),
            (Fate::Survives, _) => format!("it does not stand in the {}, and goes on", failure.name()),
            (Fate::Flushed, Place::Private | Place::Llc) => {
                "flush on fail: reserve power writes dirty lines back, through all that follows".to_owned()
            }
            (Fate::Flushed, Place::CoreBuffer) => "a battery holds it until all of it is on the media".to_owned(),
            (Fate::Flushed, Place::Link) => "what it was sent from keeps a copy until it is accepted".to_owned(),
            (Fate::Flushed, Place::DeviceCache) => {
                "flush on fail: reserve power writes dirty pages to the flash behind it".to_owned()
            }
            (Fate::Flushed, Place::Switch) => "the switch holds it on power of its own".to_owned(),
            (Fate::Flushed, _) => "ADR: reserve power is enough for what was accepted".to_owned(),
            (Fate::Lost, Place::StoreQueue) => "no other core has seen these stores; none is saved".to_owned(),
            (Fate::Lost, Place::Link) if failure == Failure::Device => "it goes to a device that is gone".to_owned(),
            (Fate::Lost, _) if self.durable_from.has_visible() => {
                "no harm: a saved buffer has all that is dirty here".to_owned()
            }
            (Fate::Lost, _) => format!("a store is durable only {}", self.durable_when()),
        }
    }
}
