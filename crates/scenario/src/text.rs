//! Words for messages.

/// Longest piece of a user's text that a message repeats, in characters.
const SHOWN: usize = 60;

/// `text` in quotes, control characters escaped, cut to a readable length.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", shown(text))
}

/// `text` without quotes, control characters escaped, cut to a readable length.
pub(crate) fn shown(text: &str) -> String {
    let mut out: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN).is_some() {
        out.push_str("...");
    }
    out
}
