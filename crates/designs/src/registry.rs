//! The registry: one line a design.

use crate::{Eadr, NonAtomic, Unordered, Volatile, X86Pcommit, X86};
use strandline_design::{About, Design};

/// Something to do with a design once it is known which; dispatch happens here, once a run.
pub trait DesignVisitor {
    /// What it yields.
    type Out;
    /// Does it.
    fn visit<D: Design>(self, design: D) -> Self::Out;
}

macro_rules! registry {
    ($($name:literal => $design:expr,)*) => {
        /// What each registered design is, in the order of the registry.
        #[must_use]
        pub fn abouts() -> Vec<About> {
            vec![$($design.about()),*]
        }

        /// Calls the visitor with the design of this name; `None` if there is none.
        pub fn with_design<V: DesignVisitor>(name: &str, visitor: V) -> Option<V::Out> {
            match name {
                $($name => Some(visitor.visit($design)),)*
                _ => None,
            }
        }
    };
}

registry! {
    "x86" => X86,
    "x86-pcommit" => X86Pcommit::default(),
    "eadr" => Eadr,
    "unordered" => Unordered,
    "non-atomic" => NonAtomic,
    "volatile" => Volatile,
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Name;
    impl DesignVisitor for Name {
        type Out = &'static str;
        fn visit<D: Design>(self, design: D) -> &'static str {
            design.about().name
        }
    }

    #[test]
    fn every_design_is_found_under_its_own_name() {
        for about in abouts() {
            assert_eq!(with_design(about.name, Name), Some(about.name));
        }
        assert_eq!(with_design("none-such", Name), None);
    }
}
