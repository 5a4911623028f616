//! The registry: one line a design.

use crate::{
    asap_ep, asap_rp, asap_strand, cosplay, freeswitch, hops_ep, hops_rp, Bbb, Eadr, NoPersistQueue, NonAtomic, Sbatch,
    StrandWeaver, Unordered, Volatile, X86Pcommit, X86,
};
use strandline_design::{About, Design};
use strandline_kernel::{ParamError, Params};

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

        /// As [`with_design`], with parameters that the user set as keys and values.
        ///
        /// # Errors
        /// An unknown parameter, or one out of range.
        pub fn with_design_set<'a, V: DesignVisitor>(
            name: &str,
            set: impl IntoIterator<Item = (&'a str, &'a str)>,
            visitor: V,
        ) -> Option<Result<V::Out, ParamError>> {
            match name {
                $($name => Some(with_set($design, set, visitor)),)*
                _ => None,
            }
        }
    };
}

fn with_set<'a, D: Design, V: DesignVisitor>(
    mut design: D,
    set: impl IntoIterator<Item = (&'a str, &'a str)>,
    visitor: V,
) -> Result<V::Out, ParamError> {
    design.set(&Params::parse("design", D::params(), set)?);
    Ok(visitor.visit(design))
}

registry! {
    "x86" => X86,
    "x86-pcommit" => X86Pcommit::default(),
    "eadr" => Eadr,
    "bbb" => Bbb::default(),
    "cosplay" => cosplay(),
    "sbatch" => Sbatch,
    "freeswitch" => freeswitch(),
    "hops-ep" => hops_ep(),
    "hops-rp" => hops_rp(),
    "asap-ep" => asap_ep(),
    "asap-rp" => asap_rp(),
    "asap-strand" => asap_strand(),
    "strandweaver" => StrandWeaver::default(),
    "no-persist-queue" => NoPersistQueue::default(),
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
