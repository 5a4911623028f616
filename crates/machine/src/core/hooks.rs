//! The frequent hooks that a design may implement, as a set.

use strandline_design::Hook;

/// A set of hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hooks(u8);

impl Hooks {
    /// All of them, before anything is known of the design.
    pub const ALL: Hooks = Hooks(u8::MAX);

    fn bit(hook: Hook) -> u8 {
        1 << hook as u8
    }

    /// Whether the hook is one of them.
    #[inline(always)]
    pub fn has(self, hook: Hook) -> bool {
        self.0 & Hooks::bit(hook) != 0
    }

    /// These and this hook.
    pub fn with(self, hook: Hook) -> Hooks {
        Hooks(self.0 | Hooks::bit(hook))
    }

    /// All but this hook.
    pub fn without(self, hook: Hook) -> Hooks {
        Hooks(self.0 & !Hooks::bit(hook))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_that_is_skipped_leaves_the_others() {
        let hooks = Hooks::ALL.without(Hook::Load);
        assert!(!hooks.has(Hook::Load));
        assert!(hooks.has(Hook::Claim) && hooks.has(Hook::Visible));
    }
}
