//! The lines with writes that no controller has accepted.

use strandline_design::WriteId;
use strandline_isa::Line;

/// The writes to a line that no controller has accepted.
#[derive(Clone, Copy)]
pub struct Tail {
    line: Line,
    /// How many there are; none in an empty place of the table.
    count: u32,
    /// The latest.
    pub last: WriteId,
    /// When the last of them arrives.
    pub arrives: u64,
}

const EMPTY: Tail = Tail {
    line: Line(0),
    count: 0,
    last: WriteId(0),
    arrives: 0,
};

/// A hash table of lines; a line that finds its place taken gets the next empty one.
pub struct Tails {
    /// A power of two of them, at least half of them empty.
    places: Vec<Tail>,
    lines: usize,
}

impl Default for Tails {
    fn default() -> Tails {
        Tails {
            places: vec![EMPTY; 64],
            lines: 0,
        }
    }
}

impl Tails {
    fn next(&self, place: usize) -> usize {
        (place + 1) & (self.places.len() - 1)
    }

    /// The place that a line gets if it is empty.
    #[inline(always)]
    fn home(&self, line: Line) -> usize {
        let hash = line.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        hash as usize & (self.places.len() - 1)
    }

    /// The place of the line, or the empty one that it would get.
    #[inline(always)]
    fn place(&self, line: Line) -> usize {
        let mut place = self.home(line);
        while self.places[place].count > 0 && self.places[place].line != line {
            place = self.next(place);
        }
        place
    }

    /// The writes to the line, if there are any.
    #[inline]
    pub fn get(&self, line: Line) -> Option<&Tail> {
        Some(&self.places[self.place(line)]).filter(|tail| tail.count > 0)
    }

    /// Counts a write to the line as its latest.
    #[inline(always)]
    pub fn add(&mut self, line: Line, last: WriteId) -> &mut Tail {
        if 2 * self.lines >= self.places.len() {
            self.grow();
        }
        let place = self.place(line);
        let tail = &mut self.places[place];
        if tail.count == 0 {
            *tail = Tail { line, ..EMPTY };
            self.lines += 1;
        }
        tail.count += 1;
        tail.last = last;
        tail
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let empty = vec![EMPTY; 2 * self.places.len()];
        for tail in std::mem::replace(&mut self.places, empty) {
            if tail.count > 0 {
                let place = self.place(tail.line);
                self.places[place] = tail;
            }
        }
    }

    /// Counts a write to the line no more.
    #[inline(always)]
    pub fn remove(&mut self, line: Line) {
        let place = self.place(line);
        let tail = &mut self.places[place];
        debug_assert!(tail.count > 0, "a line with writes");
        tail.count -= 1;
        if tail.count == 0 {
            self.lines -= 1;
            self.close(place);
        }
    }

    /// Moves those that have not got their own places nearer to them: one was emptied.
    fn close(&mut self, mut empty: usize) {
        let mut place = self.next(empty);
        while self.places[place].count > 0 {
            let mask = self.places.len() - 1;
            let from_home = place.wrapping_sub(self.home(self.places[place].line)) & mask;
            if from_home >= place.wrapping_sub(empty) & mask {
                self.places[empty] = std::mem::replace(&mut self.places[place], EMPTY);
                empty = place;
            }
            place = self.next(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use strandline_kernel::Rng;

    #[test]
    fn a_table_counts_as_a_map_does() {
        let (mut tails, mut map, mut rng) = (Tails::default(), BTreeMap::new(), Rng::new(1));
        for id in 0..20_000 {
            // Few lines with many writes, then many lines: the table grows and lines meet.
            let line = Line(rng.below(if id < 10_000 { 40 } else { 300 }) * 64);
            if rng.one_in(2) {
                tails.add(line, WriteId(id));
                let known = map.entry(line).or_insert((0, WriteId(id)));
                *known = (known.0 + 1, WriteId(id));
            } else if let Some((count, _)) = map.get_mut(&line) {
                *count -= 1;
                tails.remove(line);
                map.retain(|_, (count, _)| *count > 0);
            }
            let found = tails.get(line).map(|tail| (tail.count, tail.last));
            assert_eq!(found, map.get(&line).copied());
        }
        assert_eq!(tails.lines, map.len());
        for (line, known) in map {
            assert_eq!(tails.get(line).map(|tail| (tail.count, tail.last)), Some(known));
        }
    }
}
