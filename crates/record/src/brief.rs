//! Short forms of the names of functions.

/// Characters of a name that is shown whole.
const WHOLE: usize = 48;

/// The name of a C++ or Rust function, without the arguments of templates and of functions if it is long:
/// `std::vector<..>::push_back(..)`.
#[must_use]
pub fn brief(name: &str) -> String {
    if name.chars().count() <= WHOLE {
        return name.to_owned();
    }
    let (mut out, mut rest) = (String::new(), name);
    while let Some(first) = rest.chars().next() {
        let whole = verbatim(rest);
        let taken = match (whole, first) {
            (1.., _) => {
                out.push_str(&rest[..whole]);
                whole
            }
            (_, '<' | '(') => {
                out.push_str(if first == '<' { "<..>" } else { "(..)" });
                group(rest)
            }
            _ => {
                out.push(first);
                first.len_utf8()
            }
        };
        rest = &rest[taken..];
    }
    out
}

/// Bytes at the start that are no arguments, though they begin as such: the name of an operator, `()` and
/// `(anonymous namespace)`.
fn verbatim(text: &str) -> usize {
    const WORDS: [&str; 3] = ["(anonymous namespace)", "()", "{lambda"];
    if let Some(word) = WORDS.iter().find(|word| text.starts_with(**word)) {
        return word.len();
    }
    let Some(after) = text.strip_prefix("operator") else {
        return 0;
    };
    let signs = match after.starts_with("()") {
        true => 2,
        false => after.len() - after.trim_start_matches(['<', '>', '=', '-', '*', '+', '!']).len(),
    };
    "operator".len() + signs
}

/// Bytes of the group that begins here, with its closing bracket; all if it does not close.
fn group(text: &str) -> usize {
    let mut depth = 0_u32;
    for (at, letter) in text.char_indices() {
        match letter {
            '<' | '(' => depth += 1,
            // An arrow closes nothing.
            '>' if text[..at].ends_with('-') => {}
            '>' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + letter.len_utf8();
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_name_is_kept() {
        assert_eq!(
            brief("std::vector<int>::push_back(int)"),
            "std::vector<int>::push_back(int)"
        );
    }

    #[test]
    fn a_long_name_loses_its_arguments() {
        let long = "std::_Rb_tree<int, std::pair<int const, std::string>, std::less<int> >::_M_insert_(int, std::less<int> const&)";
        assert_eq!(brief(long), "std::_Rb_tree<..>::_M_insert_(..)");
        let rust = "<alloc::vec::Vec<T,A> as core::ops::index::Index<I>>::index::h0123456789abcdef";
        assert_eq!(brief(rust), "<..>::index::h0123456789abcdef");
    }

    #[test]
    fn operators_and_lambdas_keep_their_names() {
        let name = "std::ostream& operator<< <std::char_traits<char> >(std::ostream&, char const*)";
        assert_eq!(brief(name), "std::ostream& operator<< <..>(..)");
        let called = "main::{lambda(std::vector<int, std::allocator<int> >&)#1}::operator()(std::vector<int>&) const";
        assert_eq!(brief(called), "main::{lambda(..)#1}::operator()(..) const");
        let inner = "(anonymous namespace)::table<unsigned long, unsigned long>::grow() const volatile";
        assert_eq!(brief(inner), "(anonymous namespace)::table<..>::grow() const volatile");
    }

    #[test]
    fn brackets_that_do_not_close_end_the_name() {
        assert_eq!(brief(&"<".repeat(60)), "<..>");
        assert_eq!(
            brief(&format!("{}é(", "x".repeat(60))),
            format!("{}é(..)", "x".repeat(60))
        );
    }
}
