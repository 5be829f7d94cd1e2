//! The forms of parameters: each module turns a field into a plain value (`to`) and a checked value back (`from`).

use crate::value::Value;
use meshpace_gateway::DupAck;
use meshpace_pacing::{Aging, Divisor, Samples, ShortPath, Variation};
use meshpace_units::{Bytes, Rate, Span};

fn integer(value: &Value) -> u64 {
    match value {
        Value::Integer(number) => u64::try_from(*number).unwrap_or_else(|_| panic!("{number} was checked")),
        other => panic!("{other} was checked to be a whole number"),
    }
}

fn plain(number: u64) -> Value {
    Value::Integer(
        i64::try_from(number).unwrap_or_else(|_| panic!("{number} is within no parameter's range")),
    )
}

macro_rules! form {
    ($name:ident: $type:ty, |$field:ident| $to:expr, |$value:ident| $from:expr) => {
        pub(super) mod $name {
            use super::*;

            pub(in crate::params) fn to($field: $type) -> Value {
                $to
            }

            pub(in crate::params) fn from($value: &Value) -> $type {
                $from
            }
        }
    };
}

/// A form of words.
macro_rules! words {
    ($name:ident: $type:ident { $($variant:ident = $word:literal),+ }) => {
        form!($name: $type,
            |field| match field { $($type::$variant => $word.into(),)+ },
            |value| match value {
                $(Value::Text(word) if word == $word => $type::$variant,)+
                other => panic!("{other} was checked to be a word of {}", stringify!($name)),
            }
        );
    };
}

form!(flag: bool, |field| Value::Bool(field), |value| *value == Value::Bool(true));
form!(real: f64, |field| Value::Float(field), |value| match value {
    Value::Float(number) => *number,
    other => panic!("{other} was checked to be a real number"),
});
form!(span: Span, |field| Value::Float(field.as_secs_f64()), |value| Span::from_secs_f64(real::from(value)));
form!(whole: u32, |field| plain(field.into()), |value| {
    u32::try_from(integer(value)).unwrap_or_else(|_| panic!("{value} was checked to fit 32 bits"))
});
form!(size: usize, |field| plain(field as u64), |value| {
    usize::try_from(integer(value)).unwrap_or(usize::MAX)
});
form!(bits: Rate, |field| plain(field.as_bits_per_sec()), |value| Rate::bits_per_sec(integer(value)));
form!(bytes: Bytes, |field| plain(field.0), |value| Bytes(integer(value)));
form!(three: [u64; 3], |field| Value::List(field.map(plain).into()), |value| match value {
    Value::List(items) => match items.as_slice() {
        [a, b, c] => [a, b, c].map(integer),
        _ => panic!("{value} was checked to have three items"),
    },
    _ => panic!("{value} was checked to be a list"),
});

words!(short_path: ShortPath { HHop = "h-hop", OneHop = "one-hop", NHop = "n-hop" });
words!(variation: Variation { Cov = "cov", Mad = "mad" });
words!(divisor: Divisor { SamplesLessOne = "n-1", Samples = "n" });
words!(samples: Samples { RoundTrip = "rtt", KHopDelay = "khd" });
words!(aging: Aging { Additive = "additive", Multiplicative = "multiplicative" });
words!(dupack: DupAck { Snoop = "snoop", Literal = "literal", Off = "off" });
