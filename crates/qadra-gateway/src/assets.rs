use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use rust_embed::RustEmbed;

/// The web UI as built into `web/dist`.
#[derive(RustEmbed)]
#[folder = "../../web/dist"]
struct Dist;

const NOT_BUILT: &str = "<!doctype html><meta charset=utf-8><title>Qadra</title><p>The web UI is not part of this \
    build. Run <code>make web</code> and build again. The API is at <a href=/api/openapi.json>/api/openapi.json</a>.";

/// The page or asset at `path`; pages of the single-page app have no extension and all get `index.html`.
pub(crate) fn asset(path: &str, headers: &HeaderMap) -> Response {
    let name = path.trim_start_matches('/');
    let last = name.rsplit('/').next().unwrap_or_default();
    let (name, file) = match Dist::get(name) {
        Some(file) => (name, file),
        None if last.contains('.') => return StatusCode::NOT_FOUND.into_response(),
        None => match Dist::get("index.html") {
            Some(file) => ("index.html", file),
            None => return Html(NOT_BUILT).into_response(),
        },
    };
    let hash: String = file
        .metadata
        .sha256_hash()
        .iter()
        .take(16)
        .map(|b| format!("{b:02x}"))
        .collect();
    let etag = format!("\"{hash}\"");
    if headers
        .get(header::IF_NONE_MATCH)
        .is_some_and(|v| v.as_bytes() == etag.as_bytes())
    {
        return StatusCode::NOT_MODIFIED.into_response();
    }
    // Vite puts a content hash into the names below assets/, so those never change.
    let cache = if name.starts_with("assets/") {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    let mut response = Response::new(Body::from(file.data));
    let out = response.headers_mut();
    out.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static(content_type(name)),
    );
    out.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    if let Ok(etag) = HeaderValue::from_str(&etag) {
        out.insert(header::ETAG, etag);
    }
    response
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "webmanifest" => "application/manifest+json",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
