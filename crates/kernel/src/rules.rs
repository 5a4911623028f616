//! Rules that tests can break one at a time, to see whether their checkers notice.

/// Defines a room's rules: `Rule`, and `Broken`, which says whether a rule is the one that is broken.
///
/// Each rule is a doc comment (the rule, then what happens when it is broken), a name and the rule's source. Without the
/// feature `mutants` of the room that defines them no rule can be broken: `Broken` is empty and its answer constant.
#[macro_export]
macro_rules! breakable_rules {
    ($($(#[doc = $words:literal])+ $rule:ident: $source:literal,)+) => {
        /// A rule that a test can break.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $(
                $(#[doc = $words])+
                #[doc = concat!("\n\nSource: ", $source, ".")]
                $rule,
            )+
        }

        #[cfg(feature = "mutants")]
        impl Rule {
            /// All of them.
            pub const ALL: &'static [Rule] = &[$(Rule::$rule),+];

            /// The rule in words, and what happens when it is broken.
            #[must_use]
            pub fn words(self) -> &'static str {
                match self {
                    $(Rule::$rule => concat!($($words),+).trim_ascii(),)+
                }
            }

            /// Where the rule is written down.
            #[must_use]
            pub fn source(self) -> &'static str {
                match self {
                    $(Rule::$rule => $source,)+
                }
            }
        }

        /// The rule that is broken, if any.
        #[derive(Clone, Copy, Debug, Default)]
        pub struct Broken {
            #[cfg(feature = "mutants")]
            rule: Option<Rule>,
        }

        impl Broken {
            /// Whether it is this one.
            #[inline(always)]
            pub fn is(self, rule: Rule) -> bool {
                #[cfg(feature = "mutants")]
                let broken = self.rule == Some(rule);
                #[cfg(not(feature = "mutants"))]
                let broken = {
                    let _ = rule;
                    false
                };
                broken
            }
        }

        #[cfg(feature = "mutants")]
        impl From<Option<Rule>> for Broken {
            fn from(rule: Option<Rule>) -> Broken {
                Broken { rule }
            }
        }
    };
}
