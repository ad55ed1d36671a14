use std::sync::OnceLock;

use ud::Parser;

/// The parser of English with the model in this program, loaded once. `None` only if the model is damaged, which is
/// told in the log.
pub(crate) fn shared() -> Option<&'static Parser> {
    static PARSER: OnceLock<Option<Parser>> = OnceLock::new();
    PARSER
        .get_or_init(|| {
            Parser::embedded()
                .inspect_err(|e| tracing::error!(error = %e, "the parser's model cannot be read"))
                .ok()
        })
        .as_ref()
}
