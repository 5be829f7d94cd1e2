//! Tokens as bytes, without documentation and without what rustfmt chooses.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// Operators of more than one character (The Rust Reference, "Punctuation"), longest first: what stands together in a
/// macro's arguments is split as the compiler splits it.
const OPERATORS: [&str; 24] = [
    "<<=", ">>=", "...", "..=", "::", "->", "=>", "==", "!=", "<=", ">=", "&&", "||", "+=", "-=", "*=", "/=",
    "%=", "^=", "&=", "|=", "<<", ">>", "..",
];

/// Words after which parentheses hold a tuple; after any other they hold arguments.
const BEFORE_TUPLES: [&str; 14] = [
    "as", "break", "const", "else", "if", "in", "let", "match", "move", "mut", "ref", "return", "while",
    "yield",
];

/// Hands `stream` to `sink`; two streams of the same tokens give the same bytes, any others do not.
pub fn write(stream: TokenStream, sink: &mut impl FnMut(&[u8])) {
    write_all(&significant(stream), sink);
}

/// A token, or several within delimiters.
enum Token {
    /// A word, a literal, an operator: its kind, and its text.
    One(u8, String),
    Many(Delimiter, Vec<Token>),
}

impl Token {
    fn is(&self, text: &str) -> bool {
        matches!(self, Self::One(b'p', own) if own == text)
    }
}

/// The tokens of a stream that count: without documentation, with operators whole, without groups that have no
/// delimiters.
fn significant(stream: TokenStream) -> Vec<Token> {
    let mut found = Vec::new();
    let mut run = String::new();
    flatten(stream, &mut found, &mut run);
    split(&mut run, &mut found);
    without_documentation(found)
}

fn flatten(stream: TokenStream, found: &mut Vec<Token>, run: &mut String) {
    for token in stream {
        match token {
            TokenTree::Punct(punct) => {
                run.push(punct.as_char());
                if punct.spacing() == Spacing::Alone {
                    split(run, found);
                }
                continue;
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
                split(run, found);
                flatten(group.stream(), found, run);
                continue;
            }
            _ => {}
        }
        split(run, found);
        found.push(match token {
            TokenTree::Group(group) => Token::Many(group.delimiter(), significant(group.stream())),
            TokenTree::Ident(ident) => Token::One(b'i', ident.to_string()),
            TokenTree::Literal(literal) => Token::One(b'l', literal.to_string()),
            TokenTree::Punct(_) => unreachable!("taken above"),
        });
    }
}

/// Operators out of characters that stand together.
fn split(run: &mut String, found: &mut Vec<Token>) {
    let mut rest = run.as_str();
    while let Some(first) = rest.chars().next() {
        let length = OPERATORS
            .iter()
            .find(|operator| rest.starts_with(**operator))
            .map_or(first.len_utf8(), |o| o.len());
        let (operator, after) = rest.split_at(length);
        found.push(Token::One(b'p', operator.to_owned()));
        rest = after;
    }
    run.clear();
}

/// Without `#[doc ...]` and `#[cfg_attr(test, ...)]`.
fn without_documentation(tokens: Vec<Token>) -> Vec<Token> {
    let mut kept: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens {
        if let Token::Many(Delimiter::Bracket, inside) = &token
            && (is_word(inside.first(), "doc") || is_test_attribute(inside))
        {
            let marks =
                kept.iter().rev().take(2).map(|mark| (mark.is("#"), mark.is("!"))).collect::<Vec<_>>();
            let length = match marks.as_slice() {
                [(true, _), ..] => 1,
                [(_, true), (true, _)] => 2,
                _ => 0,
            };
            if length > 0 {
                kept.truncate(kept.len() - length);
                continue;
            }
        }
        kept.push(token);
    }
    kept
}

fn is_word(token: Option<&Token>, word: &str) -> bool {
    matches!(token, Some(Token::One(b'i', own)) if own == word)
}

fn is_test_attribute(inside: &[Token]) -> bool {
    match inside {
        [name, Token::Many(Delimiter::Parenthesis, arguments)] => {
            is_word(Some(name), "cfg_attr") && is_word(arguments.first(), "test")
        }
        _ => false,
    }
}

fn write_all(tokens: &[Token], sink: &mut impl FnMut(&[u8])) {
    for (index, token) in tokens.iter().enumerate() {
        match token {
            Token::One(b'p', text) if text == "," && ends_nothing(tokens.get(index + 1)) => {}
            Token::One(kind, text) => {
                sink(&[*kind]);
                sink(text.as_bytes());
                sink(b"\0");
            }
            Token::Many(delimiter, inside) => {
                let (open, close): (&[u8], &[u8]) = match delimiter {
                    Delimiter::Parenthesis => (b"(", b")\0"),
                    Delimiter::Bracket => (b"[", b"]\0"),
                    Delimiter::Brace => (b"{", b"}\0"),
                    Delimiter::None => unreachable!("flattened"),
                };
                sink(open);
                let commas = inside.iter().filter(|token| token.is(",")).count();
                let last = inside.last().is_some_and(|token| token.is(","));
                // `(a,)` is a tuple of one where `(a)` is `a`.
                let tuple =
                    *delimiter == Delimiter::Parenthesis && commas == 1 && !holds_arguments(&tokens[..index]);
                write_all(&inside[..inside.len() - usize::from(last)], sink);
                if last && tuple {
                    sink(b"p,\0");
                }
                sink(close);
            }
        }
    }
}

/// Whether a comma before `next` ends a list that rustfmt has spread over lines: of generics or of bounds.
fn ends_nothing(next: Option<&Token>) -> bool {
    match next {
        Some(Token::Many(Delimiter::Brace, _)) => true,
        Some(token) => token.is(">") || token.is(";"),
        None => false,
    }
}

/// Whether parentheses after these tokens are a call's, a macro's or a declaration's.
fn holds_arguments(before: &[Token]) -> bool {
    match before.last() {
        Some(Token::One(b'i', word)) => !BEFORE_TUPLES.contains(&word.as_str()),
        Some(token @ Token::One(..)) => token.is(">") || token.is("!"),
        Some(Token::Many(delimiter, _)) => *delimiter != Delimiter::Brace,
        None => false,
    }
}
