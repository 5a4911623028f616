//! Keys of a run's record, each declared once: type, unit, how values add up, meaning.

use serde::Serialize;

/// How the value of a key comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Adds {
    /// It says what ran.
    Given,
    /// Counted: parts of the machine add up, and a stretch of time is the difference of two counts.
    Sum,
    /// The largest value, over the whole run.
    Max,
    /// Computed when the run has ended.
    Derived,
}

/// A key of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Key {
    /// Its name.
    pub name: String,
    /// Its type, in Python's words.
    #[serde(rename = "type")]
    pub type_name: String,
    /// What it is a number of; empty if it is none.
    pub unit: &'static str,
    /// How its value comes about.
    pub adds: Adds,
    /// What it means.
    pub help: String,
}

/// Counts, of which a later one and an earlier one have a difference.
pub trait Counts {
    /// What was counted since `earlier`. What does not add up stays.
    #[must_use]
    fn since(self, earlier: &Self) -> Self;
}

impl Counts for u64 {
    fn since(self, earlier: &u64) -> u64 {
        self - earlier
    }
}

impl<T: Counts> Counts for Option<T> {
    fn since(self, earlier: &Option<T>) -> Option<T> {
        match (self, earlier) {
            (Some(later), Some(earlier)) => Some(later.since(earlier)),
            (later, _) => later,
        }
    }
}

/// By place; what has no earlier value stays.
impl Counts for Vec<u64> {
    fn since(mut self, earlier: &Vec<u64>) -> Vec<u64> {
        for (later, earlier) in self.iter_mut().zip(earlier) {
            *later -= earlier;
        }
        self
    }
}

/// Declares a part of a record: a structure whose fields are keys, each with [`Adds`] and unit, and its list `keys()`.
/// Fields `beside` are no keys of their own; their attributes say what serde makes of them.
#[macro_export]
macro_rules! keys {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[doc = $doc:literal])+ $field:ident: $type:ty = $adds:ident of $unit:literal,)*
        }
        $(beside {
            $($(#[$attribute:meta])+ $beside:ident: $other:ty,)*
        })?
    ) => {
        $(#[$meta])*
        #[derive(serde::Serialize)]
        pub struct $name {
            $($(#[doc = $doc])+ pub $field: $type,)*
            $($($(#[$attribute])+ pub $beside: $other,)*)?
        }

        impl $name {
            /// Its keys, without those of its parts.
            #[must_use]
            pub fn keys() -> Vec<$crate::Key> {
                vec![$($crate::Key {
                    name: stringify!($field).to_owned(),
                    type_name: <$type as $crate::TypeName>::type_name(),
                    unit: $unit,
                    adds: $crate::Adds::$adds,
                    help: concat!($($doc),+).trim().to_owned(),
                },)*]
            }
        }
    };
}

/// Declares a part of a record as [`keys!`] does, and the difference of two: [`Counts`].
#[macro_export]
macro_rules! counters {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[doc = $doc:literal])+ $field:ident: $type:ty = $adds:ident of $unit:literal,)*
        }
        beside {
            $($(#[$attribute:meta])+ $beside:ident: $other:ty = $how:ident,)*
        }
    ) => {
        $crate::keys! {
            $(#[$meta])*
            pub struct $name {
                $($(#[doc = $doc])+ $field: $type = $adds of $unit,)*
            }
            beside {
                $($(#[$attribute])+ $beside: $other,)*
            }
        }

        impl $crate::Counts for $name {
            fn since(self, earlier: &$name) -> $name {
                $name {
                    $($field: $crate::counters!(@$adds self.$field, earlier.$field),)*
                    $($beside: $crate::counters!(@$how self.$beside, earlier.$beside),)*
                }
            }
        }
    };
    (@Sum $later:expr, $earlier:expr) => { $crate::Counts::since($later, &$earlier) };
    (@$other:ident $later:expr, $earlier:expr) => { $later };
}

#[cfg(test)]
mod tests {
    use super::*;

    counters! {
        /// Some counts.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Fallen {
            /// Apples that fell.
            apples: u64 = Sum of "apples",
            /// The longest fall.
            longest: Option<u64> = Max of "cycles",
        }
        beside {
            /// Apples by branch.
            #[serde(skip)]
            branches: Option<Vec<u64>> = Sum,
        }
    }

    #[test]
    fn sums_have_differences_and_the_largest_value_stays() {
        let at = |apples, longest, branches: &[u64]| Fallen {
            apples,
            longest: Some(longest),
            branches: Some(branches.to_vec()),
        };
        let later = at(7, 4, &[10, 20, 30]);
        assert_eq!(later.clone().since(&at(5, 3, &[1, 2])), at(2, 4, &[9, 18, 30]));
        assert_eq!(later.clone().since(&Fallen::default()), later);
    }

    #[test]
    fn a_key_says_type_unit_and_meaning() {
        let keys = Fallen::keys();
        let names: Vec<&str> = keys.iter().map(|key| key.name.as_str()).collect();
        assert_eq!(names, ["apples", "longest"]);
        assert_eq!(keys[0].help, "Apples that fell.");
        assert_eq!(
            (keys[1].type_name.as_str(), keys[1].unit, keys[1].adds),
            ("int | None", "cycles", Adds::Max)
        );
    }
}
