//! The frequent hooks that a design may implement, as a set.

use super::Core;
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

impl Core {
    /// Whether the design may implement the hook.
    #[inline(always)]
    pub fn asks(&self, hook: Hook) -> bool {
        self.hooks.get().has(hook)
    }

    /// Records that the design does not implement the hook.
    pub fn skip(&self, hook: Hook) {
        self.set_hooks(self.hooks.get().without(hook));
    }

    /// Records that the design implements the hook after all.
    pub fn ask_again(&self, hook: Hook) {
        self.set_hooks(self.hooks.get().with(hook));
    }

    /// The result of `run`, in which the core does not ask for this hook.
    pub fn without<T>(&self, hook: Hook, run: impl FnOnce() -> T) -> T {
        let hooks = self.hooks.get();
        self.skip(hook);
        let result = run();
        self.set_hooks(hooks);
        result
    }

    fn set_hooks(&self, hooks: Hooks) {
        self.hooks.set(hooks);
        let sees_stores = [Hook::Store, Hook::Visible, Hook::Keep]
            .into_iter()
            .any(|hook| self.asks(hook));
        self.drain
            .by_itself
            .set(self.drain.in_order && !sees_stores && !self.drain.every_store);
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
