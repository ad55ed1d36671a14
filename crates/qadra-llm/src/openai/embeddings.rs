use futures::StreamExt;
use reqwest::Url;
use serde::Deserialize;
use serde_json::json;

use crate::http::{Http, refusal, transport_error};
use crate::retry::delay_before_next;
use crate::{Embeddings, LlmError, Phase, Usage, estimate_tokens};

/// Asks OpenAI's `embeddings`, with the retries that a chat has before its first token.
pub(super) async fn embed(
    http: &Http,
    url: &Url,
    texts: &[String],
    model: &str,
) -> Result<Embeddings, LlmError> {
    if model.is_empty() {
        return Err(LlmError::Config("no embedding model is named".to_owned()));
    }
    let body = json!({"model": model, "input": texts, "encoding_format": "float"}).to_string();
    let mut made = 0;
    loop {
        let attempt = tokio::time::timeout(
            http.options.first_byte_timeout,
            once(http, url, body.clone()),
        );
        let error = match attempt.await {
            Ok(Ok(answer)) => return read(answer, texts),
            Ok(Err(error)) => error,
            Err(_) => LlmError::Timeout {
                phase: Phase::FirstByte,
            },
        };
        made += 1;
        let Some(delay) = delay_before_next(&http.options, made, &error, rand::random::<f64>())
        else {
            return Err(match &http.key {
                Some(key) => error.scrubbed(key),
                None => error,
            });
        };
        tokio::time::sleep(delay).await;
    }
}

async fn once(http: &Http, url: &Url, body: String) -> Result<Answer, LlmError> {
    let response = http
        .client
        .post(url.clone())
        .headers(http.headers.clone())
        .body(body)
        .send()
        .await
        .map_err(transport_error)?;
    if !response.status().is_success() {
        return Err(refusal(response).await);
    }
    let mut bytes = Vec::new();
    let mut stream = response.bytes_stream();
    while let Some(chunk) = stream.next().await {
        bytes.extend_from_slice(&chunk.map_err(transport_error)?);
        if bytes.len() > http.options.limits.body {
            return Err(odd("the answer is too long"));
        }
    }
    serde_json::from_slice(&bytes).map_err(|_| odd("the answer has not the form of embeddings"))
}

fn read(answer: Answer, texts: &[String]) -> Result<Embeddings, LlmError> {
    let mut data = answer.data;
    // The order is told, and not by the order of arrival.
    data.sort_by_key(|d| d.index);
    let vectors: Vec<Vec<f32>> = data.into_iter().map(|d| d.embedding).collect();
    let even = vectors
        .windows(2)
        .all(|w| matches!(w, [a, b] if a.len() == b.len()));
    if vectors.len() != texts.len() || !even || vectors.iter().any(Vec::is_empty) {
        return Err(odd("there is not one vector of one length for each text"));
    }
    let told = answer
        .usage
        .and_then(|u| u.prompt_tokens.or(u.total_tokens));
    Ok(Embeddings {
        vectors,
        usage: Usage {
            prompt_tokens: told.unwrap_or_else(|| texts.iter().map(|t| estimate_tokens(t)).sum()),
            completion_tokens: 0,
            estimated: told.is_none(),
        },
    })
}

fn odd(what: &str) -> LlmError {
    LlmError::Malformed {
        message: what.to_owned(),
    }
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Datum>,
    #[serde(default)]
    usage: Option<Told>,
}

#[derive(Deserialize)]
struct Datum {
    #[serde(default)]
    index: usize,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct Told {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    total_tokens: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(body: serde_json::Value, texts: &[&str]) -> Result<Embeddings, LlmError> {
        let texts: Vec<String> = texts.iter().map(|t| (*t).to_owned()).collect();
        read(serde_json::from_value(body).unwrap(), &texts)
    }

    #[test]
    fn vectors_come_in_the_order_of_the_texts() {
        let body = json!({"data": [
            {"index": 1, "embedding": [0.0, 1.0]}, {"index": 0, "embedding": [1.0, 0.0]}
        ], "usage": {"prompt_tokens": 3, "total_tokens": 3}});
        let got = answered(body, &["a", "b"]).unwrap();
        assert_eq!(got.vectors, [[1.0, 0.0], [0.0, 1.0]]);
        assert_eq!((got.usage.prompt_tokens, got.usage.estimated), (3, false));
    }

    #[test]
    fn what_is_missing_or_uneven_is_refused() {
        for data in [
            json!([]),
            json!([{"embedding": [1.0]}]),
            json!([{"embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}]),
            json!([{"embedding": []}, {"index": 1, "embedding": []}]),
        ] {
            let answer = answered(json!({"data": data}), &["a", "b"]);
            assert!(
                matches!(answer, Err(LlmError::Malformed { .. })),
                "{answer:?}"
            );
        }
    }
}
