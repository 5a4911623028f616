//! Counts in cells.

/// Declares counts that a core keeps in cells, and returns to together: one that is added is none that a roll-back forgets.
macro_rules! cells {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[$attribute:meta])* $field:ident,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Default)]
        pub struct $name {
            $($(#[$attribute])* pub $field: std::cell::Cell<u64>,)+
        }

        impl $name {
            /// All of them, in this order.
            pub fn all(&self) -> [&std::cell::Cell<u64>; [$(stringify!($field)),+].len()] {
                [$(&self.$field),+]
            }

            /// Returns to earlier counts.
            pub fn restore(&self, saved: &$name) {
                for (to, from) in self.all().into_iter().zip(saved.all()) {
                    to.set(from.get());
                }
            }
        }
    };
}
pub(crate) use cells;
