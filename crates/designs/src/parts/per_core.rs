//! A state for each core that a design has met: a design does not know the machine's size when it is made.

use strandline_isa::CoreId;

/// The state of a core. At its first use `new` makes it, with those of all cores before it.
#[inline(always)]
pub fn state<T>(states: &mut Vec<T>, core: CoreId, new: impl FnMut(CoreId) -> T) -> &mut T {
    if states.len() <= core.index() {
        add(states, core, new);
    }
    &mut states[core.index()]
}

#[cold]
fn add<T>(states: &mut Vec<T>, last: CoreId, new: impl FnMut(CoreId) -> T) {
    let absent = states.len() as u16..=last.0;
    states.extend(absent.map(CoreId).map(new));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_made_in_order_and_once() {
        let mut states = Vec::new();
        let mut of = |core| *state(&mut states, CoreId(core), |core| 10 * core.0);
        assert_eq!((of(2), of(0), of(3)), (20, 0, 30));
        assert_eq!(states, [0, 10, 20, 30]);
    }
}
