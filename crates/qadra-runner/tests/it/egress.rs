//! The way out, over real connections.

use std::collections::HashSet;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use futures::StreamExt;
use qadra_runner::egress::{
    AllowList, Egress, EgressError, EgressOptions, Outgoing, SystemResolver,
};
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Method, Url};

use crate::web::{Names, Web, answer, egress, egress_with, redirect};

const CORPUS: &str = include_str!("../corpus/ssrf.txt");

fn corpus(port: u16) -> Vec<String> {
    CORPUS
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.replace("{port}", &port.to_string()))
        .collect()
}

/// What a hostile name server says to the names of the corpus.
fn hostile() -> Names {
    Names::default()
        .with("inside.attack.example", &[&["127.0.0.1"]])
        .with("inside6.attack.example", &[&["::1"]])
        .with("mapped.attack.example", &[&["::ffff:127.0.0.1"]])
        .with("nat64.attack.example", &[&["64:ff9b::7f00:1"]])
        .with("private.attack.example", &[&["10.0.0.1"]])
        .with("metadata.attack.example", &[&["169.254.169.254"]])
        .with("mixed.attack.example", &[&["93.184.215.14", "127.0.0.1"]])
        .with("mixed6.attack.example", &[&["2606:4700::1111", "::1"]])
        .with(
            "rebind.attack.example",
            &[&["127.0.0.1"], &["93.184.215.14"], &["127.0.0.1"]],
        )
        .with("flip.attack.example", &[&["0.0.0.0"], &["127.0.0.1"]])
        .with("empty.attack.example", &[&[]])
        .with("127.0.0.1.nip.example", &[&["127.0.0.1"]])
        .with("0x7f000001.attack.example", &[&["127.0.0.1"]])
        .with("1.0.0.127.in-addr.attack.example", &[&["127.0.0.1"]])
        .with("localhost", &[&["127.0.0.1", "::1"]])
        .with("localhost.", &[&["127.0.0.1", "::1"]])
        .with("localhost.localdomain", &[&["127.0.0.1"]])
        .with("ip6-localhost", &[&["::1"]])
        .with("ip6-loopback", &[&["::1"]])
        .with("sub.localhost", &[&["127.0.0.1"]])
        .with("a.b.localhost", &[&["127.0.0.1"]])
}

/// Waits on one port of both loopback addresses.
async fn inside() -> (Web, Web) {
    for _ in 0..50 {
        let v4 = Web::start(|_| answer(200, &[], "inside")).await;
        let port = v4.address.port();
        if tokio::net::TcpListener::bind(("::1", port)).await.is_ok() {
            let v6 = Web::at(&format!("[::1]:{port}"), |_| answer(200, &[], "inside")).await;
            return (v4, v6);
        }
    }
    panic!("no port is free on both loopback addresses");
}

fn short() -> EgressOptions {
    EgressOptions {
        total: Duration::from_secs(3),
        connect: Duration::from_secs(1),
        ..EgressOptions::default()
    }
}

fn get(url: &str) -> Outgoing {
    Outgoing::new(Method::GET, Url::parse(url).unwrap())
}

/// Asks every URL, and returns how many were refused before anything was sent, and those that were answered.
async fn ask_all(egress: &Egress, urls: Vec<String>) -> (usize, Vec<String>) {
    let asked = futures::stream::iter(urls.into_iter().map(async |url| {
        let Ok(parsed) = Url::parse(url.trim()) else {
            return (true, None);
        };
        match egress.send(Outgoing::new(Method::GET, parsed)).await {
            Ok(_) => (false, Some(url)),
            Err(EgressError::Blocked(_) | EgressError::Url(_)) => (true, None),
            Err(_) => (false, None),
        }
    }));
    let mut results = asked.buffer_unordered(32);
    let (mut refused, mut answered) = (0, Vec::new());
    while let Some((no, yes)) = results.next().await {
        refused += usize::from(no);
        answered.extend(yes);
    }
    (refused, answered)
}

#[tokio::test]
async fn nothing_of_the_corpus_reaches_an_inside_listener() {
    let (v4, v6) = inside().await;
    let urls = corpus(v4.address.port());
    let distinct: HashSet<&String> = urls.iter().collect();
    assert!(distinct.len() >= 200, "{}", distinct.len());
    let egress = egress_with("", Arc::new(hostile()), short());
    // Twice, so that answers which change have done so.
    for _ in 0..2 {
        let (_, answered) = ask_all(&egress, urls.clone()).await;
        assert_eq!(answered, Vec::<String>::new());
    }
    assert_eq!((v4.connections(), v6.connections()), (0, 0));
}

/// Without the check the same corpus does reach the listener, so the test above would notice.
#[tokio::test]
async fn the_corpus_is_sharp() {
    let (v4, v6) = inside().await;
    let names = Arc::new(hostile());
    let open = egress_with("0.0.0.0/0 ::/0", names, short());
    let (refused, answered) = ask_all(&open, corpus(v4.address.port())).await;
    println!(
        "{} answered, {refused} refused by form, {} + {} connections",
        answered.len(),
        v4.connections(),
        v6.connections()
    );
    assert!(answered.len() >= 80, "{} {answered:?}", answered.len());
    assert!(v4.connections() > 0 && v6.connections() > 0);
}

#[tokio::test]
async fn nothing_of_the_corpus_is_reached_through_a_redirect() {
    let (v4, v6) = inside().await;
    let urls = corpus(v4.address.port());
    let count = urls.len();
    let targets = urls.clone();
    // Stands in for a server of the public internet.
    let outside = Web::at("127.0.0.2:0", move |asked| {
        let at: usize = asked.target.trim_start_matches('/').parse().unwrap();
        redirect([301, 302, 303, 307, 308][at % 5], targets[at].trim())
    })
    .await;
    let egress = egress_with(&outside.address.to_string(), Arc::new(hostile()), short());
    let starts = (0..count)
        .map(|at| outside.url(&format!("/{at}")))
        .collect();
    let (_, answered) = ask_all(&egress, starts).await;
    // A target without a scheme is a path of the server itself, which answers by redirecting in circles or not at all.
    assert_eq!(answered, Vec::<String>::new());
    assert_eq!((v4.connections(), v6.connections()), (0, 0));
    assert!(
        outside.asked().len() >= count - 1,
        "{}",
        outside.asked().len()
    );
}

#[tokio::test]
async fn an_answer_that_changes_later_changes_nothing() {
    let (v4, v6) = inside().await;
    let port = v4.address.port();
    let outside = Web::at(&format!("127.0.0.2:{port}"), |_| {
        answer(200, &[("connection", "close")], "outside")
    })
    .await;
    // Fit to be seen at first, the inside from then on; and the other way round.
    let names = Arc::new(
        Names::default()
            .with("good-first.example", &[&["127.0.0.2"], &["127.0.0.1"]])
            .with("bad-first.example", &[&["::1"], &["127.0.0.2"]]),
    );
    let egress = egress_with("127.0.0.2", names.clone(), short());
    let ask = async |host: &str| egress.send(get(&format!("http://{host}:{port}/"))).await;
    assert_eq!(ask("good-first.example").await.unwrap().body, b"outside");
    assert_eq!(
        names.lookups.lock().unwrap()["good-first.example"],
        1,
        "one look-up for one connection"
    );
    for _ in 0..3 {
        assert_eq!(
            ask("good-first.example").await.unwrap_err().code(),
            "blocked_address"
        );
    }
    assert_eq!(
        ask("bad-first.example").await.unwrap_err().code(),
        "blocked_address"
    );
    assert_eq!(ask("bad-first.example").await.unwrap().body, b"outside");
    assert_eq!(
        (v4.connections(), v6.connections(), outside.connections()),
        (0, 0, 2)
    );
}

#[tokio::test]
async fn one_inside_answer_among_others_refuses_the_name() {
    let (v4, _v6) = inside().await;
    let port = v4.address.port();
    let outside = Web::at(&format!("127.0.0.2:{port}"), |_| {
        answer(200, &[], "outside")
    })
    .await;
    let names = Arc::new(Names::default().with("mixed.example", &[&["127.0.0.2", "127.0.0.1"]]));
    let egress = egress_with("127.0.0.2", names, short());
    let refused = egress
        .send(get(&format!("http://mixed.example:{port}/")))
        .await
        .unwrap_err();
    assert_eq!(refused.code(), "blocked_address");
    assert!(!refused.to_string().contains("127.0.0.1"), "{refused}");
    assert_eq!((v4.connections(), outside.connections()), (0, 0));
}

#[tokio::test]
async fn the_machines_own_names_are_refused_too() {
    let web = Web::start(|_| answer(200, &[], "inside")).await;
    let egress = Egress::new(AllowList::default(), Arc::new(SystemResolver), short()).unwrap();
    let url = format!("http://localhost:{}/", web.address.port());
    assert_eq!(
        egress.send(get(&url)).await.unwrap_err().code(),
        "blocked_address"
    );
    assert_eq!(web.connections(), 0);
}

#[tokio::test]
async fn the_operator_can_allow_hosts_ports_and_networks() {
    let web = Web::start(|_| answer(200, &[], "here")).await;
    let other = Web::start(|_| answer(200, &[], "there")).await;
    let (port, other_port) = (web.address.port(), other.address.port());
    let names = || {
        let names = Names::default().with("wiki.internal", &[&["127.0.0.1"]]);
        Arc::new(
            names
                .with("other.internal", &[&["127.0.0.1"]])
                .with("meta.internal", &[&["169.254.169.254"]]),
        )
    };
    for (allow, url, reached) in [
        ("127.0.0.1", format!("http://127.0.0.1:{port}/"), true),
        ("127.0.0.0/8", format!("http://2130706433:{port}/"), true),
        ("127.0.0.0/8", format!("http://wiki.internal:{port}/"), true),
        (
            &format!("127.0.0.1:{port}"),
            format!("http://wiki.internal:{port}/"),
            true,
        ),
        (
            &format!("127.0.0.1:{port}"),
            format!("http://127.0.0.1:{port}/"),
            true,
        ),
        (
            &format!("127.0.0.1:{port}"),
            format!("http://127.0.0.1:{other_port}/"),
            false,
        ),
        (
            &format!("127.0.0.1:{port}"),
            format!("http://wiki.internal:{other_port}/"),
            false,
        ),
        (
            "wiki.internal",
            format!("http://wiki.internal:{port}/"),
            true,
        ),
        (
            "wiki.internal",
            format!("http://WIKI.internal.:{port}/"),
            false,
        ),
        (
            "wiki.internal",
            format!("http://other.internal:{port}/"),
            false,
        ),
        ("wiki.internal", format!("http://127.0.0.1:{port}/"), false),
        (
            &format!("wiki.internal:{port}"),
            format!("http://wiki.internal:{port}/"),
            true,
        ),
        (
            &format!("wiki.internal:{port}"),
            format!("http://wiki.internal:{other_port}/"),
            false,
        ),
        ("10.0.0.0/8", format!("http://127.0.0.1:{port}/"), false),
        ("meta.internal", "http://meta.internal/".to_owned(), false),
        (
            "169.254.0.0/16",
            "http://169.254.169.254/".to_owned(),
            false,
        ),
    ] {
        let egress = egress_with(allow, names(), short());
        let answered = egress.send(get(&url)).await;
        assert_eq!(
            answered.is_ok(),
            reached,
            "{allow:?} and {url}: {answered:?}"
        );
    }
}

#[tokio::test]
async fn redirects_follow_the_rfc_and_leave_credentials_behind() {
    let elsewhere = Web::start(|_| answer(200, &[], "arrived")).await;
    let target = elsewhere.url("/end");
    let web = Web::start(move |asked| match asked.target.as_str() {
        "/same" => redirect(307, "/same-end"),
        "/away" => redirect(308, &target),
        "/seen" => redirect(303, &target),
        "/round" => redirect(302, "/round"),
        "/nowhere" => answer(302, &[], "no target"),
        _ => answer(200, &[], "stayed"),
    })
    .await;
    let egress = egress("127.0.0.1");
    let ask = async |path: &str, sensitive: bool| {
        let mut request = get(&web.url(path));
        request.method = Method::POST;
        for (name, value) in [
            ("authorization", "Bearer t"),
            ("x-key", "k"),
            ("content-type", "text/plain"),
            ("accept", "x/y"),
        ] {
            request.headers.insert(
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            );
        }
        request.body = Some(b"payload".to_vec());
        request.sensitive_body = sensitive;
        egress.send(request).await
    };
    assert_eq!(ask("/same", true).await.unwrap().body, b"stayed");
    let stayed = web.asked().pop().unwrap();
    assert_eq!(
        (
            stayed.method.as_str(),
            stayed.target.as_str(),
            stayed.body.as_str()
        ),
        ("POST", "/same-end", "payload")
    );
    assert_eq!(stayed.header("authorization"), Some("Bearer t"));

    assert_eq!(
        ask("/away", false).await.unwrap().url.as_str(),
        elsewhere.url("/end")
    );
    let away = elsewhere.asked().pop().unwrap();
    assert_eq!(
        (away.method.as_str(), away.body.as_str()),
        ("POST", "payload")
    );
    assert_eq!(
        (away.header("authorization"), away.header("x-key")),
        (None, None)
    );
    assert_eq!(
        (
            away.header("accept"),
            away.header("referer"),
            away.header("cookie")
        ),
        (Some("x/y"), None, None)
    );

    assert_eq!(ask("/away", true).await.unwrap_err().code(), "redirect");
    assert_eq!(ask("/seen", true).await.unwrap().body, b"arrived");
    let seen = elsewhere.asked().pop().unwrap();
    assert_eq!(
        (
            seen.method.as_str(),
            seen.body.as_str(),
            seen.header("content-type")
        ),
        ("GET", "", None)
    );
    assert_eq!(elsewhere.asked().len(), 2);

    assert_eq!(ask("/nowhere", false).await.unwrap().status, 302);
    let before = web.asked().len();
    assert_eq!(ask("/round", false).await.unwrap_err().code(), "redirect");
    assert_eq!(web.asked().len() - before, 6, "the first and five more");
}

fn packed(bytes: &[u8], zlib: bool) -> Vec<u8> {
    match zlib {
        true => {
            let mut out = ZlibEncoder::new(Vec::new(), Compression::best());
            out.write_all(bytes).unwrap();
            out.finish().unwrap()
        }
        false => {
            let mut out = GzEncoder::new(Vec::new(), Compression::best());
            out.write_all(bytes).unwrap();
            out.finish().unwrap()
        }
    }
}

#[tokio::test]
async fn bodies_are_unpacked_and_bounded_on_both_sides() {
    const LIMIT: usize = 64 << 10;
    let just = vec![b'x'; LIMIT];
    let over = vec![b'x'; LIMIT + 1];
    let web = Web::start(move |asked| match asked.target.as_str() {
        "/plain" => answer(200, &[], &just),
        "/over" => answer(200, &[], &over),
        "/gzip" => answer(200, &[("content-encoding", "gzip")], packed(&just, false)),
        "/zlib" => answer(200, &[("content-encoding", "deflate")], packed(&just, true)),
        "/bomb" => answer(200, &[("content-encoding", "gzip")], packed(&over, false)),
        "/damaged" => answer(200, &[("content-encoding", "gzip")], "no gzip"),
        "/cut" => answer(
            200,
            &[("content-encoding", "gzip")],
            &packed(&just, false)[..40],
        ),
        "/brotli" => answer(200, &[("content-encoding", "br")], "x"),
        // No length, and no end: closed only by us.
        "/endless" => [&b"HTTP/1.1 200 X\r\n\r\n"[..], &vec![b'x'; 1 << 20]].concat(),
        "/head" => answer(200, &[("x-long", &"y".repeat(5_000))], ""),
        "/lines" => {
            let lines: Vec<String> = (0..150).map(|n| format!("x-{n}")).collect();
            let lines: Vec<(&str, &str)> = lines.iter().map(|n| (n.as_str(), "1")).collect();
            answer(200, &lines, "")
        }
        _ => answer(
            200,
            &[],
            asked.header("accept-encoding").unwrap_or_default(),
        ),
    })
    .await;
    let options = EgressOptions {
        body: LIMIT,
        headers: 4_000,
        ..short()
    };
    let egress = egress_with("127.0.0.1", Arc::default(), options);
    let ask = async |path: &str| egress.send(get(&web.url(path))).await;
    for path in ["/plain", "/gzip", "/zlib"] {
        assert_eq!(ask(path).await.unwrap().body.len(), LIMIT, "{path}");
    }
    for (path, code) in [
        ("/over", "too_large"),
        ("/bomb", "too_large"),
        ("/endless", "too_large"),
        ("/head", "too_large"),
        ("/damaged", "bad_response"),
        ("/cut", "bad_response"),
        ("/brotli", "bad_response"),
    ] {
        assert_eq!(ask(path).await.unwrap_err().code(), code, "{path}");
    }
    assert!(ask("/lines").await.is_err());
    assert_eq!(ask("/").await.unwrap().body, b"gzip, deflate");
}

#[tokio::test]
async fn time_is_bounded_over_all() {
    let web = Web::start(|asked| match asked.target.as_str() {
        // The head comes, the body does not.
        "/half" => b"HTTP/1.1 200 X\r\ncontent-length: 5\r\n\r\nab".to_vec(),
        _ => Vec::new(),
    })
    .await;
    let options = EgressOptions {
        total: Duration::from_millis(300),
        ..short()
    };
    let egress = egress_with("127.0.0.1", Arc::default(), options);
    for path in ["/", "/half"] {
        let late = egress.send(get(&web.url(path))).await.unwrap_err();
        assert_eq!((late.code(), late.retryable()), ("timeout", true), "{path}");
    }
}

#[tokio::test]
async fn failures_say_what_happened_and_keep_the_address_to_themselves() {
    let port = {
        let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        free.local_addr().unwrap().port()
    };
    let egress = egress("127.0.0.1");
    let refused = egress
        .send(get(&format!("http://127.0.0.1:{port}/?key=s3cret")))
        .await
        .unwrap_err();
    assert_eq!((refused.code(), refused.retryable()), ("connection", true));
    assert!(!refused.to_string().contains("s3cret"), "{refused}");
    let unknown = egress
        .send(get("http://no-such-name.example/"))
        .await
        .unwrap_err();
    assert_eq!(unknown.code(), "connection");
}
