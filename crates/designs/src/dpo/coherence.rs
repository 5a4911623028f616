//! Coherence: the notes of replies.

use super::dependences::{BufferedKind, Dependence, Id};
use super::own::Note;
use super::Dpo;
use crate::dpo::rules::Rule;
use strandline_design::Access;
use strandline_isa::{CoreId, Line};
use strandline_rules::{keeps, kept};

impl Dpo {
    /// What a core's reply to a request for a line says: its youngest persist of the line or fence
    /// before an access to it, what it has inherited, and the persist that a line in transit stands
    /// for.
    pub(super) fn note_for(&mut self, owner: CoreId, requester: CoreId, line: Line, access: Access) -> Option<Note> {
        let counts = &mut self.counts.look_ups;
        let buffer = &mut self.cores[owner.index()].buffer;
        let own = buffer.conflict(line, access, counts);
        let mut dependences = match kept(Rule::DependencesPassOn, self.settings.published, || true) {
            true => Vec::new(),
            false => buffer.inherits(line, access, counts),
        };
        dependences.extend(own);
        let in_transit = self.in_transit.get(&line).filter(|(holder, _)| *holder == owner);
        let in_transit = in_transit.map(|(_, id)| *id);
        dependences.extend(in_transit.map(|on| Dependence {
            on,
            kind: BufferedKind::Persist,
            volatile: false,
        }));
        dependences.retain(|dependence| dependence.on.core != requester);
        let hands_over = match access {
            Access::Own => self.hand_over(owner, line).or(in_transit),
            Access::Read => None,
        };
        let says = !dependences.is_empty() || hands_over.is_some();
        says.then_some(Note {
            dependences,
            hands_over,
        })
    }

    /// A core hands a line over to one that is about to store to it: the youngest persist of the
    /// line, if the core has it (DPO IV-E, step 5).
    fn hand_over(&mut self, owner: CoreId, line: Line) -> Option<Id> {
        let buffer = &mut self.cores[owner.index()].buffer;
        let number = buffer.youngest(line)?.0;
        keeps(Rule::YoungestIsCleared, || buffer.invalidate(line));
        Some(Id { core: owner, number })
    }
}
