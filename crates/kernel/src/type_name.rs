//! Names of types, for tables of keys that other languages read.

use crate::Cycles;
use std::collections::BTreeMap;

/// A type and its Python name.
pub trait TypeName {
    /// As in `int | None`.
    fn type_name() -> String;
}

macro_rules! named {
    ($($type:ty => $name:literal,)*) => {
        $(impl TypeName for $type {
            fn type_name() -> String {
                $name.to_owned()
            }
        })*
    };
}

named! {
    bool => "bool",
    u32 => "int",
    u64 => "int",
    f64 => "float",
    Cycles => "int",
    String => "str",
}

impl<T: TypeName> TypeName for Option<T> {
    fn type_name() -> String {
        format!("{} | None", T::type_name())
    }
}

impl<T> TypeName for BTreeMap<String, T> {
    fn type_name() -> String {
        "dict".to_owned()
    }
}

impl<T: TypeName> TypeName for Vec<T> {
    fn type_name() -> String {
        format!("list[{}]", T::type_name())
    }
}
