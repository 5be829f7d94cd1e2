//! What receivers and relays tell a sender's control.

/// A few bytes that a receiver or a relay sends to a control, in a header beside TCP's. What they mean is between the two;
/// the endpoint carries them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Feedback {
    kind: u8,
    length: u8,
    bytes: [u8; Self::MAX],
}

impl Feedback {
    /// The longest feedback, bytes.
    pub const MAX: usize = 32;

    /// Feedback of some kind; `None` if it is longer than [`Feedback::MAX`].
    #[must_use]
    pub fn new(kind: u8, bytes: &[u8]) -> Option<Self> {
        let mut feedback = Self { kind, length: u8::try_from(bytes.len()).ok()?, bytes: [0; Self::MAX] };
        feedback.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(feedback)
    }

    /// Whose it is.
    #[must_use]
    pub const fn kind(&self) -> u8 {
        self.kind
    }

    /// What it says.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// What `read` makes of it; `None` if it is of another kind, or `read` makes nothing of it.
    pub fn read<T>(&self, kind: u8, read: impl FnOnce(&[u8]) -> Option<T>) -> Option<T> {
        (self.kind == kind).then(|| read(self.bytes())).flatten()
    }
}

impl core::fmt::Debug for Feedback {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Feedback").field("kind", &self.kind).field("bytes", &self.bytes()).finish()
    }
}
