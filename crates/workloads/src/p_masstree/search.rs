//! Searches, which take no lock.

use super::permutation::Permutation;
use super::{node, Layer, Masstree, ENTRY, IS_RECORD, SECOND};
use strandline_isa::{sites, Cpu, W};

sites! {
    HAS_SIBLING = 0xab91_b6e0;
    SIBLING_COVERS = 0x64a7_cc87;
    IS_AT_LEVEL = 0x9425_9e47;
    ROOT_IS_BELOW = 0xbe43_ec5e;
    ENTRIES_END = 0x423a_3e60;
    ENTRY_IS_LESS = 0x3eb1_7f12;
    ENTRY_MATCHES = 0x46cf_169a;
    CHILDREN_END = 0x889f_7db3;
    CHILD_IS_GREATER = 0x67e1_8f29;
    CHILD_VERSION_STAYED = 0x6e8b_b6dd;
    LINK_IS_LAYER = 0x371a_f02c;
    RECORD_MATCHES = 0x87fa_ccf2;
    BORDER_VERSION_STAYED = 0x5739_0e2c;
}

/// What a border node has of a key.
pub(super) enum FoundKey<'c, C: Cpu> {
    /// No entry of its slice.
    Absent,
    /// The record of another key with its slice.
    Other(W<'c, C>),
    /// The address of its value.
    Value(W<'c, C>),
    /// The root of the layer that goes on with its next slice.
    Layer(W<'c, C>),
}

/// What a search has found in one node.
enum Seen<'c, C: Cpu> {
    Nothing,
    Value(W<'c, C>),
    Layer(W<'c, C>),
}

/// A node that only its sibling points to, and its level: its parent has no entry for it.
pub(super) type Orphan<'c, C> = (W<'c, C>, u64);

/// A node of a level.
pub(super) struct Reached<'c, C: Cpu> {
    pub(super) at: W<'c, C>,
    /// The last one on the way.
    pub(super) orphan: Option<Orphan<'c, C>>,
}

/// The border node for a key, in the last of its layers.
pub(super) struct Border<'c, C: Cpu> {
    pub(super) layer: Layer<'c, C>,
    pub(super) at: W<'c, C>,
    pub(super) slice: W<'c, C>,
    /// The last one on the way, with its layer.
    pub(super) orphan: Option<(Layer<'c, C>, Orphan<'c, C>)>,
}

/// Where a slice is, or belongs, in a node.
pub(super) struct SlicePlace<'c, C: Cpu> {
    /// How many entries are before it.
    pub(super) place: W<'c, C>,
    /// Its entry.
    pub(super) entry: Option<W<'c, C>>,
}

/// A slot's entry.
pub(super) fn entry<'c, C: Cpu>(at: W<'c, C>, slot: W<'c, C>) -> W<'c, C> {
    (at + (slot << u64::from(ENTRY.trailing_zeros()))).at(node::ENTRIES)
}

impl Masstree {
    /// The first layer.
    pub(super) fn first<'c, C: Cpu>(&self, cpu: &'c C) -> Layer<'c, C> {
        let _call = cpu.call(0);
        Layer {
            depth: 0,
            root: cpu.word(self.root.0).load(),
            above: None,
        }
    }

    pub(super) fn permutation<'c, C: Cpu>(&self, at: W<'c, C>) -> Permutation<'c, C> {
        let _call = at.call(1);
        Permutation {
            word: at.at(node::PERMUTATION).load(),
            width: self.width,
        }
    }

    /// The sibling of a node if it covers the slice.
    pub(super) fn right<'c, C: Cpu>(at: W<'c, C>, slice: W<'c, C>) -> Option<W<'c, C>> {
        let _call = at.call(2);
        let sibling = at.at(node::NEXT).load();
        if sibling.is(0).branch(HAS_SIBLING) {
            return None;
        }
        let low = sibling.at(node::LOW).load();
        (!slice.less(low).branch(SIBLING_COVERS)).then_some(sibling)
    }

    /// The node of a level that covers a slice, from a root; `None` if the tree is not as high.
    pub(super) fn descend<'c, C: Cpu>(
        &self,
        cpu: &'c C,
        root: W<'c, C>,
        slice: W<'c, C>,
        level: u64,
    ) -> Option<Reached<'c, C>> {
        let _call = cpu.call(3);
        let mut at = root;
        let mut height = at.at(node::LEVEL).load();
        if height.below(level).branch(ROOT_IS_BELOW) {
            return None;
        }
        let mut orphan = None;
        loop {
            while let Some(sibling) = Masstree::right(at, slice) {
                at = sibling;
                orphan = Some((at, height.bits()));
            }
            if height.is(level).branch(IS_AT_LEVEL) {
                return Some(Reached { at, orphan });
            }
            at = self.child(cpu, at, slice);
            height = height - 1;
        }
    }

    /// The child of an inner node for a slice.
    fn child<'c, C: Cpu>(&self, cpu: &'c C, parent: W<'c, C>, slice: W<'c, C>) -> W<'c, C> {
        let _call = cpu.call(2);
        loop {
            let version = parent.at(node::VERSION).load();
            let permutation = self.permutation(parent);
            let (mut rest, mut left) = (permutation.from(0), permutation.count());
            let mut link = parent.at(node::LEFTMOST);
            while !left.is(0).branch(CHILDREN_END) {
                let entry = entry(parent, Permutation::next(rest));
                if slice.less(entry.load()).branch(CHILD_IS_GREATER) {
                    break;
                }
                link = entry.at(SECOND);
                (rest, left) = (Permutation::after(rest), left - 1);
            }
            let child = link.load();
            let now = parent.at(node::VERSION).load();
            if now.equals(version).branch(CHILD_VERSION_STAYED) {
                return child;
            }
            cpu.spins();
        }
    }

    /// The place of a slice in a node: the first whose entry is not less.
    pub(super) fn place<'c, C: Cpu>(
        cpu: &'c C,
        at: W<'c, C>,
        permutation: &Permutation<'c, C>,
        slice: W<'c, C>,
    ) -> SlicePlace<'c, C> {
        let _call = cpu.call(3);
        let (mut rest, count, mut place) = (permutation.from(0), permutation.count(), cpu.word(0));
        while !place.equals(count).branch(ENTRIES_END) {
            let entry = entry(at, Permutation::next(rest));
            let held = entry.load();
            if !held.less(slice).branch(ENTRY_IS_LESS) {
                let entry = held.equals(slice).branch(ENTRY_MATCHES).then_some(entry);
                return SlicePlace { place, entry };
            }
            (rest, place) = (Permutation::after(rest), place + 1);
        }
        SlicePlace { place, entry: None }
    }

    /// What an entry of a border node has of a key.
    pub(super) fn found<'c, C: Cpu>(&self, entry: Option<W<'c, C>>, key: W<'c, C>) -> FoundKey<'c, C> {
        let _call = key.call(2);
        let Some(entry) = entry else { return FoundKey::Absent };
        if self.is_inline() {
            return FoundKey::Value(entry.at(SECOND));
        }
        let link = entry.at(SECOND).load();
        if (link & IS_RECORD).is(0).branch(LINK_IS_LAYER) {
            return FoundKey::Layer(link);
        }
        let record = link - IS_RECORD;
        match record.load().equals(key).branch(RECORD_MATCHES) {
            true => FoundKey::Value(record.at(SECOND)),
            false => FoundKey::Other(record),
        }
    }

    /// What a border node has of a key, without its lock.
    fn look<'c, C: Cpu>(&self, cpu: &'c C, at: W<'c, C>, slice: W<'c, C>, key: W<'c, C>) -> Seen<'c, C> {
        let _call = cpu.call(3);
        loop {
            let version = at.at(node::VERSION).load();
            let permutation = self.permutation(at);
            let place = Masstree::place(cpu, at, &permutation, slice);
            let seen = match self.found(place.entry, key) {
                FoundKey::Absent | FoundKey::Other(_) => Seen::Nothing,
                FoundKey::Value(word) => Seen::Value(word.load()),
                FoundKey::Layer(root) => Seen::Layer(root),
            };
            let now = at.at(node::VERSION).load();
            if now.equals(version).branch(BORDER_VERSION_STAYED) {
                return seen;
            }
            cpu.spins();
        }
    }

    /// What a layer has of a key, and the border node, from this one or a sibling on.
    fn search<'c, C: Cpu>(
        &self,
        cpu: &'c C,
        mut at: W<'c, C>,
        slice: W<'c, C>,
        key: W<'c, C>,
    ) -> (Seen<'c, C>, W<'c, C>) {
        let _call = cpu.call(3);
        loop {
            let seen = self.look(cpu, at, slice, key);
            if !matches!(seen, Seen::Nothing) {
                return (seen, at);
            }
            // A split may have moved the entry.
            match Masstree::right(at, slice) {
                Some(sibling) => at = sibling,
                None => return (seen, at),
            }
        }
    }

    /// The root of a layer now: lower ones may have grown since the layer was entered.
    pub(super) fn root<'c, C: Cpu>(&self, cpu: &'c C, layer: &Layer<'c, C>) -> Option<W<'c, C>> {
        let _call = cpu.call(1);
        let Some((border, slice)) = layer.above else {
            return Some(cpu.word(self.root.0).load());
        };
        match self.search(cpu, border, slice, cpu.word(0)) {
            (Seen::Layer(root), _) => Some(root),
            _ => None,
        }
    }

    /// The border node for a key, in the last layer that there is for it.
    pub(super) fn border<'c, C: Cpu>(&self, cpu: &'c C, key: W<'c, C>) -> Option<Border<'c, C>> {
        let _call = cpu.call(1);
        let (mut layer, mut orphan) = (self.first(cpu), None);
        loop {
            let slice = self.slice(key, layer.depth);
            let reached = self.descend(cpu, layer.root, slice, 0)?;
            orphan = reached.orphan.map(|found| (layer, found)).or(orphan);
            let border = Border {
                layer,
                at: reached.at,
                slice,
                orphan,
            };
            if layer.depth + 1 == self.layers() {
                return Some(border);
            }
            let (Seen::Layer(root), above) = self.search(cpu, reached.at, slice, key) else {
                return Some(border);
            };
            layer = Layer {
                depth: layer.depth + 1,
                root,
                above: Some((above, slice)),
            };
        }
    }

    /// The value of a key.
    pub(super) fn value<'c, C: Cpu>(&self, cpu: &'c C, key: W<'c, C>) -> Option<W<'c, C>> {
        let _call = cpu.call(1);
        let (mut root, mut depth) = (self.first(cpu).root, 0);
        loop {
            let slice = self.slice(key, depth);
            let reached = self.descend(cpu, root, slice, 0)?;
            match self.search(cpu, reached.at, slice, key).0 {
                Seen::Nothing => return None,
                Seen::Value(value) => return Some(value),
                Seen::Layer(next) => (root, depth) = (next, depth + 1),
            }
        }
    }
}
