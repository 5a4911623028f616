//! What is damaged is refused.
