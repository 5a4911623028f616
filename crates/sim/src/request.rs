//! Requests, declared once: keys with type, default and meaning.

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
    /// The default value; null if the key is required.
    pub default: Value,
    /// The meaning, with the unit.
    pub help: String,
}

/// Declares a request: the required keys, then the others with their defaults.
///
/// It is read from a map without other keys. `fields` lists the keys; `new` takes the required ones.
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
            /// A request with these values and defaults for the others.
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
