//! Random programs: 60, or as many as `STRANDLINE_THOROUGH` is worth.

use super::programs::Programs;
use super::{compare, named, MODELS};

#[test]
fn the_machine_shows_what_the_model_allows_of_random_programs() {
    let is_thorough = std::env::var_os("STRANDLINE_THOROUGH").is_some();
    let (seed, programs, moments) = if is_thorough { (2, 3000, 5000) } else { (1, 60, 1000) };
    for (name, is_coherent) in MODELS {
        let model = named(name);
        let compared = Programs::from(seed, false)
            .take(programs)
            .filter(|test| compare(&model, is_coherent, test, moments));
        let compared = compared.count();
        assert!(compared >= programs / 4, "{name}: {compared} of {programs} compared");
    }
}
