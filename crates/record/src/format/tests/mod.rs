//! Written recordings are read back, and damaged ones are refused.

mod damage;
mod random;
mod round;
