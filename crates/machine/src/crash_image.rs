//! The image that a crash would leave, kept up to date while a run is observed.

use crate::journal::Durable;
use std::collections::BTreeMap;
use strandline_isa::{Line, LineData, Memory};
use strandline_kernel::Cycles;

/// The persisted bytes, what the design would change of them if power failed, and how the outcome
/// has changed so far.
pub struct CrashImage {
    /// What the media and the persistence domain's queues hold.
    persisted: Memory,
    /// The lines that the design named in its latest answer.
    overlay: BTreeMap<Line, LineData>,
    changes: Vec<Durable>,
    /// As [`crate::Journal::late`].
    late: Vec<(usize, usize)>,
}

impl CrashImage {
    /// The image before a run on this memory.
    pub fn of(initial: &Memory) -> CrashImage {
        CrashImage {
            persisted: initial.persistent_half(),
            overlay: BTreeMap::new(),
            changes: Vec::new(),
            late: Vec::new(),
        }
    }

    /// What is persisted of a line.
    pub fn persisted(&self, line: Line) -> LineData {
        self.persisted.line(line)
    }

    /// How the image has changed, in order, and what reserve power did not last for.
    pub fn into_changes(self) -> (Vec<Durable>, Vec<(usize, usize)>) {
        (self.changes, self.late)
    }

    /// From now on reserve power does not last for so many lines.
    pub fn is_late(&mut self, lines: usize) {
        let now = self.changes.len();
        match self.late.last_mut() {
            Some((events, late)) if *events == now => *late = lines,
            Some((_, late)) if *late == lines => {}
            _ => self.late.push((now, lines)),
        }
    }

    /// Records that at `at` a line is persisted, if one is, and that the design now names these
    /// lines, later ones over earlier ones.
    ///
    /// The persisted line comes first, and always, unless the design covers it; then the named
    /// lines that change, as named; then those that the design no longer names. A line named several
    /// times passes through these bytes, from those on that a crash would have left.
    pub fn update(&mut self, at: Cycles, persists: Option<(Line, LineData)>, named: &[(Line, LineData)]) {
        let overlay: BTreeMap<Line, LineData> = named.iter().copied().collect();
        if let Some((line, data)) = persists {
            self.persist(at, line, &data, overlay.contains_key(&line));
        }
        let place_of = |(place, (line, data)): (usize, &(Line, LineData))| (*line, self.left(*line) == *data, place);
        let known: BTreeMap<Line, usize> = named
            .iter()
            .enumerate()
            .map(place_of)
            .filter_map(|(line, is_left, place)| is_left.then_some((line, place)))
            .collect();
        for (place, (line, data)) in named.iter().enumerate() {
            if known.get(line).is_none_or(|known| *known <= place) {
                if self.left(*line) != *data {
                    self.change(at, *line, data);
                }
                self.overlay.insert(*line, *data);
            }
        }
        let gone = self.overlay.keys().filter(|line| !overlay.contains_key(line));
        for line in gone.copied().collect::<Vec<Line>>() {
            let (left, persisted) = (self.left(line), self.persisted(line));
            self.overlay.remove(&line);
            if left != persisted {
                self.change(at, line, &persisted);
            }
        }
    }

    /// Persists a line; `covered` if the design names the line, before or from now on.
    fn persist(&mut self, at: Cycles, line: Line, data: &LineData, covered: bool) {
        let left = self.left(line);
        self.persisted.set_line(line, data);
        if covered {
            self.overlay.insert(line, left);
        } else {
            self.overlay.remove(&line);
            self.change(at, line, data);
        }
    }

    /// What a crash leaves of a line.
    fn left(&self, line: Line) -> LineData {
        self.overlay.get(&line).copied().unwrap_or_else(|| self.persisted(line))
    }

    /// A change by a request of a core that runs ahead of its own stores is no later than the next
    /// change.
    fn change(&mut self, at: Cycles, line: Line, data: &LineData) {
        self.changes
            .iter_mut()
            .rev()
            .take_while(|last| last.at > at)
            .for_each(|last| last.at = at);
        let data = *data;
        self.changes.push(Durable { at, line, data });
    }
}
