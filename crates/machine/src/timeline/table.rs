//! Rows, and how they are serialised: by columns, which are far shorter than as many maps.

use serde::ser::{Serialize, SerializeMap, Serializer};

/// Rows of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table<R>(pub Vec<R>);

impl<R> Default for Table<R> {
    fn default() -> Self {
        Table(Vec::new())
    }
}

/// A row: the values of the columns.
pub trait Row: Sized {
    /// Writes each column under its name.
    ///
    /// # Errors
    /// Those of `map`.
    fn columns<M: SerializeMap>(rows: &[Self], map: &mut M) -> Result<(), M::Error>;
}

impl<R: Row> Serialize for Table<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        R::columns(&self.0, &mut map)?;
        map.end()
    }
}

/// The values of one column.
pub(super) struct Column<'r, R, T>(pub &'r [R], pub fn(&R) -> &T);

impl<R, T: Serialize> Serialize for Column<'_, R, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(self.1))
    }
}

/// Declares a row.
macro_rules! row {
    ($(#[$doc:meta])* pub struct $name:ident { $($(#[$of:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name {
            $($(#[$of])* pub $field: $type,)*
        }

        impl $crate::timeline::table::Row for $name {
            fn columns<M: serde::ser::SerializeMap>(rows: &[Self], map: &mut M) -> Result<(), M::Error> {
                $(map.serialize_entry(
                    stringify!($field),
                    &$crate::timeline::table::Column(rows, |row: &Self| &row.$field),
                )?;)*
                Ok(())
            }
        }
    };
}

pub(super) use row;
