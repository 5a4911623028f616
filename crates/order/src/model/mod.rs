//! Persistency models.

use crate::cat::{parse, Expr, ExprKind, File, Item, Program};
use crate::litmus::{Class, Test};
use crate::structure::{Wanted, HOME, HOSTS, LATE, REST};
use crate::Fault;
use include_dir::{include_dir, Dir};
use std::collections::BTreeSet;

#[cfg(test)]
mod mutation;

static MODELS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../models");

/// A persistency model, parsed and compiled.
#[derive(Clone, Debug)]
pub struct Model {
    name: String,
    title: String,
    variants: BTreeSet<String>,
    on: BTreeSet<String>,
    isa: BTreeSet<Class>,
    has_hosts: bool,
    wanted: Wanted,
    files: Vec<(String, File)>,
    program: Program,
}

impl Model {
    /// The names of the built-in models, in order.
    #[must_use]
    pub fn names() -> Vec<String> {
        let stem = |path: &std::path::Path| Some(path.to_str()?.strip_suffix(".cat")?.to_owned());
        let mut names: Vec<String> = MODELS.files().filter_map(|file| stem(file.path())).collect();
        names.sort_unstable();
        names
    }

    /// The built-in model of this name, with variants after colons: `px86:weak-locks`.
    ///
    /// # Errors
    /// There is none, or it lacks a variant.
    pub fn named(name: &str) -> Result<Model, Fault> {
        let mut parts = name.split(':');
        let base = parts.next().unwrap_or_default();
        let file = format!("{base}.cat");
        let names = Model::names();
        let text = builtin(&file).filter(|_| names.iter().any(|known| known == base));
        let text = text.ok_or_else(|| {
            let names = names.join(", ");
            Fault::of_whole(format!("there is no model `{base}`; there are {names}"))
        })?;
        let on: BTreeSet<String> = parts.map(str::to_owned).collect();
        let model = Model::parse(base, text, &on)?;
        match on.iter().find(|variant| !model.variants.contains(*variant)) {
            None => Ok(model),
            Some(unknown) => {
                let known: Vec<&str> = model.variants.iter().map(String::as_str).collect();
                let known = if known.is_empty() {
                    "none".to_owned()
                } else {
                    known.join(", ")
                };
                let message = format!("model `{base}` has no variant `{unknown}`; it has {known}");
                Err(Fault::of_whole(message))
            }
        }
    }

    /// Parses a model. Included files are built-in ones.
    ///
    /// # Errors
    /// The first mistake, and its position.
    pub fn parse(name: &str, text: &str, on: &BTreeSet<String>) -> Result<Model, Fault> {
        let mut files = Vec::new();
        let file = format!("{name}.cat");
        gather(&file, text, &mut files, 0)?;
        Model::of(name, files, on)
    }

    fn of(name: &str, files: Vec<(String, File)>, on: &BTreeSet<String>) -> Result<Model, Fault> {
        let program = Program::of(&files, on)?;
        let title = files.last().map_or(String::new(), |(_, file)| file.title.clone());
        Ok(Model {
            name: name.to_owned(),
            title,
            variants: variants(&files),
            on: on.clone(),
            isa: isa(&files),
            has_hosts: names(&files, HOSTS),
            wanted: Wanted {
                rest: names(&files, REST),
                failure: names(&files, LATE),
                owners: names(&files, HOME),
            },
            files,
            program,
        })
    }

    /// This model with exactly these variants.
    ///
    /// # Errors
    /// None, for a parsed model: variants change no type.
    pub fn with(&self, on: &BTreeSet<String>) -> Result<Model, Fault> {
        let on = on.intersection(&self.variants).cloned().collect();
        Model::of(&self.name, self.files.clone(), &on)
    }

    /// The model and each of its variants, one at a time.
    ///
    /// # Errors
    /// None, for a parsed model.
    pub fn with_variants(&self) -> Result<Vec<Model>, Fault> {
        let one = |variant: &String| self.with(&BTreeSet::from([variant.clone()]));
        let variants = self.variants.iter().map(one);
        std::iter::once(self.with(&BTreeSet::new())).chain(variants).collect()
    }

    /// The name of its file, without active variants.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.name
    }

    /// Its name, with active variants.
    #[must_use]
    pub fn name(&self) -> String {
        let on: String = self.on.iter().map(|variant| format!(":{variant}")).collect();
        format!("{}{on}", self.name)
    }

    /// Its description and source: the first line of its file.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The variants that it has.
    #[must_use]
    pub fn variants(&self) -> &BTreeSet<String> {
        &self.variants
    }

    /// Whether it defines all of the test's instructions, and hosts if and only if the test names some, and owners likewise.
    #[must_use]
    pub fn takes(&self, test: &Test) -> bool {
        let is_of_hosts = self.has_hosts == test.hosts.are_named() && self.wanted.owners == test.has_owners();
        is_of_hosts && test.classes().is_subset(&self.isa)
    }

    /// The instructions that it defines.
    #[must_use]
    pub fn isa(&self) -> &BTreeSet<Class> {
        &self.isa
    }

    /// What it asks of the events of a test.
    #[must_use]
    pub fn wanted(&self) -> Wanted {
        self.wanted
    }

    /// Whether its files name this relation, outside of inactive variants.
    #[cfg(test)]
    pub fn names_relation(&self, relation: &str) -> bool {
        let mut next: Vec<&Expr> = Vec::new();
        for item in self.files.iter().flat_map(|(_, file)| &file.items) {
            match item {
                Item::Include(..) => {}
                Item::Let(_, bindings) => next.extend(bindings.iter().map(|binding| &binding.body)),
                Item::Check(check) => next.push(&check.body),
            }
        }
        while let Some(expr) = next.pop() {
            match &expr.kind {
                ExprKind::Name(name) if name == relation => return true,
                ExprKind::If(variant, then, otherwise) => {
                    next.push(if self.on.contains(variant) { then } else { otherwise });
                }
                _ => next.extend(expr.parts()),
            }
        }
        false
    }

    /// It, compiled.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }
}

/// Maximum nesting depth of includes.
const DEEPEST: usize = 8;

/// The files of models.
fn included_files() -> Vec<&'static str> {
    let parts = MODELS.dirs().flat_map(Dir::files);
    let mut files: Vec<&str> = parts.filter_map(|file| file.path().to_str()).collect();
    files.sort_unstable();
    files
}

fn builtin(file: &str) -> Option<&'static str> {
    MODELS.get_file(file)?.contents_utf8()
}

/// The file and what it includes, in the order of definition.
fn gather(name: &str, text: &str, files: &mut Vec<(String, File)>, depth: usize) -> Result<(), Fault> {
    let file = parse(text).map_err(|fault| fault.in_file(name))?;
    for item in &file.items {
        let Item::Include(place, included) = item else {
            continue;
        };
        if files.iter().any(|(done, _)| done == included) {
            continue;
        }
        let Some(text) = builtin(included) else {
            let files = included_files().join(", ");
            let message = format!("there is no file `{included}` to include; there are {files}");
            return Err(Fault::new(*place, message).in_file(name));
        };
        if depth == DEEPEST {
            return Err(Fault::new(*place, "files include one another in a circle, or too deeply").in_file(name));
        }
        gather(included, text, files, depth + 1)?;
    }
    files.push((name.to_owned(), file));
    Ok(())
}

fn expressions<'f>(files: &'f [(String, File)], mut see: impl FnMut(&'f str, &'f Expr)) {
    for item in files.iter().flat_map(|(_, file)| &file.items) {
        match item {
            Item::Include(..) => {}
            Item::Let(_, bindings) => {
                for binding in bindings {
                    binding.body.visit(&mut |expr| see(&binding.name, expr));
                }
            }
            Item::Check(check) => check.body.visit(&mut |expr| see("", expr)),
        }
    }
}

fn variants(files: &[(String, File)]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    expressions(files, |_, expr| {
        if let ExprKind::If(variant, ..) = &expr.kind {
            found.insert(variant.clone());
        }
    });
    found
}

/// Whether they name this set or relation.
fn names(files: &[(String, File)], wanted: &str) -> bool {
    let mut found = false;
    expressions(files, |_, expr| {
        found |= matches!(&expr.kind, ExprKind::Name(name) if name == wanted)
    });
    found
}

fn isa(files: &[(String, File)]) -> BTreeSet<Class> {
    let mut found = BTreeSet::new();
    expressions(files, |within, expr| {
        if let (ExprKind::Name(name), "isa") = (&expr.kind, within) {
            found.extend(Class::all().filter(|class| class.name() == name));
        }
    });
    found
}
