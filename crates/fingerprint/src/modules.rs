//! A crate as one stream of tokens: every module stands where it is declared, whichever file it lies in.

use crate::Error;
use crate::prune::{self, is_test};
use proc_macro2::{Delimiter, Group, Literal, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use syn::{Expr, ExprLit, Ident, Item, ItemMacro, ItemMod, Lit, LitStr, Meta, MetaNameValue, parse_quote};

/// Reads files and remembers which.
#[derive(Default)]
pub struct Reader {
    /// What was read.
    pub files: BTreeSet<PathBuf>,
}

impl Reader {
    /// A file's text.
    pub fn text(&mut self, path: &Path) -> Result<String, Error> {
        let bytes = self.bytes(path)?;
        let not_text = |_| Error::Malformed { path: path.to_owned(), reason: "not UTF-8".to_owned() };
        String::from_utf8(bytes).map_err(not_text)
    }

    fn bytes(&mut self, path: &Path) -> Result<Vec<u8>, Error> {
        self.files.insert(path.to_owned());
        fs::read(path).map_err(|source| Error::Read { path: path.to_owned(), source })
    }

    /// The crate whose root module is the file `root`.
    pub fn crate_tokens(&mut self, root: &Path) -> Result<TokenStream, Error> {
        self.module(root, root.parent().unwrap_or(Path::new(".")))
    }

    /// The module in `file`, whose own modules lie in `children`.
    fn module(&mut self, file: &Path, children: &Path) -> Result<TokenStream, Error> {
        let tokens: TokenStream = self.text(file)?.parse().map_err(|error: proc_macro2::LexError| {
            let at = error.span().start();
            malformed(file, &format!("line {}, column {}: {error}", at.line, at.column + 1))
        })?;
        let tokens = self.with_included(tokens, file)?;
        let mut module = syn::parse2::<syn::File>(tokens).map_err(|error| {
            let at = error.span().start();
            malformed(file, &format!("line {}, column {}: {error}", at.line, at.column + 1))
        })?;
        prune::prune(&mut module);
        self.expand(&mut module.items, file, children)?;
        Ok(module.into_token_stream())
    }

    /// Puts the content of modules that have files of their own into their place.
    fn expand(&mut self, items: &mut [Item], file: &Path, children: &Path) -> Result<(), Error> {
        for item in items {
            if let Item::Macro(call) = &item
                && let Some(names) = declared_parts(call)
            {
                let mut modules: Vec<Item> = names.iter().map(|name| parse_quote!(mod #name;)).collect();
                self.expand(&mut modules, file, children)?;
                *item = Item::Verbatim(quote!(#item #(#modules)*));
                continue;
            }
            let Item::Mod(module) = item else { continue };
            let below = children.join(unraw(module));
            if let Some((_, items)) = &mut module.content {
                self.expand(items, file, &below)?;
                continue;
            }
            let (found, below) = match given_path(module) {
                // Relative to the folder of the file that names it; what it declares lies beside it.
                Some(path) => {
                    let found = file.with_file_name(path);
                    let beside = found.parent().unwrap_or(Path::new(".")).to_owned();
                    (found, beside)
                }
                None => (module_file(file, &below)?, below),
            };
            let inside = self.module(&found, &below)?;
            module.attrs.retain(|attribute| !attribute.path().is_ident("path"));
            module.content = Some((syn::token::Brace::default(), vec![Item::Verbatim(inside)]));
            module.semi = None;
        }
        Ok(())
    }

    /// Replaces `include_str!("...")` and its kind by a digest of what is included.
    fn with_included(&mut self, tokens: TokenStream, file: &Path) -> Result<TokenStream, Error> {
        let mut found: Vec<TokenTree> = Vec::new();
        for token in tokens {
            match token {
                TokenTree::Group(group) => {
                    if let [.., TokenTree::Ident(name), TokenTree::Punct(mark)] = found.as_slice()
                        && mark.as_char() == '!'
                        && let Some(what) =
                            ["include_str", "include_bytes", "include"].iter().find(|n| name == **n)
                    {
                        let digest = self.included(&group, file)?;
                        found.truncate(found.len() - 2);
                        found.push(Literal::string(&format!("{what} {digest}")).into());
                        continue;
                    }
                    let inner = self.with_included(group.stream(), file)?;
                    let mut replaced = Group::new(group.delimiter(), inner);
                    replaced.set_span(group.span());
                    found.push(replaced.into());
                }
                other => found.push(other),
            }
        }
        Ok(found.into_iter().collect())
    }

    fn included(&mut self, argument: &Group, file: &Path) -> Result<String, Error> {
        assert_ne!(argument.delimiter(), Delimiter::None, "a macro's arguments are delimited");
        let path = syn::parse2::<LitStr>(argument.stream()).map_err(|_| {
            malformed(file, &format!("a file is included by other than its name: {argument}"))
        })?;
        let bytes = self.bytes(&file.with_file_name(path.value()))?;
        Ok(Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

fn malformed(path: &Path, reason: &str) -> Error {
    Error::Malformed { path: path.to_owned(), reason: reason.to_owned() }
}

fn unraw(module: &ItemMod) -> String {
    module.ident.to_string().trim_start_matches("r#").to_owned()
}

/// The macros whose tables declare a module a row, `TABLE = [one, other];`: `parts!` of crates/keys and `extras!` of
/// crates/scenario. `every_file_of_this_engine_is_read` notices one that is not here.
const TABLES: [&str; 2] = ["parts", "extras"];

/// The modules that such a macro declares.
fn declared_parts(call: &ItemMacro) -> Option<Vec<Ident>> {
    let name = &call.mac.path.segments.last()?.ident;
    TABLES.iter().find(|table| name == **table)?;
    let (mut names, mut after_equals) = (Vec::new(), false);
    for token in call.mac.tokens.clone() {
        if let TokenTree::Group(table) = &token
            && after_equals
        {
            let tokens: Vec<TokenTree> = table.stream().into_iter().collect();
            let rows = tokens.split(|token| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ','));
            names.extend(rows.filter_map(|row| match row {
                [TokenTree::Ident(name)] => Some(name.clone()),
                _ => None, // `red::TWICE` is in a module that another row declares
            }));
        }
        after_equals = matches!(token, TokenTree::Punct(mark) if mark.as_char() == '=');
    }
    Some(names)
}

/// What `#[path = "..."]` says.
fn given_path(module: &ItemMod) -> Option<String> {
    module.attrs.iter().filter(|attribute| !is_test(std::slice::from_ref(attribute))).find_map(|attribute| {
        match &attribute.meta {
            Meta::NameValue(MetaNameValue {
                path,
                value: Expr::Lit(ExprLit { lit: Lit::Str(text), .. }),
                ..
            }) if path.is_ident("path") => Some(text.value()),
            _ => None,
        }
    })
}

/// `below.rs`, or `mod.rs` in the folder `below`.
fn module_file(file: &Path, below: &Path) -> Result<PathBuf, Error> {
    let (flat, folder) = (below.with_extension("rs"), below.join("mod.rs"));
    [&flat, &folder].into_iter().find(|path| path.is_file()).cloned().ok_or_else(|| {
        malformed(
            file,
            &format!(
                "of the module it declares there is neither {} nor {}",
                flat.display(),
                folder.display()
            ),
        )
    })
}
