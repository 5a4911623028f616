//! Keys of a run's record. Each is declared once, with type, unit, aggregation and meaning.

use serde::Serialize;

/// How values of a key are aggregated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Adds {
    /// It says what ran.
    Given,
    /// A count: parts of the machine add up, and the difference of two counts covers the time between them.
    Sum,
    /// The largest value, over the whole run.
    Max,
    /// Computed after the run.
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
    /// The unit; empty if it has none.
    pub unit: &'static str,
    /// How its value comes about.
    pub adds: Adds,
    /// What it means.
    pub help: String,
}

/// Counts that can be subtracted: a later one minus an earlier one.
pub trait Counts {
    /// The counts since `earlier`. Values that do not add up are kept.
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

/// Element by element; elements without an earlier value are kept.
impl Counts for Vec<u64> {
    fn since(mut self, earlier: &Vec<u64>) -> Vec<u64> {
        for (later, earlier) in self.iter_mut().zip(earlier) {
            *later -= earlier;
        }
        self
    }
}

/// Declares a part of a record: a structure whose fields are keys, each with [`Adds`] and unit, and the list `keys()`.
/// Fields under `beside` are not keys; their attributes control how serde flattens them.
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
            /// The keys of this part, without those of nested parts.
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

/// Declares a part of a record as [`keys!`] does, with subtraction: [`Counts`].
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
