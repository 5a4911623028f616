//! The words of a model.

use crate::text::Text;
use crate::{Fault, TextPlace};

/// A word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A name or a keyword.
    Name(String),
    /// A text in quotation marks.
    Quoted(String),
    /// A mark.
    Mark(&'static str),
    /// The end.
    End,
}

const MARKS: [&str; 17] = [
    "^-1", "|", ";", "\\", "&", "*", "~", "+", "?", "[", "]", "(", ")", "=", "0", "_", ",",
];

/// The tokens of a text, each with its position; the last one is the end.
///
/// # Errors
/// A character that is not part of the language.
pub fn words(text: &str) -> Result<Vec<(Token, TextPlace)>, Fault> {
    let mut text = Text::new(text)?;
    let mut words = Vec::new();
    loop {
        text.skip_blanks()?;
        let place = text.place();
        let token = match text.peek() {
            None => Token::End,
            Some('"') => Token::Quoted(text.quoted()?.to_owned()),
            Some(c) if c.is_ascii_alphabetic() => Token::Name(text.take_while(is_name).to_owned()),
            Some(c) => {
                let mark = MARKS.into_iter().find(|mark| text.eat(mark));
                Token::Mark(mark.ok_or_else(|| Fault::new(place, format!("a `{c}` has no meaning here: take it out")))?)
            }
        };
        let end = token == Token::End;
        words.push((token, place));
        if end {
            return Ok(words);
        }
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_')
}
