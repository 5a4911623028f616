//! Where the events of a run are in its windows.

use super::Stretch;

/// The windows that have an event, and its index there.
pub struct Places {
    /// Of all events, one after the other.
    all: Vec<(usize, usize)>,
    /// Where those of an event end, and the next one's begin.
    ends: Vec<usize>,
}

impl Places {
    pub fn of(stretches: &[Stretch], events: usize) -> Places {
        // First the number of an event's places, then where they begin, and last where they end.
        let mut ends = vec![0; events];
        stretches
            .iter()
            .flat_map(|stretch| &stretch.events)
            .for_each(|event| ends[*event] += 1);
        let mut begin = 0;
        for end in &mut ends {
            begin += std::mem::replace(end, begin);
        }
        let mut all = vec![(0, 0); begin];
        for (number, stretch) in stretches.iter().enumerate() {
            for (place, event) in stretch.events.iter().enumerate() {
                all[ends[*event]] = (number, place);
                ends[*event] += 1;
            }
        }
        Places { all, ends }
    }

    pub fn of_event(&self, event: usize) -> &[(usize, usize)] {
        let begin = event.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[begin..self.ends[event]]
    }
}
