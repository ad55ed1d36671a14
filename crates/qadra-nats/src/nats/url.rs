use async_nats::ServerAddr;

use crate::BusError;

/// A `QADRA_NATS_URL` taken apart, so that the part that may be logged holds no secret.
pub(super) struct Target {
    pub(super) servers: Vec<ServerAddr>,
    pub(super) shown: String,
    pub(super) credentials: Option<Credentials>,
}

#[derive(PartialEq, Eq)]
pub(super) enum Credentials {
    User { name: String, password: String },
    Token(String),
}

impl Target {
    pub(super) fn parse(urls: &str) -> Result<Self, BusError> {
        let mut clean = Vec::new();
        let mut credentials = None;
        for url in urls.split(',') {
            let server = parse(url.trim())?;
            if credentials.is_none() {
                credentials = Credentials::of(&server);
            }
            let host = match server.host() {
                v6 if v6.contains(':') => format!("[{v6}]"),
                name => name.to_owned(),
            };
            clean.push(format!("{}://{host}:{}", server.scheme(), server.port()));
        }
        let servers = clean
            .iter()
            .map(|url| parse(url))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            servers,
            shown: clean.join(","),
            credentials,
        })
    }
}

impl Credentials {
    fn of(server: &ServerAddr) -> Option<Self> {
        match (server.username(), server.password()) {
            (None, None) => None,
            (Some(token), None) => Some(Self::Token(percent_decode(token))),
            (name, Some(password)) => Some(Self::User {
                name: percent_decode(name.unwrap_or_default()),
                password: percent_decode(password),
            }),
        }
    }
}

fn parse(url: &str) -> Result<ServerAddr, BusError> {
    // The parser's own words never repeat the URL, which may hold a password.
    url.parse()
        .map_err(|e: std::io::Error| BusError::transport("cannot read the broker's URL", e))
}

fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        let hex = tail.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        match hex.and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(value) if byte == b'%' => {
                bytes.push(value);
                rest = tail.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(byte);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_leave_the_url() {
        let user = |name: &str, password: &str| {
            Some(Credentials::User {
                name: name.to_owned(),
                password: password.to_owned(),
            })
        };
        for (url, shown, credentials) in [
            ("nats://localhost", "nats://localhost:4222", None),
            ("10.0.0.1:4333", "nats://10.0.0.1:4333", None),
            ("tls://[::1]:9", "tls://[::1]:9", None),
            (
                "nats://ann:s%40cret%25@h:1",
                "nats://h:1",
                user("ann", "s@cret%"),
            ),
            (
                "nats://t0ken@h",
                "nats://h:4222",
                Some(Credentials::Token("t0ken".to_owned())),
            ),
            (
                "nats://a, nats://ann:x@b:2",
                "nats://a:4222,nats://b:2",
                user("ann", "x"),
            ),
        ] {
            let target = Target::parse(url).unwrap();
            assert_eq!(target.shown, shown);
            assert!(target.credentials == credentials, "{url}");
            assert!(
                target
                    .servers
                    .iter()
                    .all(|server| server.username().is_none() && server.password().is_none())
            );
        }
    }

    #[test]
    fn an_unreadable_url_is_not_repeated() {
        for url in [
            "http://ann:hunter2@h",
            "nats://ann:hunter2@h:99999",
            "nats://ann:hunter2@",
            "",
        ] {
            let Err(error) = Target::parse(url) else {
                panic!("{url} was read")
            };
            let words = format!("{error} {error:?}");
            assert!(!words.contains("hunter2"), "{words}");
        }
    }
}
