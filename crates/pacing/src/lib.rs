//! Rate laws, estimators, goodput control and the pacer; no clock, no I/O.
