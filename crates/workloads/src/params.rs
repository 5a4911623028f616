//! How workloads declare what can be set.

use std::ops::RangeInclusive;
use strandline_kernel::Param;

/// A parameter: a number of this range. Its source is the workload's paper.
pub(crate) const fn param(name: &'static str, default: u64, range: RangeInclusive<u64>, help: &'static str) -> Param {
    Param {
        name,
        default,
        min: *range.start(),
        max: *range.end(),
        help,
        source: "",
        words: &[],
    }
}

/// A parameter with a word for each of its values, of which the first is the default.
pub(crate) const fn choice(name: &'static str, help: &'static str, words: &'static [&'static str]) -> Param {
    Param {
        words,
        ..param(name, 0, 0..=words.len() as u64 - 1, help)
    }
}

/// Declares what a faulty program may leave out, as `Omits`, and the parameter that chooses it.
macro_rules! omits {
    ($help:literal: $($(#[$doc:meta])* $variant:ident = $word:literal,)*) => {
        /// What a faulty program leaves out.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Omits {
            Nothing,
            $($(#[$doc])* $variant,)*
        }

        impl Omits {
            /// The parameter.
            const PARAM: strandline_kernel::Param = $crate::params::choice(
                "omits",
                concat!("what a faulty program leaves out: ", $help),
                &["nothing", $($word),*],
            );

            /// What the user chooses.
            fn of(params: &strandline_kernel::Params) -> Omits {
                [Omits::Nothing, $(Omits::$variant),*][params.get(Omits::PARAM.name) as usize]
            }
        }
    };
}
pub(crate) use omits;
