//! Methods that another value, or another trait of the same value, answers.

/// Methods of a trait, each of which asks the same of another value, as in `forward! { self.inner => fn len(&self) -> usize; }`;
/// or by `as Trait` what another trait answers for this one.
#[macro_export]
macro_rules! forward {
    (as $trait:ident => $(
        fn $method:ident(&$this:ident $(, $argument:ident: $type:ty)*) $(-> $answer:ty)?;
    )+) => {
        $(
            fn $method(&$this $(, $argument: $type)*) $(-> $answer)? {
                $trait::$method($this $(, $argument)*)
            }
        )+
    };
    ($to:expr => $(
        $(#[$attribute:meta])*
        fn $method:ident(&$($receiver:ident)+ $(, $argument:ident: $type:ty)* $(,)?) $(-> $answer:ty)?;
    )+) => {
        $(
            $(#[$attribute])*
            fn $method(&$($receiver)+ $(, $argument: $type)*) $(-> $answer)? {
                $to.$method($($argument),*)
            }
        )+
    };
}
