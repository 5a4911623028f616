//! Suggestions for misspelt names; all of strandline's errors use this.

/// The candidate closest to `written`; `None` if none is close. Case is ignored. A prefix of a name is close, and so is
/// the last part of a dotted name. Otherwise at most a third of the name may be wrong.
#[must_use]
pub fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let written = written.to_lowercase();
    let ranked = candidates
        .into_iter()
        .filter_map(|name| Some((rank(&written, &name.to_lowercase())?, name)));
    ranked.min_by_key(|(rank, _)| *rank).map(|(_, name)| name)
}

/// The question that suggests [`nearest`], to append to an error; empty if no name is close.
#[must_use]
pub fn did_you_mean<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(written, candidates).map_or_else(String::new, |name| format!("; did you mean {name}?"))
}

/// The distance of a name from what was written: the number of edits, and the missing characters of a prefix. Whole
/// names rank before last parts.
fn rank(written: &str, name: &str) -> Option<(usize, usize, bool)> {
    let last = name.rsplit('.').next().filter(|last| *last != name);
    let whole = distance(written, name).map(|(edits, missing)| (edits, missing, false));
    let part = last
        .and_then(|last| distance(written, last))
        .map(|(edits, missing)| (edits, missing, true));
    whole.into_iter().chain(part).min()
}

fn distance(written: &str, name: &str) -> Option<(usize, usize)> {
    let edits = strsim::osa_distance(written, name);
    let length = written.chars().count().max(name.chars().count());
    let begins = written.chars().count() > 1 && name.starts_with(written);
    match (edits, begins) {
        (0 | 1, _) if edits * 3 <= length + 2 => Some((edits, 0)),
        (_, true) => Some((1, edits)),
        _ => (edits * 3 <= length + 2).then_some((edits, 0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: &[&str] = &[
        "x86",
        "x86-pcommit",
        "eadr",
        "cosplay",
        "asap-ep",
        "asap-rp",
        "core.rob_entries",
        "cores",
    ];

    fn near(written: &str) -> Option<&'static str> {
        nearest(written, NAMES.iter().copied())
    }

    #[test]
    fn what_is_mistyped_is_found() {
        for (written, meant) in [
            ("x68", "x86"),
            ("X86", "x86"),
            ("x86-commit", "x86-pcommit"),
            ("cosply", "cosplay"),
            ("ASAP", "asap-ep"),
            ("aspa-rp", "asap-rp"),
        ] {
            assert_eq!(near(written), Some(meant), "{written}");
        }
    }

    #[test]
    fn what_begins_a_name_or_its_last_part_is_found() {
        for written in ["core.rob", "core.rob_entires", "rob", "rob_entries"] {
            assert_eq!(near(written), Some("core.rob_entries"), "{written}");
        }
        assert_eq!(near("cor"), Some("cores"));
    }

    #[test]
    fn what_is_far_from_all_is_not_guessed() {
        for written in ["", "z", "hashmap", "unordered"] {
            assert_eq!(near(written), None, "{written}");
        }
    }
}
