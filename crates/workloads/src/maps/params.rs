//! The parameters that maps share.

use crate::params::param;
use strandline_kernel::{Param, ParamError, Params};

/// The parameter: how many keys are drawn from.
pub(crate) const fn keys(default: u64) -> Param {
    param("keys", default, 1..=1 << 40, "number of keys that operations draw from")
}

/// The parameter: how many insertions come before the run.
pub(crate) const fn init_ops(default: u64) -> Param {
    param(
        "init_ops",
        default,
        0..=1 << 32,
        "insertions that fill the map before the run, untimed",
    )
}

/// The parameter: the share of searches.
pub(crate) const fn reads(default: u64) -> Param {
    param("reads", default, 0..=100, "percent of operations that search")
}

/// The parameter: the share of deletions. What neither searches nor deletes inserts, or replaces a value.
pub(crate) const DELETES: Param = param(
    "deletes",
    0,
    0..=100,
    "percent of operations that delete; the others that do not search insert, or replace the value",
);

/// A size of keys or values.
const fn bytes(name: &'static str, help: &'static str) -> Param {
    param(name, 8, 8..=128, help)
}

/// The parameter: the bytes of a key.
pub(crate) const KEY_BYTES: Param = bytes(
    "key_bytes",
    "bytes of a key, a multiple of 8; if keys or values have more than 8, a pair is a record that the map points to",
);

/// The parameter: the bytes of a value.
pub(crate) const VALUE_BYTES: Param = bytes(
    "value_bytes",
    "bytes of a value, a multiple of 8; if keys or values have more than 8, a pair is a record that the map points to",
);

/// The parameter: how many records there are.
pub(crate) const RECORDS: Param = param(
    "records",
    1 << 18,
    8..=1 << 24,
    "records that there is room for, if keys or values have more than 8 bytes",
);

/// All parameters of a map: those that maps share, and its own.
macro_rules! map_params {
    (init_ops: $init_ops:expr, reads: $reads:expr; $($own:expr),* $(,)?) => {
        &[
            $crate::maps::keys(1 << 32),
            $crate::maps::init_ops($init_ops),
            $crate::maps::reads($reads),
            $crate::zipf::theta(0),
            $crate::maps::DELETES,
            $crate::maps::KEY_BYTES,
            $crate::maps::VALUE_BYTES,
            $crate::maps::RECORDS,
            $($own),*
        ]
    };
}
pub(crate) use map_params as params;

/// `workload.omits`: the flush of a record. The map itself leaves nothing out.
pub(crate) const OMITS_VALUE: u64 = 1;

/// The bytes of a key and of a value.
pub(super) fn sizes(params: &Params) -> Result<(u64, u64), ParamError> {
    for name in [KEY_BYTES.name, VALUE_BYTES.name] {
        let bytes = params.get(name);
        if bytes % 8 != 0 {
            return Err(ParamError(format!(
                "workload.{name}={bytes}: must be a multiple of 8; set {} or {}",
                bytes / 8 * 8,
                bytes.next_multiple_of(8)
            )));
        }
    }
    Ok((params.get(KEY_BYTES.name), params.get(VALUE_BYTES.name)))
}

/// The shares of searches and of deletions, in percent.
pub(crate) fn shares(params: &Params) -> Result<(u64, u64), ParamError> {
    let (reads, deletes) = (params.get("reads"), params.get("deletes"));
    if reads + deletes > 100 {
        return Err(ParamError(format!(
            "workload.reads={reads} with workload.deletes={deletes}: together at most 100 percent"
        )));
    }
    Ok((reads, deletes))
}
