//! The parser of models.

use super::ast::{Binary, Binding, Check, Expr, ExprKind, File, Item, Question, Unary};
use super::lex::{words, Token};
use crate::{Fault, TextPlace};

/// Maximum nesting depth of expressions.
const DEEPEST: usize = 100;

const TOO_DEEP: &str = "the expression is nested too deeply: name parts of it with `let`";

/// Maximum number of operators of a statement, which bounds the depth of its tree.
const MOST_OPERATORS: usize = 400;

const KEYWORDS: [&str; 12] = [
    "let",
    "rec",
    "and",
    "include",
    "flag",
    "acyclic",
    "irreflexive",
    "empty",
    "as",
    "if",
    "then",
    "else",
];

/// Reads a file.
///
/// # Errors
/// The first mistake, and its position.
pub fn parse(text: &str) -> Result<File, Fault> {
    let mut parser = Parser {
        words: words(text)?,
        next: 0,
        depth: 0,
        operators: 0,
    };
    parser.file()
}

struct Parser {
    words: Vec<(Token, TextPlace)>,
    next: usize,
    depth: usize,
    operators: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.words[self.next].0
    }

    fn place(&self) -> TextPlace {
        self.words[self.next].1
    }

    fn bump(&mut self) -> Token {
        let token = self.peek().clone();
        self.next = (self.next + 1).min(self.words.len() - 1);
        token
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Name(name) if name == word)
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let is_next = self.is_word(word);
        if is_next {
            self.bump();
        }
        is_next
    }

    fn eat_mark(&mut self, mark: &str) -> bool {
        let is_next = matches!(self.peek(), Token::Mark(next) if *next == mark);
        if is_next {
            self.bump();
        }
        is_next
    }

    fn expected<T>(&self, what: &str) -> Result<T, Fault> {
        let found = match self.peek() {
            Token::Name(name) => format!("`{name}`"),
            Token::Quoted(text) => format!("\"{text}\""),
            Token::Mark(mark) => format!("`{mark}`"),
            Token::End => "the end".to_owned(),
        };
        Err(Fault::new(self.place(), format!("expected {what}, found {found}")))
    }

    fn expect_mark(&mut self, mark: &str) -> Result<(), Fault> {
        match self.eat_mark(mark) {
            true => Ok(()),
            false => self.expected(&format!("`{mark}`")),
        }
    }

    fn expect_word(&mut self, word: &str) -> Result<(), Fault> {
        match self.eat_word(word) {
            true => Ok(()),
            false => self.expected(&format!("`{word}`")),
        }
    }

    fn quoted(&mut self, what: &str) -> Result<String, Fault> {
        match self.peek().clone() {
            Token::Quoted(text) => {
                self.bump();
                Ok(text)
            }
            _ => self.expected(what),
        }
    }

    fn name(&mut self) -> Result<String, Fault> {
        match self.peek().clone() {
            Token::Name(name) if !KEYWORDS.contains(&name.as_str()) => {
                self.bump();
                Ok(name)
            }
            _ => self.expected("a name"),
        }
    }

    fn file(&mut self) -> Result<File, Fault> {
        let title = match self.peek() {
            Token::Quoted(_) => self.quoted("a title")?,
            _ => String::new(),
        };
        let mut items = Vec::new();
        while *self.peek() != Token::End {
            let place = self.place();
            let item = self.item()?;
            if matches!(item, Item::Include(..)) && !items.iter().all(|item| matches!(item, Item::Include(..))) {
                return Err(Fault::new(place, "`include` must come before every `let` and check"));
            }
            items.push(item);
        }
        Ok(File { title, items })
    }

    fn item(&mut self) -> Result<Item, Fault> {
        let place = self.place();
        self.operators = 0;
        if self.eat_word("include") {
            return Ok(Item::Include(
                place,
                self.quoted("the name of a file in quotation marks")?,
            ));
        }
        if self.eat_word("let") {
            let rec = self.eat_word("rec");
            let mut bindings = vec![self.binding()?];
            while self.eat_word("and") {
                bindings.push(self.binding()?);
            }
            return Ok(Item::Let(rec, bindings));
        }
        self.check().map(Item::Check)
    }

    fn binding(&mut self) -> Result<Binding, Fault> {
        let place = self.place();
        let name = self.name()?;
        self.expect_mark("=")?;
        let body = self.either()?;
        Ok(Binding { place, name, body })
    }

    fn check(&mut self) -> Result<Check, Fault> {
        let flag = self.eat_word("flag");
        let negated = self.eat_mark("~");
        let question = if self.eat_word("acyclic") {
            Question::Acyclic
        } else if self.eat_word("irreflexive") {
            Question::Irreflexive
        } else if self.eat_word("empty") {
            Question::Empty
        } else if flag || negated {
            return self.expected("`acyclic`, `irreflexive` or `empty`");
        } else {
            return self.expected("`let`, `include`, `flag`, `acyclic`, `irreflexive` or `empty`");
        };
        let body = self.either()?;
        let name = match self.eat_word("as") {
            true => self.name()?,
            false => String::new(),
        };
        Ok(Check {
            flag,
            negated,
            question,
            body,
            name,
        })
    }

    fn either(&mut self) -> Result<Expr, Fault> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Fault::new(self.place(), TOO_DEEP));
        }
        let expr = self.infix(0);
        self.depth -= 1;
        expr
    }

    /// An expression of operators that bind at least as tightly as the `level`-th, the loosest first.
    fn infix(&mut self, level: usize) -> Result<Expr, Fault> {
        const LEVELS: [&str; 5] = ["|", ";", "\\", "&", "*"];
        let Some(mark) = LEVELS.get(level) else {
            return self.prefix();
        };
        let mut parts = vec![(self.place(), self.infix(level + 1)?)];
        loop {
            let place = self.place();
            if !self.eat_mark(mark) {
                break;
            }
            self.count(place)?;
            parts.push((place, self.infix(level + 1)?));
        }
        // `;` associates to the right: models end in restrictions, which make the evaluation of earlier parts cheap.
        let folded = if *mark == ";" {
            let mut rest = parts.into_iter().rev();
            let last = rest.next();
            last.map(|last| {
                rest.fold(last, |(place, right), (before, left)| {
                    let kind = ExprKind::Binary(Binary::Then, Box::new(left), Box::new(right));
                    (before, Expr { place, kind })
                })
            })
        } else {
            parts.into_iter().reduce(|(first, left), (place, right)| {
                let (left, right) = (Box::new(left), Box::new(right));
                let kind = match *mark {
                    "|" => ExprKind::Binary(Binary::Or, left, right),
                    "\\" => ExprKind::Binary(Binary::Minus, left, right),
                    "&" => ExprKind::Binary(Binary::And, left, right),
                    _ => ExprKind::Binary(Binary::Cross, left, right),
                };
                (first, Expr { place, kind })
            })
        };
        match folded {
            Some((_, expr)) => Ok(expr),
            None => self.expected("an expression"),
        }
    }

    fn prefix(&mut self) -> Result<Expr, Fault> {
        let place = self.place();
        if self.eat_mark("~") {
            self.depth += 1;
            if self.depth > DEEPEST {
                return Err(Fault::new(place, TOO_DEEP));
            }
            let kind = ExprKind::Unary(Unary::Not, Box::new(self.prefix()?));
            self.depth -= 1;
            return Ok(Expr { place, kind });
        }
        let mut expr = self.primary()?;
        loop {
            let place = self.place();
            let operator = if self.eat_mark("+") {
                Unary::Plus
            } else if self.eat_mark("?") {
                Unary::Maybe
            } else if self.eat_mark("^-1") {
                Unary::Inverse
            } else if self.is_star() {
                self.bump();
                Unary::Star
            } else {
                return Ok(expr);
            };
            self.count(place)?;
            let kind = ExprKind::Unary(operator, Box::new(expr));
            expr = Expr { place, kind };
        }
    }

    /// Counts an operator of the statement.
    fn count(&mut self, place: TextPlace) -> Result<(), Fault> {
        self.operators += 1;
        match self.operators <= MOST_OPERATORS {
            true => Ok(()),
            false => {
                let message =
                    format!("more than {MOST_OPERATORS} operators in a statement: name parts of it with `let`");
                Err(Fault::new(place, message))
            }
        }
    }

    /// Whether the next `*` is a closure, not a product: no expression follows it.
    fn is_star(&self) -> bool {
        let after = self.words.get(self.next + 1).map(|(token, _)| token);
        let begins = match after {
            Some(Token::Name(name)) => !KEYWORDS.contains(&name.as_str()) || name == "if",
            Some(Token::Mark(mark)) => ["(", "[", "0", "_", "~"].contains(mark),
            _ => false,
        };
        *self.peek() == Token::Mark("*") && !begins
    }

    fn primary(&mut self) -> Result<Expr, Fault> {
        let place = self.place();
        let kind = if self.eat_mark("(") {
            let inner = self.either()?;
            self.expect_mark(")")?;
            return Ok(inner);
        } else if self.eat_mark("[") {
            let inner = self.either()?;
            self.expect_mark("]")?;
            ExprKind::Unary(Unary::Lift, Box::new(inner))
        } else if self.eat_mark("0") {
            ExprKind::Zero
        } else if self.eat_mark("_") {
            ExprKind::All
        } else if self.eat_word("if") {
            let variant = self.quoted("a variant in quotation marks")?;
            self.expect_word("then")?;
            let then = Box::new(self.either()?);
            self.expect_word("else")?;
            ExprKind::If(variant, then, Box::new(self.either()?))
        } else {
            let name = self.name().or_else(|_| self.expected("an expression"))?;
            match name.as_str() {
                "domain" => ExprKind::Unary(Unary::Domain, Box::new(self.argument()?)),
                "range" => ExprKind::Unary(Unary::Range, Box::new(self.argument()?)),
                _ => ExprKind::Name(name),
            }
        };
        Ok(Expr { place, kind })
    }

    fn argument(&mut self) -> Result<Expr, Fault> {
        self.expect_mark("(")?;
        let inner = self.either()?;
        self.expect_mark(")")?;
        Ok(inner)
    }
}
