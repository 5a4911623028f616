//! Sets of events and relations between them, as bit sets.

const BITS: usize = u64::BITS as usize;

/// A set of events.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Set {
    size: usize,
    bits: Vec<u64>,
}

/// A binary relation between events: a bit set for each event.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Relation {
    size: usize,
    width: usize,
    rows: Vec<u64>,
}

fn ones(bits: &[u64]) -> impl Iterator<Item = usize> + '_ {
    bits.iter().enumerate().flat_map(|(word, &bits)| {
        let mut left = bits;
        std::iter::from_fn(move || {
            let bit = left.trailing_zeros() as usize;
            (left != 0).then(|| {
                left &= left - 1;
                word * BITS + bit
            })
        })
    })
}

/// Exchanges rows and columns of 64 times 64 bits: halves that lie across the diagonal, then halves of these.
fn transpose(square: &mut [u64; BITS]) {
    let (mut width, mut lower) = (BITS / 2, u64::MAX >> (BITS / 2));
    while width != 0 {
        for row in (0..BITS).filter(|row| row & width == 0) {
            let across = (square[row] >> width ^ square[row + width]) & lower;
            square[row] ^= across << width;
            square[row + width] ^= across;
        }
        width /= 2;
        lower ^= lower << width;
    }
}

/// The first of the events in these words.
fn first(bits: impl Iterator<Item = u64>) -> Option<usize> {
    let mut words = bits.enumerate();
    words.find_map(|(word, bits)| (bits != 0).then(|| word * BITS + bits.trailing_zeros() as usize))
}

impl Set {
    /// No event of `size`.
    #[must_use]
    pub fn empty(size: usize) -> Set {
        Set {
            size,
            bits: vec![0; size.div_ceil(BITS)],
        }
    }

    /// The events that are wanted.
    #[must_use]
    pub fn of(size: usize, wanted: impl Fn(usize) -> bool) -> Set {
        let mut set = Set::empty(size);
        for (word, bits) in set.bits.iter_mut().enumerate() {
            let first = word * BITS;
            let events = first..size.min(first + BITS);
            *bits = events.fold(0, |bits, event| bits | u64::from(wanted(event)) << (event - first));
        }
        set
    }

    /// Every event of `size`.
    #[must_use]
    pub fn all(size: usize) -> Set {
        let mut set = Set {
            size,
            bits: vec![u64::MAX; size.div_ceil(BITS)],
        };
        if let Some(last) = set.bits.last_mut().filter(|_| size % BITS != 0) {
            *last = (1 << (size % BITS)) - 1;
        }
        set
    }

    /// Whether the set contains the event.
    #[must_use]
    pub fn contains(&self, event: usize) -> bool {
        self.bits[event / BITS] >> (event % BITS) & 1 == 1
    }

    /// Puts an event in.
    pub fn insert(&mut self, event: usize) {
        self.bits[event / BITS] |= 1 << (event % BITS);
    }

    /// Takes an event out.
    pub fn remove(&mut self, event: usize) {
        self.bits[event / BITS] &= !(1 << (event % BITS));
    }

    /// Its events, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        ones(&self.bits)
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bits.iter().all(|bits| *bits == 0)
    }

    /// Its intersection with a row of a relation.
    #[must_use]
    pub fn shared(&self, row: &[u64]) -> Set {
        let bits = self.bits.iter().zip(row).map(|(a, b)| a & b).collect();
        Set { size: self.size, bits }
    }

    fn zip(mut self, other: &Set, op: impl Fn(u64, u64) -> u64) -> Set {
        self.bits.iter_mut().zip(&other.bits).for_each(|(a, b)| *a = op(*a, *b));
        self
    }

    /// In either.
    #[must_use]
    pub fn or(self, other: &Set) -> Set {
        self.zip(other, |a, b| a | b)
    }

    /// In both.
    #[must_use]
    pub fn and(self, other: &Set) -> Set {
        self.zip(other, |a, b| a & b)
    }

    /// The difference: in this and not in the other.
    #[must_use]
    pub fn minus(self, other: &Set) -> Set {
        self.zip(other, |a, b| a & !b)
    }

    /// All others.
    #[must_use]
    pub fn complement(self) -> Set {
        Set::all(self.size).minus(&self)
    }
}

impl Relation {
    /// No pair of `size` events.
    #[must_use]
    pub fn empty(size: usize) -> Relation {
        let width = size.div_ceil(BITS);
        Relation {
            size,
            width,
            rows: vec![0; size * width],
        }
    }

    /// The pairs that are wanted.
    #[must_use]
    pub fn of(size: usize, wanted: impl Fn(usize, usize) -> bool) -> Relation {
        let mut relation = Relation::empty(size);
        for from in 0..size {
            (0..size)
                .filter(|to| wanted(from, *to))
                .for_each(|to| relation.insert(from, to));
        }
        relation
    }

    /// All pairs of an event and a later one.
    #[must_use]
    pub fn forward(size: usize) -> Relation {
        let mut relation = Relation::empty(size);
        let mut later = Set::all(size);
        for event in 0..size {
            later.remove(event);
            relation.row_mut(event).copy_from_slice(&later.bits);
        }
        relation
    }

    /// The identity on a set.
    #[must_use]
    pub fn lift(set: &Set) -> Relation {
        let mut relation = Relation::empty(set.size);
        set.iter().for_each(|event| relation.insert(event, event));
        relation
    }

    /// All pairs from one set to another.
    #[must_use]
    pub fn cross(from: &Set, to: &Set) -> Relation {
        let mut relation = Relation::empty(from.size);
        from.iter()
            .for_each(|event| relation.row_mut(event).copy_from_slice(&to.bits));
        relation
    }

    /// The pairs of events that have the same key.
    #[must_use]
    pub fn grouped(keys: &[Option<usize>]) -> Relation {
        let mut relation = Relation::empty(keys.len());
        let keyed = keys
            .iter()
            .enumerate()
            .filter_map(|(event, key)| Some(((*key)?, event)));
        let mut sorted: Vec<(usize, usize)> = keyed.collect();
        sorted.sort_unstable();
        for group in sorted.chunk_by(|one, other| one.0 == other.0) {
            let first = group[0].1;
            group.iter().for_each(|(_, event)| relation.insert(first, *event));
            let row = first * relation.width..(first + 1) * relation.width;
            for (_, event) in &group[1..] {
                relation.rows.copy_within(row.clone(), event * relation.width);
            }
        }
        relation
    }

    /// The bits of the events that `from` is related to.
    #[must_use]
    #[inline]
    pub fn row(&self, from: usize) -> &[u64] {
        &self.rows[from * self.width..(from + 1) * self.width]
    }

    #[inline]
    fn row_mut(&mut self, from: usize) -> &mut [u64] {
        &mut self.rows[from * self.width..(from + 1) * self.width]
    }

    /// Whether the relation contains the pair.
    #[must_use]
    #[inline]
    pub fn contains(&self, from: usize, to: usize) -> bool {
        self.row(from)[to / BITS] >> (to % BITS) & 1 == 1
    }

    /// Puts a pair in.
    pub fn insert(&mut self, from: usize, to: usize) {
        self.row_mut(from)[to / BITS] |= 1 << (to % BITS);
    }

    /// The events that `from` is related to, in order.
    pub fn after(&self, from: usize) -> impl Iterator<Item = usize> + '_ {
        ones(self.row(from))
    }

    /// Its pairs, in order.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.size).flat_map(|from| self.after(from).map(move |to| (from, to)))
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(|bits| *bits == 0)
    }

    fn zip(mut self, other: &Relation, op: impl Fn(u64, u64) -> u64) -> Relation {
        self.rows.iter_mut().zip(&other.rows).for_each(|(a, b)| *a = op(*a, *b));
        self
    }

    /// In either.
    #[must_use]
    pub fn or(self, other: &Relation) -> Relation {
        self.zip(other, |a, b| a | b)
    }

    /// In both.
    #[must_use]
    pub fn and(self, other: &Relation) -> Relation {
        self.zip(other, |a, b| a & b)
    }

    /// The difference: in this and not in the other.
    #[must_use]
    pub fn minus(self, other: &Relation) -> Relation {
        self.zip(other, |a, b| a & !b)
    }

    /// All other pairs.
    #[must_use]
    pub fn complement(mut self) -> Relation {
        let all = Set::all(self.size);
        for row in self.rows.chunks_exact_mut(self.width.max(1)) {
            row.iter_mut().zip(&all.bits).for_each(|(a, all)| *a = all & !*a);
        }
        self
    }

    /// Only pairs from this set.
    #[must_use]
    pub fn from_set(mut self, set: &Set) -> Relation {
        let width = self.width.max(1);
        let rows = self.rows.chunks_exact_mut(width).enumerate();
        rows.filter(|(from, _)| !set.contains(*from))
            .for_each(|(_, row)| row.fill(0));
        self
    }

    /// Only pairs to this set.
    #[must_use]
    pub fn to_set(mut self, set: &Set) -> Relation {
        let width = self.width.max(1);
        for row in self.rows.chunks_exact_mut(width) {
            row.iter_mut().zip(&set.bits).for_each(|(a, b)| *a &= b);
        }
        self
    }

    /// The domain: events that are related to some event.
    #[must_use]
    pub fn domain(&self) -> Set {
        let mut domain = Set::empty(self.size);
        let rows = self.rows.chunks_exact(self.width.max(1)).enumerate();
        rows.filter(|(_, row)| row.iter().any(|bits| *bits != 0))
            .for_each(|(from, _)| domain.insert(from));
        domain
    }

    /// The range: events to which some event is related.
    #[must_use]
    pub fn range(&self) -> Set {
        let mut range = Set::empty(self.size);
        for row in self.rows.chunks_exact(self.width.max(1)) {
            range.bits.iter_mut().zip(row).for_each(|(a, b)| *a |= b);
        }
        range
    }

    /// First this, then the other.
    #[must_use]
    pub fn then(&self, other: &Relation) -> Relation {
        let useful = other.domain();
        let mut result = Relation::empty(self.size);
        if useful.is_empty() {
            return result;
        }
        for from in (0..self.size).rev() {
            if self
                .row(from)
                .iter()
                .zip(&useful.bits)
                .all(|(row, useful)| row & useful == 0)
            {
                continue;
            }
            // In program order an event has all successors of the next one, and few others.
            let next = Some(from + 1).filter(|next| *next < self.size && self.has_all_after(from, *next, &useful));
            let (before, after) = result.rows.split_at_mut((from + 1) * self.width);
            let row = &mut before[from * self.width..];
            if next.is_some() {
                row.iter_mut().zip(after).for_each(|(bits, next)| *bits = *next);
            }
            for (word, useful) in useful.bits.iter().enumerate() {
                let known = next.map_or(0, |next| self.row(next)[word]);
                let mut left = self.row(from)[word] & useful & !known;
                while left != 0 {
                    let between = word * BITS + left.trailing_zeros() as usize;
                    left &= left - 1;
                    row.iter_mut().zip(other.row(between)).for_each(|(a, b)| *a |= b);
                }
            }
        }
        result
    }

    /// Whether `from` is related to all those of `useful` that `next` is related to.
    fn has_all_after(&self, from: usize, next: usize, useful: &Set) -> bool {
        let rows = self.row(from).iter().zip(self.row(next));
        rows.zip(&useful.bits)
            .all(|((from, next), useful)| next & useful & !from == 0)
    }

    /// The other way round.
    #[must_use]
    pub fn inverse(&self) -> Relation {
        let mut result = Relation::empty(self.size);
        for (above, left) in (0..self.width).flat_map(|above| (0..self.width).map(move |left| (above, left))) {
            let mut square = self.square(above, left);
            if square.iter().any(|bits| *bits != 0) {
                transpose(&mut square);
                result.set_square(left, above, &square);
            }
        }
        result
    }

    /// The bits of 64 events' relations to 64 events, counted in words.
    fn square(&self, above: usize, left: usize) -> [u64; BITS] {
        let mut square = [0; BITS];
        let rows = self.rows.chunks_exact(self.width).skip(above * BITS);
        square.iter_mut().zip(rows).for_each(|(bits, row)| *bits = row[left]);
        square
    }

    fn set_square(&mut self, above: usize, left: usize, square: &[u64; BITS]) {
        let rows = self.rows.chunks_exact_mut(self.width).skip(above * BITS);
        square.iter().zip(rows).for_each(|(bits, row)| row[left] = *bits);
    }

    /// First this the other way round, then the other.
    #[must_use]
    pub fn back_then(&self, other: &Relation) -> Relation {
        let mut result = Relation::empty(self.size);
        for (from, to) in self.pairs() {
            let row = result.row_mut(to).iter_mut().zip(other.row(from));
            row.for_each(|(a, b)| *a |= b);
        }
        result
    }

    /// With the identity.
    #[must_use]
    pub fn reflexive(mut self) -> Relation {
        (0..self.size).for_each(|event| self.insert(event, event));
        self
    }

    /// The transitive closure.
    #[must_use]
    pub fn closure(mut self) -> Relation {
        if !self.close_acyclic() {
            self.close();
        }
        self
    }

    /// Closes the rows of events after those of their successors, and gives up at a cycle: the rows that were closed by
    /// then remain.
    fn close_acyclic(&mut self) -> bool {
        let (mut found, mut closed) = (Set::empty(self.size), Set::empty(self.size));
        let (mut path, mut left) = (Vec::new(), Vec::new());
        for start in 0..self.size {
            if found.contains(start) {
                continue;
            }
            found.insert(start);
            path.push(start);
            while let Some(&event) = path.last() {
                let words = self.row(event).iter().zip(&found.bits);
                if let Some(next) = first(words.map(|(row, found)| row & !found)) {
                    found.insert(next);
                    path.push(next);
                } else {
                    // A successor on the path leads back.
                    let mut words = self.row(event).iter().zip(&closed.bits);
                    if words.any(|(row, closed)| row & !closed != 0) {
                        return false;
                    }
                    self.absorb(event, &mut left);
                    closed.insert(event);
                    path.pop();
                }
            }
        }
        true
    }

    /// Adds the closed rows of an event's successors to its own. Most successors are in a row that has been added;
    /// `left` are the others.
    fn absorb(&mut self, event: usize, left: &mut Vec<u64>) {
        let (at, width) = (event * self.width, self.width);
        left.clear();
        left.extend_from_slice(self.row(event));
        while let Some(next) = first(left.iter().copied()) {
            left[next / BITS] &= !(1 << (next % BITS));
            for (word, left) in left.iter_mut().enumerate() {
                let reached = self.rows[next * width + word];
                self.rows[at + word] |= reached;
                *left &= !reached;
            }
        }
    }

    /// Warshall's algorithm.
    fn close(&mut self) {
        for between in 0..self.size {
            let after = self.row(between).to_vec();
            if after.iter().all(|bits| *bits == 0) {
                continue;
            }
            let (word, bit) = (between / BITS, between % BITS);
            for row in self.rows.chunks_exact_mut(self.width) {
                // All ones where the row has the event: a branch would be foretold wrong half the time.
                let has = (row[word] >> bit & 1).wrapping_neg();
                row.iter_mut().zip(&after).for_each(|(a, b)| *a |= b & has);
            }
        }
    }

    /// Whether no events are related in a circle.
    #[must_use]
    pub fn is_acyclic(mut self) -> bool {
        self.close_acyclic()
    }

    /// Whether no event is related to itself.
    #[must_use]
    pub fn is_irreflexive(&self) -> bool {
        (0..self.size).all(|event| !self.contains(event, event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    type Pairs = BTreeSet<(usize, usize)>;

    fn pairs(size: usize) -> impl Strategy<Value = Pairs> {
        prop::collection::btree_set((0..size, 0..size), 0..40)
    }

    fn relation(size: usize, pairs: &Pairs) -> Relation {
        Relation::of(size, |a, b| pairs.contains(&(a, b)))
    }

    fn back(relation: &Relation) -> Pairs {
        relation.pairs().collect()
    }

    proptest! {
        // 70 events: rows of more than one word.
        #[test]
        fn relations_are_sets_of_pairs(a in pairs(70), b in pairs(70), s in prop::collection::btree_set(0usize..70, 0..40)) {
            let (ra, rb) = (relation(70, &a), relation(70, &b));
            let set = Set::of(70, |event| s.contains(&event));
            prop_assert_eq!(back(&ra), a.clone());
            prop_assert_eq!(Set::all(70), Set::of(70, |_| true));
            prop_assert_eq!(Relation::forward(70), Relation::of(70, |x, y| x < y));
            prop_assert_eq!(back(&ra.clone().or(&rb)), &a | &b);
            prop_assert_eq!(back(&ra.clone().and(&rb)), &a & &b);
            prop_assert_eq!(back(&ra.clone().minus(&rb)), &a - &b);
            prop_assert_eq!(back(&ra.inverse()), a.iter().map(|(x, y)| (*y, *x)).collect::<Pairs>());
            let through = a.iter().flat_map(|(x, y)| b.iter().filter(move |(z, _)| y == z).map(move |(_, w)| (*x, *w)));
            prop_assert_eq!(back(&ra.then(&rb)), through.collect::<Pairs>());
            prop_assert_eq!(back(&ra.clone().from_set(&set)), back(&Relation::lift(&set).then(&ra)));
            prop_assert_eq!(back(&ra.clone().to_set(&set)), back(&ra.then(&Relation::lift(&set))));
            prop_assert_eq!(ra.domain().iter().collect::<Vec<_>>(), back(&ra).iter().map(|p| p.0).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>());
            prop_assert_eq!(ra.range(), ra.inverse().domain());
            prop_assert_eq!(ra.back_then(&rb), ra.inverse().then(&rb));
            let keys: Vec<Option<usize>> = (0..70).map(|event| s.contains(&event).then_some(event % 7)).collect();
            let alike = |x: usize, y: usize| keys[x].is_some() && keys[x] == keys[y];
            prop_assert_eq!(Relation::grouped(&keys), Relation::of(70, alike));
            prop_assert_eq!(ra.clone().complement().complement(), ra.clone());
            prop_assert_eq!(set.clone().complement().complement(), set);
        }

        #[test]
        fn a_relation_after_program_order_is_a_set_of_pairs(cut in 0usize..70, a in pairs(70), b in pairs(70)) {
            // Two threads, and other pairs.
            let (ra, rb) = (Relation::of(70, |x, y| x < y && (x < cut) == (y < cut)).or(&relation(70, &a)), relation(70, &b));
            let through = ra.pairs().flat_map(|(x, y)| b.iter().filter(move |(z, _)| y == *z).map(move |(_, w)| (x, *w)));
            prop_assert_eq!(back(&ra.then(&rb)), through.collect::<Pairs>());
        }

        #[test]
        fn a_closure_is_the_least_transitive_relation(any in pairs(70), forward in any::<bool>(), shift in 0usize..70) {
            // Pairs that go forward from `shift` on, round the end, have no cycle.
            let place = |event: usize| (event + shift) % 70;
            let a: Pairs = any.into_iter().filter(|(x, y)| !forward || place(*x) < place(*y)).collect();
            let mut closed = a.clone();
            loop {
                let more: Pairs = closed.iter().flat_map(|(x, y)| a.iter().filter(move |(z, _)| y == z).map(move |(_, w)| (*x, *w))).collect();
                let before = closed.len();
                closed.extend(more);
                if closed.len() == before {
                    break;
                }
            }
            let closure = relation(70, &a).closure();
            prop_assert_eq!(relation(70, &a).is_acyclic(), closure.is_irreflexive());
            prop_assert_eq!(back(&closure), closed);
        }
    }
}
