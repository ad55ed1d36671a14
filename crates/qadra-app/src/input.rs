//! Checks that many use cases share. Messages name the field and the limit.

use qadra_api::{Items, MAX_MESSAGE_CHARS};
use qadra_types::{Code, Ctx, Fault, Role};

/// A trimmed, non-empty text of at most `max` characters.
pub(crate) fn text(field: &str, value: &str, max: usize) -> Result<String, Fault> {
    let value = value.trim();
    if value.is_empty() {
        return Err(Fault::invalid(format!("{field} is empty")));
    }
    at_most(field, value, max)?;
    Ok(value.to_owned())
}

pub(crate) fn at_most(field: &str, value: &str, max: usize) -> Result<(), Fault> {
    // A character takes at least one byte, so most texts are settled without counting.
    if value.len() > max {
        let count = value.chars().count();
        if count > max {
            return Err(Fault::invalid(format!(
                "{field} has {count} characters, more than the {max} allowed"
            )));
        }
    }
    Ok(())
}

/// `None` and blank become `None`.
pub(crate) fn optional(
    field: &str,
    value: Option<String>,
    max: usize,
) -> Result<Option<String>, Fault> {
    match value {
        Some(v) if !v.trim().is_empty() => text(field, &v, max).map(Some),
        _ => Ok(None),
    }
}

/// The text of a message: kept as typed, only its emptiness and length are judged.
pub(crate) fn message(content: &str) -> Result<(), Fault> {
    if content.trim().is_empty() {
        return Err(Fault::invalid("content is empty").hint("write a message first"));
    }
    at_most("content", content, MAX_MESSAGE_CHARS)
}

/// Checks a page's bounds.
pub(crate) fn page(limit: i64, offset: i64) -> Result<(i64, i64), Fault> {
    if !(1..=100).contains(&limit) {
        return Err(Fault::invalid(format!(
            "limit is {limit}, not between 1 and 100"
        )));
    }
    if !(0..=1_000_000_000).contains(&offset) {
        return Err(Fault::invalid(format!(
            "offset is {offset}, not between 0 and 1,000,000,000"
        )));
    }
    Ok((limit, offset))
}

pub(crate) fn items<T>((items, total): (Vec<T>, i64), limit: i64, offset: i64) -> Items<T> {
    Items {
        items,
        total,
        limit,
        offset,
    }
}

pub(crate) fn is_admin(ctx: &Ctx) -> bool {
    ctx.actor.role >= Role::Admin
}

pub(crate) fn forbidden(detail: &str) -> Fault {
    Fault::new(Code::Forbidden, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_length_counts_characters_not_bytes() {
        assert!(message(&"é".repeat(MAX_MESSAGE_CHARS)).is_ok());
        let e = message(&"é".repeat(MAX_MESSAGE_CHARS + 1)).unwrap_err();
        assert_eq!(
            e.detail,
            "content has 100001 characters, more than the 100000 allowed"
        );
        assert_eq!(message(" \n\t").unwrap_err().detail, "content is empty");
    }
}
