//! Where the law of each flow comes from.

use super::{FlowLaw, FlowLawPart};
use alloc::boxed::Box;
use alloc::sync::Arc;
use meshpace_keys::Values;

/// A law with its parameters; each flow makes a law of its own from it.
#[derive(Clone, Debug)]
pub struct LawMaker {
    /// Of a law of the table: its word and its parameters.
    chosen: Option<(&'static str, Values)>,
    /// The law as a new flow has it.
    fresh: Arc<dyn FlowLaw>,
}

impl LawMaker {
    /// A law of [`FLOW_LAWS`](super::FLOW_LAWS) with these parameters.
    #[must_use]
    pub fn of(part: &'static FlowLawPart, values: Values) -> Self {
        Self { fresh: (part.build)(&values).into(), chosen: Some((part.about.word, values)) }
    }

    /// A law of the caller's.
    #[must_use]
    pub fn own(fresh: impl FlowLaw) -> Self {
        Self { chosen: None, fresh: Arc::new(fresh) }
    }

    /// The word of a law of the table.
    #[must_use]
    pub fn word(&self) -> Option<&'static str> {
        self.chosen.as_ref().map(|(word, _)| *word)
    }

    /// The law of a new flow.
    #[must_use]
    pub fn law(&self) -> Box<dyn FlowLaw> {
        self.fresh.boxed()
    }

    /// The law as new flows get it.
    #[must_use]
    pub fn fresh(&self) -> &dyn FlowLaw {
        &*self.fresh
    }

    /// Has a flow's law go by these parameters from now on. A law of another kind begins anew; the pace stays until it speaks.
    pub fn renew(&self, law: &mut Box<dyn FlowLaw>) {
        if !law.take_parameters(self.fresh()) {
            *law = self.law();
        }
    }
}

impl PartialEq for LawMaker {
    /// The same law of the table with the same parameters, or the very same of the caller's.
    fn eq(&self, other: &Self) -> bool {
        match (&self.chosen, &other.chosen) {
            (Some(ours), Some(theirs)) => ours == theirs,
            (None, None) => Arc::ptr_eq(&self.fresh, &other.fresh),
            _ => false,
        }
    }
}
