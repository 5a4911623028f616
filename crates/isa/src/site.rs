//! Where branches and jumps stand.

/// Where in the program a branch stands: the branch predictor's program counter. [`sites!`](crate::sites) declares them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Site(pub u32);

/// Declares a file's branches, as `KEY_MATCHES = 0x1a2b_3c4d;`: what the branch decides, and a number of its own.
///
/// A site stands for the branch's address in the program. It is written down, so that moving the code does not move its timing.
/// Give a new one 0: the test `sites` of the workloads then says which number is free.
#[macro_export]
macro_rules! sites {
    ($($name:ident = $number:literal;)*) => {
        $(const $name: $crate::Site = $crate::Site($number);)*
    };
}
