//! What may be asked for, declared once: a request's keys, with type, default and meaning.

use serde::Serialize;
use serde_json::Value;

/// A key of a request.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its type, in Python's words.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Whether it must be given.
    pub required: bool,
    /// Its value where the user says nothing; null where it must be given.
    pub default: Value,
    /// What it means, with its unit.
    pub help: String,
}

/// Declares a request: the keys that must be given, then the others with their defaults.
///
/// It is read from a map that has no other keys. `fields` lists them, `new` takes those that must be given.
#[macro_export]
macro_rules! request {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[doc = $doc:literal])+ $field:ident: $type:ty,)*
        }
        defaults {
            $($(#[doc = $help:literal])+ $optional:ident: $kind:ty = $default:expr,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[doc = $doc])+ pub $field: $type,)*
            $($(#[doc = $help])+ pub $optional: $kind,)*
        }

        impl $name {
            /// Asks for these, all else by default.
            #[must_use]
            pub fn new($($field: impl Into<$type>),*) -> $name {
                $name {
                    $($field: $field.into(),)*
                    $($optional: $default,)*
                }
            }

            /// All keys.
            #[must_use]
            pub fn fields() -> Vec<$crate::Field> {
                vec![
                    $($crate::Field {
                        name: stringify!($field),
                        type_name: <$type as strandline_kernel::TypeName>::type_name(),
                        required: true,
                        default: serde_json::Value::Null,
                        help: concat!($($doc),+).trim().to_owned(),
                    },)*
                    $($crate::Field {
                        name: stringify!($optional),
                        type_name: <$kind as strandline_kernel::TypeName>::type_name(),
                        required: false,
                        default: {
                            let default: $kind = $default;
                            serde_json::json!(default)
                        },
                        help: concat!($($help),+).trim().to_owned(),
                    },)*
                ]
            }
        }
    };
}
