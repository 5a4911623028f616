//! Compiles a model to steps over numbered sets and relations.

use super::ast::{Binary, Binding, Check, Expr, ExprKind, File, Item, Question, Unary};
use crate::litmus::Class;
use crate::structure::{KNOWN, RELATIONS, SETS};
use crate::Fault;
use std::collections::{BTreeMap, BTreeSet};

/// An expression whose value is a set.
#[derive(Clone, Debug)]
pub enum SetExpr {
    /// A numbered set.
    Slot(usize),
    /// No event.
    Empty,
    /// All events.
    All,
    /// In either.
    Or(Box<SetExpr>, Box<SetExpr>),
    /// In both.
    And(Box<SetExpr>, Box<SetExpr>),
    /// In the first only.
    Minus(Box<SetExpr>, Box<SetExpr>),
    /// All others.
    Not(Box<SetExpr>),
    /// What is related to something.
    Domain(Box<RelExpr>),
    /// What something is related to.
    Range(Box<RelExpr>),
}

/// An expression whose value is a relation.
#[derive(Clone, Debug)]
pub enum RelExpr {
    /// A numbered relation.
    Slot(usize),
    /// No pair.
    Empty,
    /// In either.
    Or(Box<RelExpr>, Box<RelExpr>),
    /// In both.
    And(Box<RelExpr>, Box<RelExpr>),
    /// In the first only.
    Minus(Box<RelExpr>, Box<RelExpr>),
    /// One after the other.
    Then(Box<RelExpr>, Box<RelExpr>),
    /// All pairs from one set to the other.
    Cross(SetExpr, SetExpr),
    /// All other pairs.
    Not(Box<RelExpr>),
    /// The transitive closure.
    Plus(Box<RelExpr>),
    /// The reflexive and transitive closure.
    Star(Box<RelExpr>),
    /// With the identity.
    Maybe(Box<RelExpr>),
    /// The other way round.
    Inverse(Box<RelExpr>),
    /// The identity on a set.
    Lift(SetExpr),
}

/// What a check is about.
#[derive(Clone, Debug)]
pub enum Subject {
    /// No cycle in the relation.
    Acyclic(RelExpr),
    /// No event related to itself.
    Irreflexive(RelExpr),
    /// No pair.
    NoPair(RelExpr),
    /// No event.
    NoEvent(SetExpr),
}

/// A step.
#[derive(Clone, Debug)]
pub enum CatStep {
    /// The next set.
    Set(SetExpr),
    /// The next relation.
    Relation(RelExpr),
    /// Mutually recursive relations, which get the next numbers.
    Fixpoint(Vec<RelExpr>),
    /// A check: whether it is a flag, whether it is negated, and its property.
    Check {
        /// Whether it marks an execution instead of refusing it.
        flag: bool,
        /// Whether it asks the opposite.
        negated: bool,
        /// What it asks.
        subject: Subject,
    },
}

/// A model, compiled.
#[derive(Clone, Debug)]
pub struct Program {
    /// Steps that do not depend on the candidate, and so are computed once.
    pub known: Vec<CatStep>,
    /// The others.
    pub rest: Vec<CatStep>,
    /// The number of the relation `pmo`.
    pub pmo: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Set,
    Relation,
}

impl Type {
    fn name(self) -> &'static str {
        match self {
            Type::Set => "a set",
            Type::Relation => "a relation",
        }
    }
}

/// The meaning of a name: its number, and whether it depends on the candidate.
#[derive(Clone, Copy)]
struct Meaning {
    kind: Type,
    slot: usize,
    known: bool,
}

/// Either kind of expression.
enum Typed {
    Set(SetExpr),
    Relation(RelExpr),
}

struct Compiler<'v> {
    names: BTreeMap<String, Meaning>,
    variants: &'v BTreeSet<String>,
    sets: usize,
    relations: usize,
}

impl Program {
    /// Compiles files, each after those that it includes, with these variants.
    ///
    /// # Errors
    /// The first mistake, and its position.
    pub fn of(files: &[(String, File)], variants: &BTreeSet<String>) -> Result<Program, Fault> {
        let mut compiler = Compiler::new(variants);
        let mut steps = Vec::new();
        for (name, file) in files {
            for item in &file.items {
                compiler.item(item, &mut steps).map_err(|fault| fault.in_file(name))?;
            }
        }
        let pmo = match compiler.names.get("pmo") {
            Some(Meaning {
                kind: Type::Relation,
                slot,
                ..
            }) => *slot,
            _ => {
                let fault = Fault::of_whole("a model must define the relation `pmo`, its persist memory order");
                return Err(match files.last() {
                    Some((name, _)) => fault.in_file(name),
                    None => fault,
                });
            }
        };
        Ok(compiler.arranged(steps, pmo))
    }
}

impl<'v> Compiler<'v> {
    fn new(variants: &'v BTreeSet<String>) -> Compiler<'v> {
        let mut names = BTreeMap::new();
        let sets = SETS.into_iter().chain(Class::all().map(Class::name));
        for (slot, name) in sets.enumerate() {
            let kind = Type::Set;
            names.insert(
                name.to_owned(),
                Meaning {
                    kind,
                    slot,
                    known: true,
                },
            );
        }
        let sets = names.len();
        for (slot, name) in RELATIONS.into_iter().enumerate() {
            let (kind, known) = (Type::Relation, slot < KNOWN);
            names.insert(name.to_owned(), Meaning { kind, slot, known });
        }
        Compiler {
            names,
            variants,
            sets,
            relations: RELATIONS.len(),
        }
    }

    /// Whether an expression is independent of the candidate.
    fn is_known(&self, expr: &Expr) -> bool {
        let mut known = true;
        expr.visit(&mut |part| {
            if let ExprKind::Name(name) = &part.kind {
                known &= self.names.get(name).is_none_or(|meaning| meaning.known);
            }
        });
        known
    }

    fn item(&mut self, item: &Item, steps: &mut Vec<(bool, CatStep)>) -> Result<(), Fault> {
        match item {
            Item::Include(..) => Ok(()),
            Item::Let(false, bindings) => self.bindings(bindings, steps),
            Item::Let(true, bindings) => self.fixpoint(bindings, steps),
            Item::Check(check) => {
                // A check is evaluated for each candidate, even if it is constant.
                let step = self.check(check)?;
                steps.push((false, step));
                Ok(())
            }
        }
    }

    fn bindings(&mut self, bindings: &[Binding], steps: &mut Vec<(bool, CatStep)>) -> Result<(), Fault> {
        let mut defined = Vec::new();
        refuse_twice(bindings)?;
        for binding in bindings {
            let known = self.is_known(&binding.body);
            let (kind, slot, step) = match self.typed(&binding.body, None)? {
                Typed::Set(set) => {
                    self.sets += 1;
                    (Type::Set, self.sets - 1, CatStep::Set(set))
                }
                Typed::Relation(relation) => {
                    self.relations += 1;
                    (Type::Relation, self.relations - 1, CatStep::Relation(relation))
                }
            };
            steps.push((known, step));
            defined.push((binding.name.clone(), Meaning { kind, slot, known }));
        }
        self.names.extend(defined);
        Ok(())
    }

    fn fixpoint(&mut self, bindings: &[Binding], steps: &mut Vec<(bool, CatStep)>) -> Result<(), Fault> {
        refuse_twice(bindings)?;
        let known = bindings.iter().all(|binding| self.is_known(&binding.body));
        for binding in bindings {
            refuse_falling(&binding.body, bindings)?;
            let kind = Type::Relation;
            let slot = self.relations;
            self.relations += 1;
            self.names.insert(binding.name.clone(), Meaning { kind, slot, known });
        }
        let bodies = bindings.iter().map(|binding| self.relation(&binding.body));
        let bodies = bodies.collect::<Result<_, _>>()?;
        steps.push((known, CatStep::Fixpoint(bodies)));
        Ok(())
    }

    fn check(&mut self, check: &Check) -> Result<CatStep, Fault> {
        let subject = match check.question {
            Question::Acyclic => Subject::Acyclic(self.relation(&check.body)?),
            Question::Irreflexive => Subject::Irreflexive(self.relation(&check.body)?),
            Question::Empty => match self.typed(&check.body, None)? {
                Typed::Set(set) => Subject::NoEvent(set),
                Typed::Relation(relation) => Subject::NoPair(relation),
            },
        };
        Ok(CatStep::Check {
            flag: check.flag,
            negated: check.negated,
            subject,
        })
    }

    fn set(&self, expr: &Expr) -> Result<SetExpr, Fault> {
        match self.typed(expr, Some(Type::Set))? {
            Typed::Set(set) => Ok(set),
            Typed::Relation(_) => Err(wrong(expr, Type::Set)),
        }
    }

    fn relation(&self, expr: &Expr) -> Result<RelExpr, Fault> {
        match self.typed(expr, Some(Type::Relation))? {
            Typed::Relation(relation) => Ok(relation),
            Typed::Set(_) => Err(wrong(expr, Type::Relation)),
        }
    }

    fn boxed(&self, expr: &Expr) -> Result<Box<RelExpr>, Fault> {
        self.relation(expr).map(Box::new)
    }

    /// The type of an expression, if known: `0` has either type.
    fn type_of(&self, expr: &Expr) -> Option<Type> {
        match &expr.kind {
            ExprKind::Name(name) => self.names.get(name).map(|meaning| meaning.kind),
            ExprKind::Zero => None,
            ExprKind::All | ExprKind::Unary(Unary::Domain, _) | ExprKind::Unary(Unary::Range, _) => Some(Type::Set),
            ExprKind::Binary(Binary::Or, a, b)
            | ExprKind::Binary(Binary::And, a, b)
            | ExprKind::Binary(Binary::Minus, a, b)
            | ExprKind::If(_, a, b) => self.type_of(a).or_else(|| self.type_of(b)),
            ExprKind::Unary(Unary::Not, a) => self.type_of(a),
            _ => Some(Type::Relation),
        }
    }

    fn typed(&self, expr: &Expr, wanted: Option<Type>) -> Result<Typed, Fault> {
        let kind = self.type_of(expr).or(wanted).unwrap_or(Type::Relation);
        match (kind, &expr.kind) {
            (_, ExprKind::If(variant, then, otherwise)) => {
                // Both branches are checked: a mistake counts under any variant.
                let (then, otherwise) = (self.typed(then, Some(kind))?, self.typed(otherwise, Some(kind))?);
                match (&then, &otherwise) {
                    (Typed::Set(_), Typed::Set(_)) | (Typed::Relation(_), Typed::Relation(_)) => {}
                    _ => {
                        return Err(Fault::new(
                            expr.place,
                            "`then` and `else` must both be sets, or both relations",
                        ))
                    }
                }
                Ok(if self.variants.contains(variant) {
                    then
                } else {
                    otherwise
                })
            }
            (Type::Set, _) => self.set_expr(expr).map(Typed::Set),
            (Type::Relation, _) => self.relation_expr(expr).map(Typed::Relation),
        }
    }

    fn slot(&self, expr: &Expr, name: &str, wanted: Type) -> Result<usize, Fault> {
        match self.names.get(name) {
            Some(meaning) if meaning.kind == wanted => Ok(meaning.slot),
            Some(_) => Err(wrong(expr, wanted)),
            None => Err(Fault::new(
                expr.place,
                format!("`{name}` is not defined before here: define it with `let`, or include the file that does"),
            )),
        }
    }

    fn set_expr(&self, expr: &Expr) -> Result<SetExpr, Fault> {
        let both = |a: &Expr, b: &Expr| Ok::<_, Fault>((Box::new(self.set(a)?), Box::new(self.set(b)?)));
        Ok(match &expr.kind {
            ExprKind::Name(name) => SetExpr::Slot(self.slot(expr, name, Type::Set)?),
            ExprKind::Zero => SetExpr::Empty,
            ExprKind::All => SetExpr::All,
            ExprKind::Binary(Binary::Or, a, b) => both(a, b).map(|(a, b)| SetExpr::Or(a, b))?,
            ExprKind::Binary(Binary::And, a, b) => both(a, b).map(|(a, b)| SetExpr::And(a, b))?,
            ExprKind::Binary(Binary::Minus, a, b) => both(a, b).map(|(a, b)| SetExpr::Minus(a, b))?,
            ExprKind::Unary(Unary::Not, a) => SetExpr::Not(Box::new(self.set(a)?)),
            ExprKind::Unary(Unary::Domain, a) => SetExpr::Domain(self.boxed(a)?),
            ExprKind::Unary(Unary::Range, a) => SetExpr::Range(self.boxed(a)?),
            _ => return Err(wrong(expr, Type::Set)),
        })
    }

    fn relation_expr(&self, expr: &Expr) -> Result<RelExpr, Fault> {
        let both = |a: &Expr, b: &Expr| Ok::<_, Fault>((self.boxed(a)?, self.boxed(b)?));
        Ok(match &expr.kind {
            ExprKind::Name(name) => RelExpr::Slot(self.slot(expr, name, Type::Relation)?),
            ExprKind::Zero => RelExpr::Empty,
            ExprKind::Binary(Binary::Or, a, b) => both(a, b).map(|(a, b)| RelExpr::Or(a, b))?,
            ExprKind::Binary(Binary::And, a, b) => both(a, b).map(|(a, b)| RelExpr::And(a, b))?,
            ExprKind::Binary(Binary::Minus, a, b) => both(a, b).map(|(a, b)| RelExpr::Minus(a, b))?,
            ExprKind::Binary(Binary::Then, a, b) => both(a, b).map(|(a, b)| RelExpr::Then(a, b))?,
            ExprKind::Binary(Binary::Cross, a, b) => RelExpr::Cross(self.set(a)?, self.set(b)?),
            ExprKind::Unary(Unary::Not, a) => RelExpr::Not(self.boxed(a)?),
            ExprKind::Unary(Unary::Plus, a) => RelExpr::Plus(self.boxed(a)?),
            ExprKind::Unary(Unary::Star, a) => RelExpr::Star(self.boxed(a)?),
            ExprKind::Unary(Unary::Maybe, a) => RelExpr::Maybe(self.boxed(a)?),
            ExprKind::Unary(Unary::Inverse, a) => RelExpr::Inverse(self.boxed(a)?),
            ExprKind::Unary(Unary::Lift, a) => RelExpr::Lift(self.set(a)?),
            _ => return Err(wrong(expr, Type::Relation)),
        })
    }

    /// Separates steps that are independent of the candidate, and numbers all in the order of their computation.
    fn arranged(self, steps: Vec<(bool, CatStep)>, pmo: usize) -> Program {
        let order = Order::of(&steps, self.sets, self.relations);
        let mut known = Vec::new();
        let mut rest = Vec::new();
        for (is_known, mut step) in steps {
            order.renumber(&mut step);
            if is_known { &mut known } else { &mut rest }.push(step);
        }
        Program {
            known,
            rest,
            pmo: order.relations[pmo],
        }
    }
}

/// New numbers: constant steps first, then steps that depend on the candidate, which start with `rf`, `co`, `fr` and `late`.
struct Order {
    sets: Vec<usize>,
    relations: Vec<usize>,
}

impl Order {
    fn of(steps: &[(bool, CatStep)], sets: usize, relations: usize) -> Order {
        let own_sets = SETS.len() + Class::all().count();
        let mut order = Order {
            sets: (0..sets).collect(),
            relations: (0..relations).collect(),
        };
        let (mut next_set, mut next_relation) = (own_sets, KNOWN);
        for pass in [true, false] {
            if !pass {
                (KNOWN..RELATIONS.len()).for_each(|slot| {
                    order.relations[slot] = next_relation;
                    next_relation += 1;
                });
            }
            let (mut set, mut relation) = (own_sets, RELATIONS.len());
            for (known, step) in steps {
                match step {
                    CatStep::Set(_) => {
                        if *known == pass {
                            order.sets[set] = next_set;
                            next_set += 1;
                        }
                        set += 1;
                    }
                    CatStep::Relation(_) | CatStep::Fixpoint(_) => {
                        let count = if let CatStep::Fixpoint(bodies) = step {
                            bodies.len()
                        } else {
                            1
                        };
                        for slot in relation..relation + count {
                            if *known == pass {
                                order.relations[slot] = next_relation;
                                next_relation += 1;
                            }
                        }
                        relation += count;
                    }
                    CatStep::Check { .. } => {}
                }
            }
        }
        order
    }

    fn renumber(&self, step: &mut CatStep) {
        match step {
            CatStep::Set(set) => self.set(set),
            CatStep::Relation(relation) => self.relation(relation),
            CatStep::Fixpoint(bodies) => bodies.iter_mut().for_each(|body| self.relation(body)),
            CatStep::Check { subject, .. } => match subject {
                Subject::Acyclic(r) | Subject::Irreflexive(r) | Subject::NoPair(r) => self.relation(r),
                Subject::NoEvent(s) => self.set(s),
            },
        }
    }

    fn set(&self, expr: &mut SetExpr) {
        match expr {
            SetExpr::Slot(slot) => *slot = self.sets[*slot],
            SetExpr::Empty | SetExpr::All => {}
            SetExpr::Or(a, b) | SetExpr::And(a, b) | SetExpr::Minus(a, b) => {
                self.set(a);
                self.set(b);
            }
            SetExpr::Not(a) => self.set(a),
            SetExpr::Domain(a) | SetExpr::Range(a) => self.relation(a),
        }
    }

    fn relation(&self, expr: &mut RelExpr) {
        match expr {
            RelExpr::Slot(slot) => *slot = self.relations[*slot],
            RelExpr::Empty => {}
            RelExpr::Or(a, b) | RelExpr::And(a, b) | RelExpr::Minus(a, b) | RelExpr::Then(a, b) => {
                self.relation(a);
                self.relation(b);
            }
            RelExpr::Cross(a, b) => {
                self.set(a);
                self.set(b);
            }
            RelExpr::Not(a) | RelExpr::Plus(a) | RelExpr::Star(a) | RelExpr::Maybe(a) | RelExpr::Inverse(a) => {
                self.relation(a);
            }
            RelExpr::Lift(a) => self.set(a),
        }
    }
}

fn wrong(expr: &Expr, wanted: Type) -> Fault {
    let lift = match wanted {
        Type::Relation => " (`[s]` makes a relation of a set)",
        Type::Set => " (`domain(r)` and `range(r)` make a set of a relation)",
    };
    Fault::new(expr.place, format!("{} is wanted here{lift}", wanted.name()))
}

fn refuse_twice(bindings: &[Binding]) -> Result<(), Fault> {
    for (index, binding) in bindings.iter().enumerate() {
        if bindings[..index].iter().any(|other| other.name == binding.name) {
            let message = format!("`{}` is defined twice in one `let`", binding.name);
            return Err(Fault::new(binding.place, message));
        }
    }
    Ok(())
}

/// The least fixed point exists only if the definition is monotonic in its own names.
fn refuse_falling(expr: &Expr, bindings: &[Binding]) -> Result<(), Fault> {
    let mut wrong = None;
    expr.visit(&mut |part| {
        let (ExprKind::Unary(Unary::Not, falling) | ExprKind::Binary(Binary::Minus, _, falling)) = &part.kind else {
            return;
        };
        falling.visit(&mut |inner| {
            if let ExprKind::Name(name) = &inner.kind {
                if bindings.iter().any(|binding| binding.name == *name) {
                    wrong.get_or_insert(inner.place);
                }
            }
        });
    });
    match wrong {
        None => Ok(()),
        Some(place) => Err(Fault::new(
            place,
            "a name may not occur here in its own definition: under `~` or right of `\\`",
        )),
    }
}
