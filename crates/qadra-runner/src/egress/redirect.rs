//! What becomes of a request that is sent elsewhere (RFC 9110, 15.4).

use reqwest::header::{
    ACCEPT, ACCEPT_LANGUAGE, CONTENT_LANGUAGE, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION,
    USER_AGENT,
};
use reqwest::{Method, Response, StatusCode, Url};

use super::{EgressError, Outgoing};

/// Header that makes repeated requests count once; it says nothing about who sends it.
pub(crate) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Where the answer sends us, if it does.
pub(super) fn target(response: &Response, from: &Url) -> Result<Option<Url>, EgressError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = response.headers().get(LOCATION) else {
        return Ok(None);
    };
    let unreadable = || EgressError::Redirect("its target is not an address".to_owned());
    let location = std::str::from_utf8(location.as_bytes()).map_err(|_| unreadable())?;
    from.join(location).map(Some).map_err(|_| unreadable())
}

/// The request for the next hop.
pub(super) fn follow(
    mut request: Outgoing,
    status: StatusCode,
    target: Url,
) -> Result<Outgoing, EgressError> {
    let becomes_get = match status.as_u16() {
        303 => request.method != Method::HEAD,
        // As every client does, and the RFC allows.
        301 | 302 => request.method == Method::POST,
        _ => false,
    };
    if becomes_get {
        request.method = Method::GET;
        request.body = None;
        request.sensitive_body = false;
        let described: Vec<HeaderName> = request
            .headers
            .keys()
            .filter(|name| name.as_str().starts_with("content-"))
            .cloned()
            .collect();
        for name in described {
            request.headers.remove(name);
        }
    }
    if request.url.origin() != target.origin() {
        if request.sensitive_body && request.body.is_some() {
            return Err(EgressError::Redirect(
                "it would send a secret to another origin".to_owned(),
            ));
        }
        request.headers = harmless(&request.headers);
    }
    request.url = target;
    Ok(request)
}

/// The headers that another origin may see. Any other one may be a credential, whatever it is called.
fn harmless(headers: &HeaderMap) -> HeaderMap {
    const HARMLESS: [HeaderName; 6] = [
        ACCEPT,
        ACCEPT_LANGUAGE,
        CONTENT_LANGUAGE,
        CONTENT_TYPE,
        USER_AGENT,
        IDEMPOTENCY_KEY,
    ];
    headers
        .iter()
        .filter(|(name, value)| HARMLESS.contains(name) && !value.is_sensitive())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderValue;

    fn request(method: Method) -> Outgoing {
        let mut request = Outgoing::new(method, Url::parse("https://a.example/x").unwrap());
        for (name, value) in [
            ("accept", "*/*"),
            ("authorization", "Bearer t"),
            ("x-api-key", "k"),
            ("cookie", "c=1"),
            ("content-type", "text/plain"),
            ("idempotency-key", "1"),
        ] {
            request
                .headers
                .insert(name, HeaderValue::from_static(value));
        }
        request.body = Some(b"body".to_vec());
        request
    }

    fn followed(method: Method, status: u16, target: &str) -> Outgoing {
        let status = StatusCode::from_u16(status).unwrap();
        follow(request(method), status, Url::parse(target).unwrap()).unwrap()
    }

    fn names(request: &Outgoing) -> Vec<&str> {
        let mut names: Vec<&str> = request.headers.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn methods_and_bodies_follow_the_rfc() {
        let same = "https://a.example/y";
        for (method, status, expected, has_body) in [
            (Method::POST, 301, Method::GET, false),
            (Method::POST, 302, Method::GET, false),
            (Method::PUT, 301, Method::PUT, true),
            (Method::PUT, 303, Method::GET, false),
            (Method::HEAD, 303, Method::HEAD, true),
            (Method::POST, 307, Method::POST, true),
            (Method::DELETE, 308, Method::DELETE, true),
        ] {
            let next = followed(method.clone(), status, same);
            assert_eq!(
                (&next.method, next.body.is_some()),
                (&expected, has_body),
                "{method} {status}"
            );
            assert_eq!(
                next.headers.contains_key(CONTENT_TYPE),
                has_body,
                "{method} {status}"
            );
            assert!(next.headers.contains_key("authorization"));
        }
    }

    #[test]
    fn credentials_stay_with_their_origin() {
        for target in [
            "https://b.example/",
            "http://a.example/x",
            "https://a.example:8443/",
        ] {
            let next = followed(Method::POST, 307, target);
            assert_eq!(
                names(&next),
                ["accept", "content-type", "idempotency-key"],
                "{target}"
            );
        }
    }

    #[test]
    fn what_is_secret_stays_with_its_origin() {
        let mut secret = request(Method::POST);
        let mut value = HeaderValue::from_static("s3cret");
        value.set_sensitive(true);
        secret.headers.insert("accept", value);
        let elsewhere = Url::parse("https://b.example/").unwrap();
        let next = follow(secret.clone(), StatusCode::FOUND, elsewhere.clone()).unwrap();
        assert_eq!(names(&next), ["idempotency-key"]);
        secret.sensitive_body = true;
        assert!(follow(secret.clone(), StatusCode::FOUND, elsewhere.clone()).is_ok());
        let refused = follow(secret, StatusCode::TEMPORARY_REDIRECT, elsewhere).unwrap_err();
        assert_eq!(refused.code(), "redirect");
    }
}
