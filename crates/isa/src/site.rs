//! Where branches and jumps stand.

/// Sites: the program counters of branches, for the branch predictor. [`sites!`](crate::sites) declares them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Site(pub u32);

/// Declares a file's branches, as `KEY_MATCHES = 0x1a2b_3c4d;`: the condition of the branch, and a unique number.
///
/// A site is the branch's address in the program. It is written down, so that moving the code does not change its
/// timing. Write 0 for a new one: the test `sites` of the workloads then prints a free number.
#[macro_export]
macro_rules! sites {
    ($($name:ident = $number:literal;)*) => {
        $(const $name: $crate::Site = $crate::Site($number);)*
    };
}
