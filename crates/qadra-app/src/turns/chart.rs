//! The `generate_chart` tool: a declarative ECharts option becomes an artifact of the message.

use qadra_llm::ToolSpec;
use qadra_types::new_id;
use serde_json::{Map, Value, json};

pub(crate) const NAME: &str = "generate_chart";
/// Bytes of an option as JSON.
const MAX_BYTES: usize = 256 * 1024;
const MAX_DEPTH: usize = 24;
/// Options that only make sense as code or fetch something; a declarative chart has none of them.
const FORBIDDEN: [&str; 4] = ["formatter", "renderItem", "image", "link"];

pub(crate) fn tool() -> ToolSpec {
    ToolSpec {
        name: NAME.to_owned(),
        description: "Show a chart to the user beside your answer. Use it when numbers are compared or change over time."
            .to_owned(),
        parameters: json!({
            "type": "object",
            "required": ["chart_name", "chart_config"],
            "properties": {
                "chart_name": {"type": "string", "description": "a short title"},
                "chart_config": {
                    "type": "object",
                    "description": "an Apache ECharts option: series, axes, title, legend; data only, no functions"
                }
            }
        }),
    }
}

/// Reads a call's arguments and makes the artifact. The error says what is wrong in words a model can act on.
pub(crate) fn artifact(arguments: &str) -> Result<Value, String> {
    if arguments.len() > MAX_BYTES + 4096 {
        return Err(format!(
            "the chart is larger than {MAX_BYTES} bytes; aggregate the data"
        ));
    }
    let args: Value = serde_json::from_str(arguments)
        .map_err(|e| format!("the arguments are not valid JSON: {e}"))?;
    let name = args
        .get("chart_name")
        .and_then(Value::as_str)
        .map(str::trim)
        .filter(|n| !n.is_empty());
    let name: String = name
        .ok_or("chart_name is missing")?
        .chars()
        .take(200)
        .collect();
    let config = match args.get("chart_config") {
        // Some models send the option as a string of JSON.
        Some(Value::String(s)) => serde_json::from_str(s)
            .map_err(|e| format!("chart_config is a string that is not valid JSON: {e}"))?,
        Some(v) => v.clone(),
        None => return Err("chart_config is missing".into()),
    };
    let Value::Object(option) = config else {
        return Err("chart_config is not a JSON object".into());
    };
    if !option
        .get("series")
        .is_some_and(|s| s.is_array() || s.is_object())
    {
        return Err("chart_config has no series".into());
    }
    let mut option = Value::Object(option);
    if !clean(&mut option, 0) {
        return Err(format!(
            "chart_config is nested deeper than {MAX_DEPTH} levels"
        ));
    }
    let content = option.to_string();
    if content.len() > MAX_BYTES {
        return Err(format!(
            "the chart is larger than {MAX_BYTES} bytes; aggregate the data"
        ));
    }
    Ok(json!({"id": new_id(), "type": "chart", "name": name, "content": content}))
}

/// Drops what is not data; false when the option is too deep.
fn clean(v: &mut Value, depth: usize) -> bool {
    if depth > MAX_DEPTH {
        return false;
    }
    match v {
        Value::Object(o) => {
            let kept: Map<String, Value> = std::mem::take(o)
                .into_iter()
                .filter(|(k, v)| !FORBIDDEN.contains(&k.as_str()) && data(v))
                .collect();
            *o = kept;
            o.values_mut().all(|v| clean(v, depth + 1))
        }
        Value::Array(a) => a.iter_mut().all(|v| clean(v, depth + 1)),
        _ => true,
    }
}

fn data(v: &Value) -> bool {
    match v {
        Value::String(s) => {
            let s = s.trim_start();
            !(s.starts_with("function")
                || s.starts_with("javascript:")
                || s.starts_with("image://")
                || s.starts_with('(') && s.contains("=>"))
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_becomes_an_artifact_with_json_content() {
        let a = artifact(r#"{"chart_name":" Revenue ","chart_config":{"xAxis":{"data":["A"]},"series":[{"type":"bar","data":[1]}]}}"#)
            .unwrap();
        assert_eq!(
            (a["type"].as_str(), a["name"].as_str()),
            (Some("chart"), Some("Revenue"))
        );
        let option: Value = serde_json::from_str(a["content"].as_str().unwrap()).unwrap();
        assert_eq!(
            option,
            json!({"xAxis": {"data": ["A"]}, "series": [{"type": "bar", "data": [1]}]})
        );
    }

    #[test]
    fn an_option_sent_as_text_is_read_too() {
        let a = artifact(r#"{"chart_name":"x","chart_config":"{\"series\":[]}"}"#).unwrap();
        assert_eq!(a["content"], r#"{"series":[]}"#);
    }

    #[test]
    fn code_and_remote_images_are_dropped() {
        let a = artifact(
            r#"{"chart_name":"x","chart_config":{"tooltip":{"formatter":"<img src=x onerror=alert(1)>"},
               "series":[{"type":"bar","symbol":"image://http://x/y.png","label":"function(){}","data":[1]}]}}"#,
        )
        .unwrap();
        assert_eq!(
            a["content"],
            r#"{"series":[{"data":[1],"type":"bar"}],"tooltip":{}}"#
        );
    }

    #[test]
    fn what_is_no_chart_is_refused_in_words() {
        let deep = format!(
            r#"{{"chart_name":"x","chart_config":{{"series":[],"a":{}1{}}}}}"#,
            "[".repeat(40),
            "]".repeat(40)
        );
        for (args, why) in [
            ("nonsense", "not valid JSON"),
            ("{}", "chart_name is missing"),
            (r#"{"chart_name":"x"}"#, "chart_config is missing"),
            (
                r#"{"chart_name":"x","chart_config":[]}"#,
                "not a JSON object",
            ),
            (r#"{"chart_name":"x","chart_config":{}}"#, "no series"),
            (deep.as_str(), "deeper than"),
        ] {
            let e = artifact(args).unwrap_err();
            assert!(e.contains(why), "{args}: {e}");
        }
        let big = format!(
            r#"{{"chart_name":"x","chart_config":{{"series":["{}"]}}}}"#,
            "x".repeat(MAX_BYTES)
        );
        assert!(artifact(&big).unwrap_err().contains("larger than"));
    }
}
