//! What is written is read again, and what is damaged is refused.

mod damage;
mod random;
mod round;
