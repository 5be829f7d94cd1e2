//! The parts that a user's objects are, made for each connection or gateway of a job.

use crate::acknowledging::Acknowledging;
use crate::formula::Formula;
use crate::gateway_law::GatewayLaw;
use crate::rate::RatedFormula;
use meshpace_mesh::{AckPolicyFactory, ControlFactory, OwnControl, OwnParts, RatedFactory};
use meshpace_pacing::LawMaker;
use meshpace_tcp::AckPolicy;
use meshpace_tcp::control::{Control, Rated};
use pyo3::prelude::*;
use std::sync::Arc;

/// A scheme's name; what makes the object of a connection's end or of a flow at a gateway; whether such an object decides as
/// a sender, as a receiver, and as a gateway; and whether a sender's object is the rate source in place of the scheme's
/// control.
pub type Given = (String, Py<PyAny>, bool, bool, bool, bool);

/// Factories for the formulas of a job.
pub fn factories(formulas: &[Given]) -> Vec<(String, OwnParts)> {
    let factory = |(name, make, sends, receives, paces, rated): &Given| {
        let copy = || Python::attach(|py| make.clone_ref(py));
        let control = sends.then(copy).map(|make| {
            if *rated {
                let made = move |rules, header| Rated::boxed(RatedFormula::new(&make), rules, header);
                return OwnControl::Instead(RatedFactory(Arc::new(made)));
            }
            let made = move || -> Box<dyn Control> { Box::new(Formula::new(&make)) };
            OwnControl::Beside(ControlFactory(Arc::new(made)))
        });
        let acknowledgements = receives.then(copy).map(|make| {
            let made = move || -> Box<dyn AckPolicy> { Box::new(Acknowledging::new(&make)) };
            AckPolicyFactory(Arc::new(made))
        });
        let gateway_law = paces.then(copy).map(|make| LawMaker::own(GatewayLaw::new(make)));
        (name.clone(), OwnParts { control, acknowledgements, gateway_law })
    };
    let mut made: Vec<_> = formulas.iter().map(factory).collect();
    made.sort_by(|a, b| a.0.cmp(&b.0));
    made
}
