//! Takes out of a module what no linked library holds, tests, and what formatting is free to choose.

use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Arm, Attribute, Block, Expr, ExprClosure, ExprMatch, ExprStruct, FieldsNamed, FieldsUnnamed, File,
    ImplItem, Item, ItemEnum, ItemImpl, ItemMod, ItemTrait, Meta, MetaList, ReturnType, Stmt, Token,
    TraitItem,
};

/// Removes every item, statement, field and arm that only tests have, and braces around one expression.
pub fn prune(file: &mut File) {
    Pruner.visit_file_mut(file);
}

struct Pruner;

/// Whether something with these attributes exists in tests only.
pub fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("cfg") => {
            list.parse_args::<Meta>().is_ok_and(|condition| holds(&condition) == Some(false))
        }
        _ => false,
    })
}

/// Whether a condition of `cfg` holds outside tests; `None` if something else than `test` decides.
fn holds(condition: &Meta) -> Option<bool> {
    match condition {
        Meta::Path(path) if path.is_ident("test") => Some(false),
        Meta::List(list) if list.path.is_ident("not") => {
            nested(list).first().and_then(holds).map(|found| !found)
        }
        Meta::List(list) if list.path.is_ident("all") => all_of(nested(list).iter().map(holds)),
        Meta::List(list) if list.path.is_ident("any") => {
            all_of(nested(list).iter().map(|one| holds(one).map(|found| !found))).map(|none| !none)
        }
        _ => None,
    }
}

fn all_of(conditions: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let conditions: Vec<_> = conditions.collect();
    if conditions.contains(&Some(false)) {
        return Some(false);
    }
    conditions.iter().all(|condition| *condition == Some(true)).then_some(true)
}

fn nested(list: &MetaList) -> Vec<Meta> {
    let parsed = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    parsed.map(|metas| metas.into_iter().collect()).unwrap_or_default()
}

fn retain<T>(list: &mut Punctuated<T, Token![,]>, attributes: fn(&T) -> &[Attribute]) {
    if list.iter().any(|one| is_test(attributes(one))) {
        *list = std::mem::take(list).into_iter().filter(|one| !is_test(attributes(one))).collect();
    }
}

/// The expression in `{ expression }`: rustfmt puts braces around what does not fit on a line.
fn unwrapped(mut body: Expr) -> Expr {
    while let Expr::Block(block) = &mut body {
        let plain = block.attrs.is_empty() && block.label.is_none();
        match block.block.stmts.as_mut_slice() {
            [Stmt::Expr(inner, None)] if plain => body = std::mem::replace(inner, Expr::PLACEHOLDER),
            _ => break,
        }
    }
    body
}

/// The attributes of a syntax node of many kinds.
macro_rules! attributes_of {
    ($node:expr, $kind:ident: $($variant:ident)*) => {
        match $node {
            $($kind::$variant(found) => &found.attrs,)*
            _ => &[],
        }
    };
}

fn item(item: &Item) -> &[Attribute] {
    attributes_of!(item, Item: Const Enum ExternCrate Fn ForeignMod Impl Macro Mod Static Struct Trait TraitAlias Type Union Use)
}

fn statement(statement: &Stmt) -> &[Attribute] {
    match statement {
        Stmt::Local(local) => &local.attrs,
        Stmt::Item(found) => item(found),
        Stmt::Expr(found, _) => expression(found),
        Stmt::Macro(found) => &found.attrs,
    }
}

/// Attributes before a statement belong to its leftmost operand.
fn expression(mut found: &Expr) -> &[Attribute] {
    loop {
        found = match found {
            Expr::Assign(assign) => &assign.left,
            Expr::Binary(binary) => &binary.left,
            Expr::Cast(cast) => &cast.expr,
            _ => break,
        };
    }
    attributes_of!(found, Expr: Array Async Await Block Break Call Closure Const Continue Field ForLoop If Index Let Lit Loop
        Macro Match MethodCall Paren Path Range Reference Repeat Return Struct Try Tuple Unary Unsafe While)
}

impl VisitMut for Pruner {
    fn visit_file_mut(&mut self, file: &mut File) {
        file.items.retain(|one| !is_test(item(one)));
        visit_mut::visit_file_mut(self, file);
    }

    fn visit_item_mod_mut(&mut self, module: &mut ItemMod) {
        if let Some((_, items)) = &mut module.content {
            items.retain(|one| !is_test(item(one)));
        }
        visit_mut::visit_item_mod_mut(self, module);
    }

    fn visit_item_impl_mut(&mut self, block: &mut ItemImpl) {
        block.items.retain(|one| !is_test(attributes_of!(one, ImplItem: Const Fn Type Macro)));
        visit_mut::visit_item_impl_mut(self, block);
    }

    fn visit_item_trait_mut(&mut self, block: &mut ItemTrait) {
        block.items.retain(|one| !is_test(attributes_of!(one, TraitItem: Const Fn Type Macro)));
        visit_mut::visit_item_trait_mut(self, block);
    }

    fn visit_item_enum_mut(&mut self, found: &mut ItemEnum) {
        retain(&mut found.variants, |variant| &variant.attrs);
        visit_mut::visit_item_enum_mut(self, found);
    }

    fn visit_fields_named_mut(&mut self, fields: &mut FieldsNamed) {
        retain(&mut fields.named, |field| &field.attrs);
        visit_mut::visit_fields_named_mut(self, fields);
    }

    fn visit_fields_unnamed_mut(&mut self, fields: &mut FieldsUnnamed) {
        retain(&mut fields.unnamed, |field| &field.attrs);
        visit_mut::visit_fields_unnamed_mut(self, fields);
    }

    fn visit_expr_struct_mut(&mut self, found: &mut ExprStruct) {
        retain(&mut found.fields, |field| &field.attrs);
        visit_mut::visit_expr_struct_mut(self, found);
    }

    fn visit_block_mut(&mut self, block: &mut Block) {
        block.stmts.retain(|one| !is_test(statement(one)));
        visit_mut::visit_block_mut(self, block);
        // rustfmt ends these with a semicolon unless the block stands on one line.
        if let Some(Stmt::Expr(Expr::Return(_) | Expr::Break(_) | Expr::Continue(_), end)) =
            block.stmts.last_mut()
        {
            *end = None;
        }
    }

    fn visit_expr_match_mut(&mut self, found: &mut ExprMatch) {
        found.arms.retain(|arm| !is_test(&arm.attrs));
        visit_mut::visit_expr_match_mut(self, found);
    }

    fn visit_arm_mut(&mut self, arm: &mut Arm) {
        visit_mut::visit_arm_mut(self, arm);
        *arm.body = unwrapped(std::mem::replace(&mut *arm.body, Expr::PLACEHOLDER));
        // Without braces an arm needs a comma, with them it may have one.
        arm.comma = Some(Token![,](arm.fat_arrow_token.spans[0]));
    }

    fn visit_expr_closure_mut(&mut self, closure: &mut ExprClosure) {
        visit_mut::visit_expr_closure_mut(self, closure);
        if matches!(closure.output, ReturnType::Default) {
            *closure.body = unwrapped(std::mem::replace(&mut *closure.body, Expr::PLACEHOLDER));
        }
    }
}
