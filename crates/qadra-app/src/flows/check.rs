//! Whether a graph can run, and whether a value fits a schema.

use std::sync::Arc;

use jsonschema::PatternOptions;
use qadra_api::{FlowFinding, FlowFindings};
use qadra_flow::{Finding, Graph, Severity, validate};
use qadra_types::{Code, Fault};
use serde_json::{Value, json};

/// Failures of one value that are told.
const MAX_FAILURES: usize = 20;

pub(super) fn findings(flow_data: &Value) -> FlowFindings {
    let (errors, warnings): (Vec<_>, Vec<_>) = validate(flow_data)
        .into_iter()
        .partition(|f| f.severity == Severity::Error);
    FlowFindings {
        valid: errors.is_empty(),
        errors: errors.into_iter().map(finding).collect(),
        warnings: warnings.into_iter().map(finding).collect(),
    }
}

/// The graph, or what keeps it from running.
pub(super) fn compiled(flow_data: &Value) -> Result<Arc<Graph>, Fault> {
    let refused = |message: String, findings: Vec<Value>| {
        let mut fault = Fault::new(Code::FlowInvalid, message)
            .hint("mend the flow; POST /api/flows/validate tells what is wrong with it");
        fault.findings = findings;
        fault
    };
    let found = findings(flow_data);
    if let Some(first) = found.errors.first() {
        let message = match found.errors.len() {
            1 => first.message.clone(),
            n => format!("{} (and {} more)", first.message, n - 1),
        };
        return Err(refused(
            message,
            found.errors.iter().map(|f| json!(f)).collect(),
        ));
    }
    Graph::compile(flow_data)
        .map(Arc::new)
        .map_err(|e| refused(e.to_string(), Vec::new()))
}

fn finding(f: Finding) -> FlowFinding {
    FlowFinding {
        severity: match f.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
        .into(),
        code: f.code.into(),
        node_id: f.node_id,
        edge_id: f.edge_id,
        message: f.message,
    }
}

/// Checks `value` against a JSON Schema of the flow's author; what is no schema at all lets everything through. A schema refers to nothing outside itself, and its patterns run in linear time.
pub(super) fn fits(schema: &Value, value: &Value, what: &str) -> Result<(), Fault> {
    if !schema.is_object() && !schema.is_boolean() {
        return Ok(());
    }
    let validator = jsonschema::options()
        .with_pattern_options(PatternOptions::regex())
        .build(schema)
        .map_err(|e| {
            Fault::new(
                Code::FlowInvalid,
                format!("the schema of {what} cannot be used: {e}"),
            )
        })?;
    let failures: Vec<Value> = validator
        .iter_errors(value)
        .take(MAX_FAILURES)
        .map(|e| json!({"path": e.instance_path().to_string(), "message": shortened(&e.to_string())}))
        .collect();
    let Some(first) = failures.first() else {
        return Ok(());
    };
    let text = |key: &str| first[key].as_str().unwrap_or_default().to_owned();
    let place = match text("path").as_str() {
        "" => String::new(),
        path => format!(" at {path}"),
    };
    let mut fault = Fault::new(
        Code::FlowInputInvalid,
        format!("{what} does not fit{place}: {}", text("message")),
    );
    fault.findings = failures;
    Err(fault)
}

/// A message may quote the whole value.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(300) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_does_not_fit_is_told_where() {
        let schema = json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer", "maximum": 9}}});
        assert!(fits(&schema, &json!({"n": 3}), "the input").is_ok());
        let f = fits(&schema, &json!({"n": 30}), "the input").unwrap_err();
        assert_eq!(f.code, Code::FlowInputInvalid);
        assert_eq!(f.findings[0]["path"], "/n");
        let f = fits(&schema, &json!("x".repeat(5000)), "the input").unwrap_err();
        assert!(f.detail.len() < 1000, "{}", f.detail.len());
        assert!(fits(&Value::Null, &json!(1), "the input").is_ok());
    }

    #[test]
    fn a_schema_reaches_nothing_outside_itself() {
        for outside in ["http://127.0.0.1:9/x", "file:///etc/passwd"] {
            let f = fits(&json!({"$ref": outside}), &json!(1), "the input").unwrap_err();
            assert_eq!(f.code, Code::FlowInvalid);
        }
    }

    #[test]
    fn a_pattern_made_to_be_slow_is_not() {
        let schema = json!({"type": "string", "pattern": "^(a+)+$"});
        let started = std::time::Instant::now();
        assert!(
            fits(
                &schema,
                &json!(format!("{}!", "a".repeat(20_000))),
                "the input"
            )
            .is_err()
        );
        assert!(started.elapsed().as_secs() < 5);
    }
}
