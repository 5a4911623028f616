//! The processor that executes this.

use crate::Case;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use crate::{cases, native, Unit};
use serde::{Deserialize, Serialize};
use strandline_sim::Error;

/// What is known of a processor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Processor {
    /// Its name, as it tells it.
    pub name: String,
    /// Its family, model and stepping.
    pub signature: [u32; 3],
    /// Whether it has `clwb`.
    pub clwb: bool,
    /// Ticks of its time-stamp counter in a nanosecond.
    pub counter_ghz: f64,
    /// The clock of its core, found by multiplications that depend on one another and take three cycles.
    pub clock_ghz: f64,
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
impl Processor {
    /// The one at hand.
    ///
    /// # Errors
    /// It is none on which routines run.
    pub fn here() -> Result<Processor, Error> {
        Err(Error::input(
            "validate: measures on x86-64 under Linux only; --no-measure prints what the machine simulates",
        ))
    }

    /// Time of an operation of the case, in its unit; `None` if the processor lacks an instruction.
    ///
    /// # Errors
    /// The system refuses memory.
    pub fn measured(&self, _case: &Case) -> Result<Option<f64>, Error> {
        Ok(None)
    }
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
impl Processor {
    /// The one at hand. Measures its clocks, which takes some milliseconds.
    ///
    /// # Errors
    /// The system refuses memory.
    pub fn here() -> Result<Processor, Error> {
        use std::arch::x86_64::{__cpuid, __cpuid_count};
        // SAFETY: every x86-64 processor has `cpuid`. Newer compilers know that it is safe.
        #[allow(unsafe_code, unused_unsafe, reason = "an instruction that Rust has no word for")]
        let (signature, features, brand) = unsafe {
            let brand = [__cpuid(0x8000_0002), __cpuid(0x8000_0003), __cpuid(0x8000_0004)];
            (__cpuid(1).eax, __cpuid_count(7, 0).ebx, brand)
        };
        let brand = brand.map(|part| [part.eax, part.ebx, part.ecx, part.edx].map(u32::to_le_bytes));
        let brand: Vec<u8> = brand.as_flattened().as_flattened().to_vec();
        let name = String::from_utf8_lossy(&brand);
        let mut processor = Processor {
            name: name.trim_matches(|c: char| c == '\0' || c.is_whitespace()).to_owned(),
            signature: signature_of(signature),
            clwb: features & (1 << 24) != 0,
            counter_ghz: native::ticks_per_ns(),
            clock_ghz: 0.0,
        };
        let (clock, cycles) = cases::clock();
        processor.clock_ghz = cycles / processor.ns(&clock)?;
        Ok(processor)
    }

    /// Time of an operation of the case, in its unit; `None` if the processor lacks an instruction.
    ///
    /// # Errors
    /// The system refuses memory.
    pub fn measured(&self, case: &Case) -> Result<Option<f64>, Error> {
        if case.routine.flushes() && !self.clwb {
            return Ok(None);
        }
        let ns = self.ns(case)?;
        Ok(Some(match case.unit {
            Unit::Cycles => ns * self.clock_ghz,
            Unit::Nanoseconds => ns,
        }))
    }

    fn ns(&self, case: &Case) -> Result<f64, Error> {
        let ticks = native::ticks(&case.routine)
            .map_err(|error| Error::input(format!("{}: cannot be measured: {error}", case.name)))?;
        Ok(ticks as f64 / self.counter_ghz / case.operations as f64)
    }
}

/// Family, model and stepping, of the lowest register of leaf 1.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn signature_of(eax: u32) -> [u32; 3] {
    let (family, model) = ((eax >> 8) & 15, (eax >> 4) & 15);
    let family = if family == 15 {
        family + ((eax >> 20) & 255)
    } else {
        family
    };
    let model = if family == 6 || family >= 15 {
        model + ((eax >> 12) & 0xf0)
    } else {
        model
    };
    [family, model, eax & 15]
}
