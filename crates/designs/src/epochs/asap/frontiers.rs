//! What controllers know of each core's proved epochs (`asap-frontier`).
//!
//! What: ASAP whose commits wait for no answers of earlier ones. Each message says which epochs of its core are proved, and recovery
//! takes the most that any controller has heard.
//! Source: none, it is ours: `docs/asap-frontier.md`.
//! Numbers of epochs wrap. So each [`Numbers::period`] epochs, an epoch's commit goes to all controllers, and a core's
//! epochs are less than that apart.

use super::controllers::{Controller, Controllers};
use super::recovery_table::RecoveryTable;
use crate::epochs::rules::Rule;
use crate::parts::epochs::{EpochId, Frontier, Numbers};
use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;
use strandline_design::ControllerId;
use strandline_isa::{CoreId, Line, LineData};
use strandline_rules::broken;

/// The frontier of each core, as far as one controller has heard. They are in the persistence domain.
#[derive(Clone, Debug)]
pub struct Frontiers {
    numbers: Numbers,
    of: Vec<Frontier>,
}

/// What a controller hears: of a core, its proved epochs; in a commit, of which epoch.
#[derive(Clone, Copy, Debug)]
pub struct Heard {
    /// The core.
    pub core: CoreId,
    /// The proved epochs.
    pub proved: Frontier,
    /// The epoch that commits.
    pub commits: Option<EpochId>,
}

impl Frontiers {
    /// Nothing was heard yet.
    #[must_use]
    pub fn new(numbers: Numbers) -> Frontiers {
        Frontiers {
            numbers,
            of: Vec::new(),
        }
    }

    fn of(&self, core: CoreId) -> Frontier {
        self.of.get(core.index()).copied().unwrap_or_default()
    }

    /// Notes a core's frontier. A late one, which is smaller, changes nothing.
    fn note(&mut self, core: CoreId, proved: Frontier) {
        let known = self.of(core);
        if self.of.len() <= core.index() {
            self.of.resize(core.index() + 1, Frontier::default());
        }
        self.of[core.index()] = match broken(Rule::FrontierNeverFalls) {
            true => proved,
            false => known.join_by(self.numbers, proved),
        };
    }

    /// Whether an epoch is known to be proved.
    #[must_use]
    pub fn has(&self, epoch: EpochId) -> bool {
        self.of(epoch.core).contains_by(self.numbers, epoch.number)
    }

    /// The larger of each core's frontiers.
    fn join(&self, other: &Frontiers) -> Frontiers {
        let cores = self.of.len().max(other.of.len());
        let larger = |core| self.of(core).join_by(self.numbers, other.of(core));
        Frontiers {
            numbers: self.numbers,
            of: (0..cores as u16).map(|core| larger(CoreId(core))).collect(),
        }
    }

    /// Whether a core's frontier is known to be this one or a larger one.
    fn knows(&self, core: CoreId, proved: Frontier) -> bool {
        self.of(core).join_by(self.numbers, proved) == self.of(core)
    }
}

impl Controllers {
    /// A controller hears of a core's frontier: the values of the delay records of its proved epochs. Their records are freed by
    /// [`Controllers::free_proved`].
    pub fn hear(&mut self, id: ControllerId, heard: Heard) -> Vec<(EpochId, Line, LineData)> {
        self.free_proved();
        let Controller {
            table,
            frontiers,
            proved,
            ..
        } = self.controller(id);
        frontiers.note(heard.core, heard.proved);
        *proved = match broken(Rule::CommitsCumulate) {
            true => heard.commits.into_iter().collect(),
            false => table.proved(|owner| frontiers.has(owner)),
        };
        if broken(Rule::CommitsInOrder) {
            proved.reverse();
        }
        let values = |owner: &EpochId| {
            let owner = *owner;
            table.delayed(owner).map(move |(line, data)| (owner, line, data))
        };
        proved.iter().flat_map(values).collect()
    }

    /// Whether a controller knows all of these epochs of a core to be proved.
    #[must_use]
    pub fn knows(&self, id: ControllerId, core: CoreId, proved: Frontier) -> bool {
        match self.all().get(usize::from(id.0)) {
            Some(controller) => controller.frontiers.knows(core, proved),
            None => proved == Frontier::default(),
        }
    }

    /// Frees the records of epochs that are proved, in the order of each core's epochs. A controller does so as it hears of
    /// them. Here it is done before any controller next handles something: until then [`Controllers::recovered`] reports what
    /// they leave, epoch by epoch.
    pub fn free_proved(&mut self) {
        for controller in self.all_mut() {
            for owner in take(&mut controller.proved) {
                controller.table.commit_in_place(owner, &mut |_, _| ());
            }
        }
    }

    /// The lines that recovery writes, in order, by the tables and frontiers that power failure saved. It takes the largest
    /// frontier of each core, commits the epochs up to there in order, and undoes the others. What is saved stays valid until
    /// it has ended, so that it can begin again at any time. A line may be written several times, epoch by epoch. `carried` is
    /// what came with the last write: a crash leaves it before what is undone.
    pub fn recovered(&self, carried: &[(Line, LineData)], image: &mut dyn FnMut(Line, LineData)) {
        carried.iter().for_each(|(line, data)| image(*line, *data));
        let mut committed = Vec::new();
        let saved = self.commits_saved(&mut |line, data| committed.push((line, data)));
        if !carried.is_empty() {
            // Their steps are among what was carried.
            committed = committed.into_iter().collect::<BTreeMap<_, _>>().into_iter().collect();
        }
        let undone = saved.iter().flat_map(|(table, _)| table.undone());
        committed
            .into_iter()
            .chain(undone)
            .for_each(|(line, data)| image(line, data));
    }

    /// What recovery commits now that a core's frontier is known.
    pub fn committed(&self, core: CoreId) -> Vec<(Line, LineData)> {
        let mut lines = Vec::new();
        if self
            .all()
            .iter()
            .any(|controller| controller.table.has_records_of(core))
        {
            self.commits_saved(&mut |line, data| lines.push((line, data)));
        }
        lines
    }

    /// Commits in the saved tables all epochs that are proved, one after the other.
    fn commits_saved(&self, image: &mut dyn FnMut(Line, LineData)) -> Vec<(RecoveryTable, Frontiers)> {
        let mut saved: Vec<(RecoveryTable, Frontiers)> = (0..self.all().len()).map(|index| self.saved(index)).collect();
        let dues: Vec<(Line, LineData)> = saved.iter().flat_map(|(table, _)| table.dues()).collect();
        let is_late = broken(Rule::DuesComeFirst);
        dues.iter()
            .filter(|_| !is_late)
            .for_each(|(line, data)| image(*line, *data));
        let owners: BTreeSet<EpochId> = saved
            .iter()
            .flat_map(|(table, known)| table.proved(|owner| known.has(owner)))
            .collect();
        for owner in owners {
            let knowing = saved.iter_mut().filter(|(_, known)| known.has(owner));
            knowing.for_each(|(table, _)| table.commit_in_place(owner, image));
        }
        dues.iter()
            .filter(|_| is_late)
            .for_each(|(line, data)| image(*line, *data));
        saved
    }

    /// What recovery reads of a controller: its saved table, and the frontiers by which it goes.
    fn saved(&self, index: usize) -> (RecoveryTable, Frontiers) {
        let controller = &self.all()[index];
        let known = match index {
            _ if broken(Rule::RecoveryTakesLargest) => controller.frontiers.clone(),
            1.. if broken(Rule::SavedUntilRecovered) => self.largest(index),
            _ => self.largest(0),
        };
        (controller.table.saved(), known)
    }

    /// The largest of each core's frontiers in the controllers from this one on.
    fn largest(&self, from: usize) -> Frontiers {
        let all = self.all()[from..].iter();
        all.map(|of| of.frontiers.clone())
            .reduce(|known, of| known.join(&of))
            .unwrap_or_else(|| Frontiers::new(self.numbers()))
    }
}
