//! One parameter: its key, unit and range, the conversion of a text to its value, and the access to
//! its field.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use strandline_kernel::{did_you_mean, Cycles};

use super::error::Fault;
use super::machine::{
    Cache, Channel, Coherence, Consistency, Controllers, Core, Cxl, DecodeEnd, Dram, Fail, Failing, HostCoherence,
    Interconnect, MachineConfig, PcommitWait, Pm, Prediction, Simulation, Tlb, Warm, WpqLeave,
};

/// One parameter of a machine. Its value is a text here: a number in its unit, a flag or a word.
pub(super) struct Parameter {
    /// Section and field, `core.rob_entries`.
    pub key: String,
    /// What it is: its field's doc comment.
    pub help: String,
    /// The unit of its values; empty for flags and words.
    pub unit: &'static str,
    /// Its smallest and greatest value; `None` for flags and words.
    pub range: Option<RangeInclusive<f64>>,
    /// Its set of values: "a whole number", "tso or weak".
    pub values: &'static str,
    /// Its value, `None` if that part of the machine is absent.
    pub get: Box<Get>,
    /// Its value as a number, `None` if it is none or that part of the machine is absent.
    pub number: Box<Number>,
    /// Sets its value; `None`, and no change, if the text is not one of its values.
    pub put: Box<Put>,
}

type Get = dyn Fn(&MachineConfig) -> Option<String> + Send + Sync;
type Number = dyn Fn(&MachineConfig) -> Option<f64> + Send + Sync;
type Put = dyn Fn(&mut MachineConfig, &str) -> Option<()> + Send + Sync;

/// All parameters, section by section, in the order in which they are described.
pub(super) static PARAMETERS: LazyLock<Vec<Parameter>> = LazyLock::new(|| {
    let sections = [
        MachineConfig::parameters("", |m| Some(m), |m| m),
        Core::parameters("core.", |m| Some(&m.core), |m| &mut m.core),
        Tlb::parameters("tlb.", |m| Some(&m.tlb), |m| &mut m.tlb),
        Cache::parameters("l1.", |m| Some(&m.l1), |m| &mut m.l1),
        Cache::parameters("l2.", |m| m.l2.as_ref(), |m| m.l2.get_or_insert_default()),
        Cache::parameters("llc.", |m| Some(&m.llc), |m| &mut m.llc),
        Interconnect::parameters("interconnect.", |m| Some(&m.interconnect), |m| &mut m.interconnect),
        Channel::parameters("channel.", |m| Some(&m.channel), |m| &mut m.channel),
        Controllers::parameters("controllers.", |m| Some(&m.controllers), |m| &mut m.controllers),
        Pm::parameters("pm.", |m| Some(&m.pm), |m| &mut m.pm),
        Dram::parameters("dram.", |m| Some(&m.dram), |m| &mut m.dram),
        Cxl::parameters("cxl.", |m| Some(&m.cxl), |m| &mut m.cxl),
        Fail::parameters("fail.", |m| Some(&m.fail), |m| &mut m.fail),
        Simulation::parameters("simulation.", |m| Some(&m.simulation), |m| &mut m.simulation),
    ];
    sections.into_iter().flatten().collect()
});

/// The parameter with this key.
///
/// # Errors
/// An unknown key: the message names the nearest one.
pub(super) fn find(key: &str) -> Result<&'static Parameter, String> {
    PARAMETERS.iter().find(|parameter| parameter.key == key).ok_or_else(|| {
        let meant = did_you_mean(key, PARAMETERS.iter().map(|parameter| &*parameter.key));
        format!("no such parameter{meant} (`strandline list machines NAME` shows all)")
    })
}

impl Parameter {
    /// The value in the machine; an absent L2 has 0 bytes and no other parameter. A machine with one memory has no
    /// name for it.
    pub fn value(&self, machine: &MachineConfig) -> Option<String> {
        let value = (self.get)(machine).or_else(|| (self.key == "l2.bytes").then(|| "0".to_owned()));
        value.filter(|value| !value.is_empty())
    }

    /// Whether its value in the machine is in its range, as that of a part that is absent is.
    pub fn is_in_range(&self, machine: &MachineConfig) -> bool {
        match (&self.range, (self.number)(machine)) {
            (Some(range), Some(value)) => range.contains(&value),
            _ => true,
        }
    }

    /// The value that a user wrote, with or without a unit, and its nanoseconds if it was given in them.
    ///
    /// # Errors
    /// No number where one is expected, an unknown unit, or a value out of range.
    pub fn read(&'static self, text: &str, clock_ghz: f64) -> Result<(String, Option<f64>), Fault> {
        let text = text.trim();
        let Some(range) = &self.range else {
            return Ok((text.to_owned(), None));
        };
        let digits = text.trim_end_matches(|c: char| !(c.is_ascii_digit() || c == '.'));
        let number: f64 = digits.parse().map_err(|_| self.wrong(text))?;
        let unit = text[digits.len()..].trim();
        let nanoseconds = match unit {
            "ns" => Some(number),
            "us" => Some(number * 1e3),
            "ms" => Some(number * 1e6),
            _ => None,
        };
        let value = match (self.unit, unit, nanoseconds) {
            (own, unit, _) if unit.is_empty() || unit == own => number,
            ("bytes", "KiB", _) => number * 1024.0,
            ("bytes", "MiB", _) => number * 1_048_576.0,
            ("cycles", _, Some(ns)) => cycles_of(ns, clock_ghz),
            _ => return Err(self.unknown_unit(unit)),
        };
        // A negative number of ns may be nearest to 0 cycles.
        if number < 0.0 || !range.contains(&value) {
            let cycles = nanoseconds.map(|_| format!(" ({value} cycles at {clock_ghz} GHz)"));
            return Err(self.fault(&format!("{text}{} is out of range", cycles.unwrap_or_default())));
        }
        Ok((value.to_string(), nanoseconds))
    }

    fn unknown_unit(&'static self, unit: &str) -> Fault {
        let known = match self.unit {
            "bytes" => "bytes, KiB or MiB",
            "cycles" => "cycles, ns, us or ms",
            own => own,
        };
        Fault::new(&[&self.key], format!("unknown unit \"{unit}\" (give it in {known})"))
    }

    /// The fault of a text that is not one of the parameter's values.
    pub fn wrong(&'static self, text: &str) -> Fault {
        self.fault(&format!("expected {}, found \"{text}\"", self.values))
    }

    /// A fault of this parameter's value alone.
    pub fn fault(&'static self, what: &str) -> Fault {
        let (unit, or_ns) = (self.unit, if self.unit == "cycles" { ", or ns" } else { "" });
        let admits = match &self.range {
            Some(range) => format!("{} to {} {unit}{or_ns}", range.start(), range.end()),
            None => self.values.to_owned(),
        };
        Fault::new(&[&self.key], format!("{what} (give {admits})"))
    }
}

/// The whole number of cycles nearest to `nanoseconds` at `clock_ghz`.
pub(super) fn cycles_of(nanoseconds: f64, clock_ghz: f64) -> f64 {
    (nanoseconds * clock_ghz).round()
}

/// The type of a parameter's field.
pub(super) trait Value: Sized {
    /// A description of its values.
    const VALUES: &'static str;
    fn show(&self) -> String;
    fn read(text: &str) -> Option<Self>;
    /// Its number, if it is one.
    fn number(&self) -> Option<f64> {
        None
    }
}

macro_rules! value {
    ($type:ty: $values:literal, $show:expr, $read:expr $(, $number:expr)?) => {
        impl Value for $type {
            const VALUES: &'static str = $values;
            fn show(&self) -> String {
                $show(self)
            }
            fn read(text: &str) -> Option<Self> {
                text.parse().ok().map($read)
            }
            $(fn number(&self) -> Option<f64> {
                Some($number(self))
            })?
        }
    };
}
value!(bool: "true or false", bool::to_string, |flag| flag);
value!(String: "a name", String::clone, |name| name);
value!(f64: "a number", f64::to_string, |number| number, |number: &f64| *number);
value!(u64: "a whole number", u64::to_string, |number| number, |number: &u64| *number as f64);
value!(
    Cycles: "a whole number of cycles, or a number of ns",
    |cycles: &Cycles| cycles.0.to_string(),
    Cycles,
    |cycles: &Cycles| cycles.0 as f64
);

macro_rules! words {
    ($Words:ident: $First:ident = $first:literal $(, $Other:ident = $other:literal)*) => {
        impl Value for $Words {
            const VALUES: &'static str = concat!($first $(, " or ", $other)*);
            fn show(&self) -> String {
                match self { $Words::$First => $first, $($Words::$Other => $other),* }.to_owned()
            }
            fn read(text: &str) -> Option<Self> {
                [$Words::$First, $($Words::$Other),*].into_iter().find(|word| word.show() == text)
            }
        }
    };
}
words!(Consistency: Tso = "tso", Weak = "weak");
words!(Warm: Steady = "steady", Footprint = "footprint", Cold = "cold");
words!(Coherence: Directory = "directory", Snoop = "snoop");
words!(Failing: None = "none", H0 = "h0", H1 = "h1", H2 = "h2", H3 = "h3");
words!(HostCoherence: None = "none", Hardware = "hardware");
words!(Prediction: Gshare = "gshare", Tage = "tage");
words!(DecodeEnd: Block = "block", Taken = "taken");
words!(WpqLeave: Written = "written", Issued = "issued");
words!(PcommitWait: Accepted = "accepted", Empty = "empty", Alone = "alone", Serial = "serial");

/// Declares structs of parameters: meaning, field, type, range and unit. Fields that are no parameters follow `and`.
macro_rules! parameters {
    ($(
        $(#[$about:meta])*
        $Section:ident {$(
            $(#[doc = $help:literal])+
            $field:ident: $type:ident $(in $least:literal..=$most:tt $unit:literal)?;
        )+ $(and { $($other:tt)* })?}
    )+) => {$(
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $Section {
            $( $(#[doc = $help])+ pub $field: $type, )+
            $($($other)*)?
        }

        impl $Section {
            pub(super) fn parameters(
                prefix: &str,
                of: fn(&MachineConfig) -> Option<&Self>,
                of_mut: fn(&mut MachineConfig) -> &mut Self,
            ) -> Vec<Parameter> {
                vec![$(Parameter {
                    key: format!("{prefix}{}", stringify!($field)),
                    help: concat!($($help),+).trim().trim_end_matches('.').to_owned(),
                    unit: concat!($($unit)?),
                    range: [$($least as f64..=$most as f64)?].into_iter().next(),
                    values: <$type as Value>::VALUES,
                    get: Box::new(move |machine| Some(of(machine)?.$field.show())),
                    number: Box::new(move |machine| of(machine)?.$field.number()),
                    put: Box::new(move |machine, text| {
                        of_mut(machine).$field = Value::read(text)?;
                        Some(())
                    }),
                }),+]
            }
        }
    )+};
}
pub(super) use parameters;
