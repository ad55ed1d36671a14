use std::io::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use qadra_nats::{
    Bus, BusError, Delivery, Headers, Nats, NatsOptions, Reply, ServeOptions, Subject, serve,
};
use qadra_types::Code;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use crate::bed::{Bed, Kind, SOON, echo, eventually, next, publish, request};
use crate::server::NatsServer;

/// A client that speaks the protocol by hand, so that it can say anything.
async fn speak(bed: &Bed, lines: &[&[u8]]) {
    let port = bed.server.as_ref().unwrap().port();
    let mut socket = BufReader::new(
        tokio::net::TcpStream::connect(("127.0.0.1", port))
            .await
            .unwrap(),
    );
    let mut said = String::new();
    socket.read_line(&mut said).await.unwrap();
    assert!(said.starts_with("INFO "), "{said}");
    socket
        .write_all(b"CONNECT {\"verbose\":false,\"headers\":true,\"no_responders\":true}\r\n")
        .await
        .unwrap();
    for line in lines {
        socket.write_all(line).await.unwrap();
    }
    socket.write_all(b"PING\r\n").await.unwrap();
    said.clear();
    socket.read_line(&mut said).await.unwrap();
    assert_eq!(said, "PONG\r\n");
}

fn hpub(subject: &str, header: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    write!(
        out,
        "HPUB {subject} {} {}\r\n",
        header.len(),
        header.len() + payload.len()
    )
    .unwrap();
    out.extend_from_slice(header);
    out.extend_from_slice(payload);
    out.extend_from_slice(b"\r\n");
    out
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bus_takes_up_again_after_the_broker_restarts() {
    let mut bed = Kind::Nats.start().await;
    let _echo = echo(&bed.other, "echo").await;
    let mut plain = bed.other.subscribe("news").await.unwrap();
    let progress = Subject::progress(qadra_types::new_id());
    let mut stream = bed.other.subscribe(&progress).await.unwrap();
    assert_eq!(request(&bed.bus, "echo", "1").await.unwrap().payload, "1");

    bed.server.as_mut().unwrap().kill();
    eventually("the loss is noticed", async || {
        let sent = bed.bus.publish("news", Headers::new(), "lost".into()).await;
        matches!(sent, Err(BusError::Disconnected))
    })
    .await;
    let error = bed
        .bus
        .request(
            "echo",
            Headers::new(),
            "x".into(),
            Duration::from_millis(20),
        )
        .await
        .unwrap_err();
    assert!(matches!(error, BusError::Disconnected), "{error:?}");
    assert!(error.nothing_ran());
    let patient = tokio::spawn({
        let bus = bed.bus.clone();
        async move { request(&bus, "nobody", "2").await }
    });

    bed.server.as_mut().unwrap().restart();
    // Told without a message having to come first, and only when the subscription is in force again.
    for subscription in [&mut plain, &mut stream] {
        match tokio::time::timeout(SOON, subscription.recv())
            .await
            .unwrap()
        {
            Some(Delivery::Lost(lost)) => assert!(lost > 0),
            other => panic!("{other:?}"),
        }
    }
    assert!(matches!(
        patient.await.unwrap(),
        Err(BusError::NoResponder { .. })
    ));
    bed.bus.ping(SOON).await.unwrap();
    publish(&bed.bus, "news", "again").await;
    publish(&bed.bus, &progress, "token").await;
    // What was on its way when the broker died may come now, or never; what follows does come.
    while next(&mut plain).await.payload != "again" {}
    assert_eq!(next(&mut stream).await.payload, "token");
    assert_eq!(request(&bed.bus, "echo", "3").await.unwrap().payload, "3");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_messages_do_no_harm() {
    let bed = Kind::Nats.start().await;
    let _service = serve(
        bed.other.clone(),
        ServeOptions::new("target.>", "q"),
        async |message: qadra_nats::Message| {
            Reply::ok(json!({"length": message.payload.len(), "headers": message.headers.len()}))
        },
    )
    .await
    .unwrap();
    let mut reader = bed.other.subscribe("target.>").await.unwrap();
    let headers: [&[u8]; 12] = [
        b"NATS/1.0\r\nA: \xff\xfe\r\n\r\n",
        b"NATS/1.0\r\n\xff: x\r\n\r\n",
        b"NATS/1.0\r\nno colon\r\n\r\n",
        b"NATS/1.0\r\n: x\r\n\r\n",
        b"NATS/1.0 abc\r\n\r\n",
        b"NATS/1.0 503\r\n\r\n",
        b"NATS/1.0\r\nA: \x00\x01\r\n\r\n",
        b"NATS/1.0\r\nA: 1\r\nA: 2\r\n\r\n",
        b"NATS/9.9\r\n\r\n",
        b"\r\n",
        b"NATS/1.0\r\nQadra-Object: ../../etc/passwd\r\nQadra-Object-Length: 5\r\n\r\n",
        b"NATS/1.0\r\nQadra-Object: bus/6f1c2d6e-8a52-4b7e-9a58-2f0a6b9f8b11\r\nQadra-Object-Length: -1\r\n\r\n",
    ];
    for header in headers {
        for payload in [&b""[..], b"\xff\xff\x00"] {
            speak(
                &bed,
                &[
                    &hpub("target.a", header, payload),
                    b"PUB target.b 0\r\n\r\n",
                ],
            )
            .await;
            // The client library may drop the connection over a line it cannot read; then it comes back.
            eventually("the service answers", async || {
                let asked = bed
                    .bus
                    .request(
                        "target.c",
                        Headers::new(),
                        "abc".into(),
                        Duration::from_millis(500),
                    )
                    .await;
                asked.is_ok_and(|answer| {
                    &answer.payload[..] == br#"{"ok":{"headers":0,"length":3}}"#
                })
            })
            .await;
        }
    }
    publish(&bed.bus, "target.end", "x").await;
    while &*next(&mut reader).await.subject != "target.end" {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forged_references_are_refused() {
    let bed = Kind::Nats.start().await;
    let _service = serve(
        bed.other.clone(),
        ServeOptions::new("store", "q"),
        async |_| Reply::ok(json!("handled")),
    )
    .await
    .unwrap();
    let mut reader = bed.other.subscribe("store").await.unwrap();
    std::fs::create_dir_all(bed.folder.join("bus")).unwrap();
    let name = "bus/6f1c2d6e-8a52-4b7e-9a58-2f0a6b9f8b11";
    std::fs::write(bed.folder.join(name), "secret").unwrap();
    std::fs::write(bed.folder.join("outside"), "secret").unwrap();
    let client = async_nats::connect(bed.server.as_ref().unwrap().url())
        .await
        .unwrap();
    let right = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
    let mut refused = 0;
    for (path, length, hash, good) in [
        (name, "6", right, true),
        (name, "5", right, false),
        (name, "6", &right.replace('2', "3"), false),
        (name, "67108865", right, false),
        (name, "6", "", false),
        ("bus/../outside", "6", right, false),
        ("outside", "6", right, false),
        (
            "bus/6f1c2d6e-8a52-4b7e-9a58-2f0a6b9f8b12",
            "6",
            right,
            false,
        ),
    ] {
        let mut headers = async_nats::HeaderMap::new();
        headers.insert("Qadra-Object", path);
        headers.insert("Qadra-Object-Length", length);
        headers.insert("Qadra-Object-Sha256", hash);
        let answer = client
            .request_with_headers("store", headers, Bytes::new())
            .await
            .unwrap();
        let answer = Reply::<Value>::from_bytes(&answer.payload).into_result();
        match answer {
            Ok(_) if good => assert_eq!(next(&mut reader).await.payload, "secret"),
            Err(fault) if !good => {
                assert_eq!(fault.code, Code::MalformedRequest);
                assert!(!fault.detail.contains("outside"), "{fault:?}");
                refused += 1;
            }
            other => panic!("{path} {length} {hash}: {other:?}"),
        }
    }
    publish(&bed.bus, "store", "end").await;
    assert_eq!(next(&mut reader).await.payload, "end");
    assert_eq!(reader.lost(), refused);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reply_by_a_reference_that_does_not_hold_is_an_error() {
    let bed = Kind::Nats.start().await;
    let client = async_nats::connect(bed.server.as_ref().unwrap().url())
        .await
        .unwrap();
    let mut requests = client.subscribe("liar").await.unwrap();
    client.flush().await.unwrap();
    tokio::spawn(async move {
        let request = futures::StreamExt::next(&mut requests).await.unwrap();
        let mut headers = async_nats::HeaderMap::new();
        headers.insert("Qadra-Object", "bus/6f1c2d6e-8a52-4b7e-9a58-2f0a6b9f8b11");
        client
            .publish_with_headers(request.reply.unwrap(), headers, Bytes::new())
            .await
            .unwrap();
        client.flush().await.unwrap();
    });
    let mut answer = Err(BusError::Closed);
    eventually("somebody responds", async || {
        answer = request(&bed.bus, "liar", "").await;
        !matches!(answer, Err(BusError::NoResponder { .. }))
    })
    .await;
    assert!(matches!(answer, Err(BusError::Object { .. })), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_go_to_inboxes_only() {
    let bed = Kind::Nats.start().await;
    let handled = Arc::new(tokio::sync::Semaphore::new(0));
    let counter = handled.clone();
    let _service = serve(
        bed.other.clone(),
        ServeOptions::new("qadra.*.chat.do.*", "q"),
        move |_| {
            counter.add_permits(1);
            std::future::ready(Reply::ok(json!("an answer that could pass for a request")))
        },
    )
    .await
    .unwrap();
    let mut everything = bed.bus.subscribe(">").await.unwrap();
    let client = async_nats::connect(bed.server.as_ref().unwrap().url())
        .await
        .unwrap();
    let tenants: [uuid::Uuid; 2] = [qadra_types::new_id(), qadra_types::new_id()];
    let [mine, theirs] = tenants.map(|tenant| Subject::op(tenant, "chat", "delete").unwrap());
    let progress = Subject::progress(tenants[1]);
    for reply in [
        theirs.as_str(),
        progress.as_str(),
        "_CORE.x",
        "INBOX.x",
        "_INBOX",
        "_INBOXES.y",
    ] {
        client
            .publish_with_reply(mine.to_string(), reply.to_owned(), Bytes::new())
            .await
            .unwrap();
    }
    client.flush().await.unwrap();
    tokio::time::timeout(SOON, handled.acquire_many(6))
        .await
        .unwrap()
        .unwrap()
        .forget();
    let answer = client
        .request(mine.to_string(), Bytes::new())
        .await
        .unwrap();
    publish(&bed.bus, "end", "").await;
    let mut heard = Vec::new();
    loop {
        let message = next(&mut everything).await;
        match &*message.subject {
            "end" => break,
            subject => heard.push(subject.to_owned()),
        }
    }
    let elsewhere: Vec<_> = heard
        .iter()
        .filter(|s| **s != *mine && !s.starts_with("_INBOX"))
        .collect();
    assert!(elsewhere.is_empty(), "{elsewhere:?}");
    assert!(heard.contains(&answer.subject.to_string()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropped_bus_ends_its_streams_and_its_connection() {
    let server = NatsServer::start();
    let bus = Nats::connect(&server.url(), NatsOptions::default())
        .await
        .unwrap();
    let other: Arc<dyn Bus> = Arc::new(
        Nats::connect(&server.url(), NatsOptions::default())
            .await
            .unwrap(),
    );
    let mut progress = bus
        .subscribe(&Subject::progress(qadra_types::new_id()))
        .await
        .unwrap();
    let mut plain = bus.subscribe("a").await.unwrap();
    drop(bus);
    for stream in [&mut progress, &mut plain] {
        assert!(
            tokio::time::timeout(SOON, stream.next())
                .await
                .unwrap()
                .is_none()
        );
    }
    drop((progress, plain));
    eventually("nobody subscribes any more", async || {
        let asked = other
            .request(
                "a",
                Headers::new(),
                Bytes::new(),
                Duration::from_millis(200),
            )
            .await;
        matches!(asked, Err(BusError::NoResponder { .. }))
    })
    .await;
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn credentials_come_from_the_url_and_stay_out_of_the_log() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::DEBUG)
        .with_writer(move || writer.clone())
        .finish();
    // For the whole process: one for a thread misses what other tests have switched off before.
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let mut server = NatsServer::with_args(&["--user", "ann", "--pass", "s@cret%1"]);
    let port = server.port();
    let options = NatsOptions {
        send_timeout: Duration::from_secs(2),
        ..NatsOptions::default()
    };
    let good = format!("nats://ann:s%40cret%251@127.0.0.1:{port}");
    let bus = Nats::connect(&good, options.clone()).await.unwrap();
    bus.ping(SOON).await.unwrap();
    for wrong in [
        "nats://ann:s%40cret%252@127.0.0.1",
        "nats://s%40cret%251@127.0.0.1",
        "nats://127.0.0.1",
    ] {
        let error = Nats::connect(&format!("{wrong}:{port}"), options.clone())
            .await
            .err()
            .unwrap();
        let words = format!("{error} {error:?}");
        assert!(!words.contains("cret"), "{words}");
        assert!(
            words.contains(&format!("nats://127.0.0.1:{port}")),
            "{words}"
        );
    }
    server.kill();
    eventually("the loss is noticed", async || {
        bus.publish("a", Headers::new(), Bytes::new())
            .await
            .is_err()
    })
    .await;
    server.restart();
    eventually("the bus is back", async || {
        bus.publish("a", Headers::new(), Bytes::new()).await.is_ok()
    })
    .await;
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("connected to the broker again"), "{log}");
    assert!(!log.contains("cret"), "{log}");
}

#[tokio::test]
async fn unreachable_broker_is_an_error_that_names_it() {
    let mut server = NatsServer::start();
    server.kill();
    let error = Nats::connect(&server.url(), NatsOptions::default())
        .await
        .err()
        .unwrap();
    assert_eq!(
        error.to_string(),
        format!("cannot connect to the broker at {}", server.url())
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn close_ends_while_the_broker_is_away() {
    let mut bed = Kind::Nats.start().await;
    let service = serve(bed.bus.clone(), ServeOptions::new("a", "q"), async |_| {
        Reply::ok(())
    })
    .await
    .unwrap();
    bed.server.as_mut().unwrap().kill();
    tokio::time::timeout(SOON, service.stop(Duration::from_millis(10)))
        .await
        .expect("stop hangs");
    tokio::time::timeout(SOON, bed.bus.close())
        .await
        .expect("close hangs");
}
