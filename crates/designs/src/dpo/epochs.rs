//! Epochs at the controllers: separators in their write queues, and agreement among them.

use super::dependences::Id;
use crate::dpo::rules::Rule;
use std::collections::{BTreeMap, VecDeque};
use strandline_design::ControllerId;
use strandline_rules::kept;

/// Which epoch each accepted write is in, and which epochs have reached the media.
///
/// All controllers count the fences that have drained, and so agree on the number of the current
/// epoch. A write belongs to the epoch that is current when its controller accepts it.
#[derive(Clone, Debug, Default)]
pub struct Epochs {
    current: u64,
    /// A write is in the current epoch.
    is_used: bool,
    /// By core: the epochs of its writes that have not reached the media.
    of_writes: Vec<Writes>,
    controllers: Vec<Controller>,
}

/// The epochs of a core's writes, from the oldest that has not reached the media.
#[derive(Clone, Debug, Default)]
struct Writes {
    first: u64,
    epochs: VecDeque<Option<u64>>,
}

#[derive(Clone, Debug, Default)]
struct Controller {
    /// Writes that have not reached the media, by epoch; epochs without any have no entry.
    left: BTreeMap<u64, u64>,
    /// As the other controllers know it: every epoch before this one is complete here.
    known: u64,
    /// As it has announced it to them.
    announced: u64,
}

impl Epochs {
    /// For this number of cores and controllers.
    #[must_use]
    pub fn new(cores: usize, controllers: usize) -> Epochs {
        Epochs {
            current: 0,
            is_used: false,
            of_writes: vec![Writes::default(); cores],
            controllers: vec![Controller::default(); controllers],
        }
    }

    /// The current epoch.
    #[cfg(test)]
    pub fn current(&self) -> u64 {
        self.current
    }

    /// A fence has drained: a new epoch begins, unless nothing has been accepted since the last
    /// separator. Returns the one that ends here, `None` if it is the first of all.
    pub fn separate(&mut self) -> Option<u64> {
        self.current += u64::from(std::mem::take(&mut self.is_used));
        self.current.checked_sub(1)
    }

    /// A controller accepts a write.
    pub fn accept(&mut self, controller: ControllerId, id: Id) {
        self.is_used = true;
        self.of_writes[id.core.index()].set(id.number, self.current);
        let left = &mut self.controllers[usize::from(controller.0)].left;
        *left.entry(self.current).or_default() += 1;
    }

    /// A write has reached the media, or has coalesced with another of its epoch.
    pub fn complete(&mut self, controller: ControllerId, id: Id) {
        let Some(epoch) = self.of_writes[id.core.index()].take(id.number) else {
            return;
        };
        let left = &mut self.controllers[usize::from(controller.0)].left;
        if let Some(count) = left.get_mut(&epoch) {
            *count -= 1;
            if *count == 0 {
                left.remove(&epoch);
            }
        }
    }

    /// Whether a write that arrives may coalesce with a queued one: the queued one is in the current
    /// epoch, or epochs do not bind it.
    #[must_use]
    pub fn joins(&self, queued: Id) -> bool {
        let epoch = self.of_writes[queued.core.index()].get(queued.number);
        epoch.is_none_or(|epoch| epoch == self.current)
    }

    /// The oldest epoch that is not complete in a controller; the current one at the latest.
    #[must_use]
    pub fn oldest(&self, controller: ControllerId) -> u64 {
        let left = &self.controllers[usize::from(controller.0)].left;
        left.first_key_value().map_or(self.current, |(epoch, _)| *epoch)
    }

    /// Whether a controller may issue a write: no epoch before the write's is incomplete, in this
    /// controller or, as far as it knows, in another.
    #[must_use]
    pub fn may_issue(&self, controller: ControllerId, id: Id) -> bool {
        let Some(epoch) = self.of_writes[id.core.index()].get(id.number) else {
            return true;
        };
        let own = usize::from(controller.0);
        let others = self.controllers.iter().enumerate().filter(|(of, _)| *of != own);
        let mut known = others.map(|(_, other)| other.known);
        self.oldest(controller) >= epoch && kept(Rule::ControllersAgree, known.all(|known| known >= epoch), || true)
    }

    /// A controller announces that every epoch before this one is complete; false if it has done so.
    pub fn announce(&mut self, controller: ControllerId, oldest: u64) -> bool {
        let announced = &mut self.controllers[usize::from(controller.0)].announced;
        std::mem::replace(announced, oldest) != oldest
    }

    /// The other controllers learn that every epoch before this one is complete in a controller.
    pub fn learn(&mut self, controller: ControllerId, oldest: u64) {
        let known = &mut self.controllers[usize::from(controller.0)].known;
        *known = oldest.max(*known);
    }

    /// Separators in the write queues: epochs that have ended and are not complete.
    #[must_use]
    pub fn separators(&self) -> u64 {
        let controllers = 0..self.controllers.len();
        let oldest = controllers.map(|of| self.oldest(ControllerId(of as u16))).min();
        oldest.map_or(0, |oldest| self.current - oldest)
    }

    /// Whether an epoch and all before it are complete in every controller.
    #[must_use]
    pub fn is_complete(&self, epoch: Option<u64>) -> bool {
        let Some(epoch) = epoch else { return true };
        let controllers = 0..self.controllers.len();
        let mut oldest = controllers.map(|of| self.oldest(ControllerId(of as u16)));
        oldest.all(|oldest| oldest > epoch)
    }
}

impl Writes {
    fn set(&mut self, number: u64, epoch: u64) {
        if self.epochs.is_empty() {
            self.first = number;
        }
        let index = (number - self.first) as usize;
        self.epochs.resize(self.epochs.len().max(index + 1), None);
        self.epochs[index] = Some(epoch);
    }

    fn get(&self, number: u64) -> Option<u64> {
        let index = number.checked_sub(self.first)?;
        self.epochs.get(index as usize).copied().flatten()
    }

    fn take(&mut self, number: u64) -> Option<u64> {
        let index = number.checked_sub(self.first)?;
        let epoch = self.epochs.get_mut(index as usize)?.take();
        while self.epochs.front() == Some(&None) {
            self.epochs.pop_front();
            self.first += 1;
        }
        epoch
    }
}
