//! A scanner over characters, with positions and comments.

use crate::{Fault, TextPlace};

/// Maximum number of characters of a test or a model.
const MOST: usize = 200_000;

/// The remaining text.
#[derive(Clone)]
pub struct Text<'t> {
    rest: &'t str,
    place: TextPlace,
}

impl<'t> Text<'t> {
    /// A text from its start.
    ///
    /// # Errors
    /// It is too long for a test or a model.
    pub fn new(text: &'t str) -> Result<Text<'t>, Fault> {
        let place = TextPlace { line: 1, column: 1 };
        match text.len() <= MOST {
            true => Ok(Text { rest: text, place }),
            false => Err(Fault::of_whole(format!(
                "longer than {MOST} bytes: not a test or a model"
            ))),
        }
    }

    /// Where the next character stands.
    pub fn place(&self) -> TextPlace {
        self.place
    }

    /// A mistake at the next character.
    pub fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::new(self.place, message)
    }

    /// What is left.
    pub fn rest(&self) -> &'t str {
        self.rest
    }

    /// The next character.
    pub fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    /// Takes the next character.
    pub fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.rest = &self.rest[next.len_utf8()..];
        match next {
            '\n' => {
                self.place.line += 1;
                self.place.column = 1;
            }
            _ => self.place.column += 1,
        }
        Some(next)
    }

    /// Consumes this text if it is next.
    pub fn eat(&mut self, text: &str) -> bool {
        let is_next = self.rest.starts_with(text);
        if is_next {
            text.chars().for_each(|_| _ = self.bump());
        }
        is_next
    }

    /// Consumes characters as long as `wanted` accepts them.
    pub fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'t str {
        let start = self.rest;
        while self.peek().is_some_and(&wanted) {
            self.bump();
        }
        &start[..start.len() - self.rest.len()]
    }

    /// Skips blanks and comments, which may nest.
    ///
    /// # Errors
    /// A comment has no end.
    pub fn skip_blanks(&mut self) -> Result<(), Fault> {
        loop {
            self.take_while(char::is_whitespace);
            if !self.rest.starts_with("(*") {
                return Ok(());
            }
            self.skip_comment()?;
        }
    }

    /// Skips the next comment.
    ///
    /// # Errors
    /// It has no end.
    pub fn skip_comment(&mut self) -> Result<(), Fault> {
        let start = self.place;
        let mut depth = 0;
        loop {
            if self.eat("(*") {
                depth += 1;
            } else if self.eat("*)") {
                depth -= 1;
            } else if self.bump().is_none() {
                return Err(Fault::new(start, "this comment has no end: close it with *)"));
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Parses the next text in quotation marks.
    ///
    /// # Errors
    /// It does not end in its line.
    pub fn quoted(&mut self) -> Result<&'t str, Fault> {
        let start = self.place;
        self.bump();
        let text = self.take_while(|c| c != '"' && c != '\n');
        match self.eat("\"") {
            true => Ok(text),
            false => Err(Fault::new(start, "this text has no closing quotation mark in its line")),
        }
    }
}
