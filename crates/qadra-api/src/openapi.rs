use serde_json::{Map, Value, json};

use crate::{Access, Kind, Method, Operation, ParamKind, operations};

/// The OpenAPI 3.1 document of everything in [`operations`].
pub fn openapi() -> Value {
    let mut schemas = Map::new();
    let mut paths: Map<String, Value> = Map::new();
    for o in operations() {
        for t in [o.body, o.reply].into_iter().flatten() {
            let mut found = vec![((t.name)().into_owned(), (t.schema)())];
            (t.nested)(&mut found);
            for (name, schema) in found {
                schemas
                    .entry(name)
                    .or_insert_with(|| serde_json::to_value(schema).unwrap_or_default());
            }
        }
        let method = match o.method {
            Method::Get => "get",
            Method::Post => "post",
            Method::Put => "put",
            Method::Patch => "patch",
            Method::Delete => "delete",
        };
        let entry = paths.entry(o.path).or_insert_with(|| json!({}));
        entry[method] = operation(&o);
    }
    schemas.insert("Problem".into(), problem_schema());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Qadra",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Errors are problem+json with a stable `code`; `docs/errors.md` lists them.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"}
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
                "apiKey": {"type": "apiKey", "in": "header", "name": "X-Api-Key"}
            }
        }
    })
}

fn operation(o: &Operation) -> Value {
    let mut parameters: Vec<Value> = o
        .path_params()
        .map(|name| {
            let schema = match name {
                "version" => json!({"type": "integer", "minimum": 1}),
                "name" => json!({"type": "string"}),
                _ => json!({"type": "string", "format": "uuid"}),
            };
            json!({"name": name, "in": "path", "required": true, "schema": schema})
        })
        .collect();
    if o.kind == Kind::Hook {
        for (name, about) in [
            (
                "X-Qadra-Timestamp",
                "seconds since the epoch, at most 5 minutes off",
            ),
            (
                "X-Qadra-Delivery",
                "an id of this call; the same id starts nothing twice",
            ),
            (
                "X-Qadra-Signature",
                "hex of HMAC-SHA256(secret, \"{timestamp}.{delivery}.{body}\")",
            ),
        ] {
            parameters.push(json!({"name": name, "in": "header", "required": true, "description": about, "schema": {"type": "string"}}));
        }
    }
    if (o.entity, o.op) == ("flow", "execute") {
        parameters.push(json!({"name": "Idempotency-Key", "in": "header", "required": false, "schema": {"type": "string", "maxLength": 200},
            "description": "the same key of the same user and flow starts one execution"}));
    }
    parameters.extend(o.query.iter().map(|p| {
        let schema = match (p.name, p.kind) {
            ("limit", _) => json!({"type": "integer", "minimum": 1, "maximum": 100, "default": 20}),
            (_, ParamKind::Integer) => json!({"type": "integer", "minimum": 0}),
            (_, ParamKind::Boolean) => json!({"type": "boolean"}),
            (_, ParamKind::Text) => json!({"type": "string"}),
        };
        json!({"name": p.name, "in": "query", "description": p.about, "schema": schema})
    }));
    let content = match (o.kind, o.reply) {
        (Kind::Json | Kind::Upload | Kind::Hook, Some(t)) => {
            json!({"application/json": {"schema": reference(&(t.name)())}})
        }
        (Kind::Json | Kind::Upload | Kind::Hook, None) => Value::Null,
        (
            Kind::TurnStream | Kind::AttachStream | Kind::DocumentStream | Kind::ExecutionStream,
            _,
        ) => {
            json!({"text/event-stream": {"schema": {"type": "string"}}})
        }
        (Kind::Download | Kind::File, _) => {
            json!({"application/octet-stream": {"schema": {"type": "string"}}})
        }
    };
    let mut success = json!({"description": o.summary});
    if !content.is_null() {
        success["content"] = content;
    }
    let stream = matches!(o.kind, Kind::TurnStream);
    let mut out = json!({
        "operationId": format!("{}_{}{}", o.entity, o.op, if stream { "_stream" } else { "" }),
        "summary": o.summary,
        "tags": [o.entity],
        "parameters": parameters,
        "responses": {
            o.success.to_string(): success,
            "default": {
                "description": "a problem",
                "content": {"application/problem+json": {"schema": reference("Problem")}}
            }
        }
    });
    if let Some(t) = o.body {
        out["requestBody"] = json!({"required": true, "content": {"application/json": {"schema": reference(&(t.name)())}}});
        if o.kind == Kind::Upload {
            let text = json!({"type": "string"});
            out["requestBody"]["content"]["multipart/form-data"] = json!({"schema": {
                "type": "object", "required": ["file"],
                "properties": {"file": {"type": "string", "format": "binary"}, "title": text, "source_url": text}
            }});
        }
    }
    if let Access::Member(role, scope) = o.access {
        out["security"] = json!([{"bearer": []}, {"apiKey": []}]);
        out["x-role"] = json!(role.as_str());
        out["x-scope"] = json!(scope.as_str());
    }
    out
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

fn problem_schema() -> Value {
    json!({
        "type": "object",
        "required": ["type", "title", "status", "code", "detail", "request_id"],
        "properties": {
            "type": {"type": "string"}, "title": {"type": "string"}, "status": {"type": "integer"},
            "code": {"type": "string", "enum": qadra_types::Code::ALL.iter().map(|c| c.as_str()).collect::<Vec<_>>()},
            "detail": {"type": "string"}, "hint": {"type": "string"},
            "request_id": {"type": "string", "format": "uuid"}
        }
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_reference_of_the_document_resolves() {
        fn walk<'a>(v: &'a Value, found: &mut Vec<&'a str>) {
            match v {
                Value::Object(o) => {
                    if let Some(Value::String(r)) = o.get("$ref") {
                        found.push(r);
                    }
                    o.values().for_each(|v| walk(v, found));
                }
                Value::Array(a) => a.iter().for_each(|v| walk(v, found)),
                _ => {}
            }
        }
        let doc = openapi();
        let mut found = vec![];
        walk(&doc, &mut found);
        assert!(found.len() > 80, "{}", found.len());
        for r in found {
            assert!(
                doc.pointer(r.trim_start_matches('#')).is_some(),
                "{r} does not resolve"
            );
        }
    }

    #[test]
    fn operation_ids_and_routes_are_unique() {
        let doc = openapi();
        let ids: Vec<_> = doc["paths"]
            .as_object()
            .unwrap()
            .values()
            .flat_map(|p| p.as_object().unwrap().values())
            .map(|o| o["operationId"].as_str().unwrap())
            .collect();
        assert_eq!(ids.len(), operations().len());
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
    }

    #[test]
    fn each_list_says_what_it_lists() {
        let doc = openapi();
        for (list, item) in [
            ("AgentList", "Agent"),
            ("ConversationSummaryList", "ConversationSummary"),
        ] {
            let pointer = format!("/components/schemas/{list}/properties/items/items/$ref");
            let found = doc.pointer(&pointer).and_then(Value::as_str);
            assert_eq!(
                found,
                Some(format!("#/components/schemas/{item}").as_str()),
                "{list}"
            );
        }
    }
}
