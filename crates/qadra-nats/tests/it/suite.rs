use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use qadra_nats::{BusError, Delivery, Headers, Pending, Subject};
use tokio::sync::mpsc;

use crate::bed::{Kind, SOON, Setup, echo, eventually, next, on_both_transports, publish, request};

on_both_transports!(
    request_gets_its_reply,
    concurrent_requests_get_their_own_replies,
    first_reply_counts,
    publishing_to_nobody_is_no_error,
    no_responder_is_told_at_once,
    unanswered_request_times_out,
    dropped_request_is_noticed,
    queue_group_shares_the_work,
    groups_of_one_name_are_one_group_across_patterns,
    fan_out_reaches_every_subscriber,
    wildcards_match_as_documented,
    messages_of_one_publisher_arrive_in_order,
    slow_reader_is_told_what_it_lost,
    dropped_subscription_is_gone,
    unsubscribed_reader_gets_what_had_arrived,
    progress_goes_to_its_own_stream,
    malformed_subjects_are_refused,
    closed_bus_ends_its_streams,
    only_requests_can_be_answered,
);

async fn request_gets_its_reply(kind: Kind) {
    let bed = kind.start().await;
    let mut requests = bed.other.queue_subscribe("calc.add", "calc").await.unwrap();
    let asking = tokio::spawn({
        let bus = bed.bus.clone();
        let headers = Headers::new()
            .with("Qadra-Actor", r#"{"name":"Zoë"}"#)
            .unwrap();
        async move {
            bus.request("calc.add", headers, Bytes::from_static(b"1+1"), SOON)
                .await
        }
    });
    let question = next(&mut requests).await;
    assert_eq!(&*question.subject, "calc.add");
    assert_eq!(&question.payload[..], b"1+1");
    assert_eq!(
        question.headers.get("qadra-actor"),
        Some(r#"{"name":"Zoë"}"#)
    );
    let headers = Headers::new().with("Served-By", "x").unwrap();
    bed.other
        .respond(&question, headers, Bytes::from_static(b"2"))
        .await
        .unwrap();
    let answer = asking.await.unwrap().unwrap();
    assert_eq!(&answer.payload[..], b"2");
    assert_eq!(answer.headers.get("Served-By"), Some("x"));
    assert!(answer.reply.is_none());
}

async fn concurrent_requests_get_their_own_replies(kind: Kind) {
    let bed = kind.start().await;
    let _echo = echo(&bed.other, "echo.*").await;
    let asking = (0..500).map(|n| {
        let bus = bed.bus.clone();
        tokio::spawn(async move {
            let text = n.to_string();
            let answer = request(&bus, &format!("echo.{}", n % 7), text.clone())
                .await
                .unwrap();
            assert_eq!(answer.payload, text);
        })
    });
    for task in asking.collect::<Vec<_>>() {
        task.await.unwrap();
    }
}

async fn first_reply_counts(kind: Kind) {
    let bed = kind.start().await;
    let mut requests = bed.other.subscribe("twice").await.unwrap();
    let other = bed.other.clone();
    let answering = tokio::spawn(async move {
        let question = next(&mut requests).await;
        for answer in ["one", "two"] {
            other
                .respond(&question, Headers::new(), answer.into())
                .await
                .unwrap();
        }
    });
    assert_eq!(request(&bed.bus, "twice", "").await.unwrap().payload, "one");
    answering.await.unwrap();
}

async fn publishing_to_nobody_is_no_error(kind: Kind) {
    let bed = kind.start().await;
    publish(&bed.bus, "nobody.here", "x").await;
    bed.bus.ping(SOON).await.unwrap();
}

async fn no_responder_is_told_at_once(kind: Kind) {
    let bed = kind.start().await;
    let before = Instant::now();
    let error = bed
        .bus
        .request(
            "nobody.here",
            Headers::new(),
            "x".into(),
            Duration::from_secs(600),
        )
        .await
        .unwrap_err();
    assert!(
        matches!(&error, BusError::NoResponder { subject } if subject == "nobody.here"),
        "{error:?}"
    );
    assert!(error.nothing_ran());
    assert!(before.elapsed() < SOON);
}

async fn unanswered_request_times_out(kind: Kind) {
    let bed = kind.start().await;
    let mut requests = bed.other.queue_subscribe("slow", "q").await.unwrap();
    let after = Duration::from_millis(30);
    let asking = bed.bus.request("slow", Headers::new(), "x".into(), after);
    let (error, question) = tokio::join!(asking, next(&mut requests));
    let error = error.unwrap_err();
    assert!(
        matches!(&error, BusError::Timeout { after: told, .. } if *told == after),
        "{error:?}"
    );
    assert!(!error.nothing_ran());
    // Too late is no error for the responder: it cannot know.
    bed.other
        .respond(&question, Headers::new(), "late".into())
        .await
        .unwrap();
}

async fn dropped_request_is_noticed(kind: Kind) {
    let bed = kind.start().await;
    let mut requests = bed.other.queue_subscribe("careless", "q").await.unwrap();
    let timeout = match kind {
        Kind::InProcess => Duration::from_secs(600),
        Kind::Nats => Duration::from_millis(30),
    };
    let asking = bed
        .bus
        .request("careless", Headers::new(), "x".into(), timeout);
    let (error, ()) = tokio::join!(asking, async { drop(next(&mut requests).await) });
    match (kind, error.unwrap_err()) {
        (Kind::InProcess, BusError::Unanswered { .. }) | (Kind::Nats, BusError::Timeout { .. }) => {
        }
        (_, other) => panic!("{other:?}"),
    }
}

async fn queue_group_shares_the_work(kind: Kind) {
    const JOBS: usize = 300;
    let bed = kind.start().await;
    let (done, mut results) = mpsc::unbounded_channel();
    for member in ["w0", "w1", "w2", "audit"] {
        let group = if member == "audit" {
            "audit"
        } else {
            "workers"
        };
        let mut jobs = bed.other.queue_subscribe("job.*", group).await.unwrap();
        let done = done.clone();
        tokio::spawn(async move {
            while let Some(job) = jobs.next().await {
                done.send((member, job.payload)).unwrap();
            }
        });
    }
    drop(done);
    for n in 0..JOBS {
        publish(&bed.bus, "job.new", n.to_string()).await;
    }
    let mut seen = Vec::new();
    while seen.len() < 2 * JOBS {
        seen.push(
            tokio::time::timeout(SOON, results.recv())
                .await
                .unwrap()
                .unwrap(),
        );
    }
    // Whatever was delivered twice would come before the end.
    bed.other.close().await;
    while let Some(more) = results.recv().await {
        seen.push(more);
    }
    let of = |wanted: fn(&str) -> bool| {
        seen.iter()
            .filter(|(m, _)| wanted(m))
            .map(|(_, p)| p.clone())
            .collect::<Vec<_>>()
    };
    for group in [of(|m| m == "audit"), of(|m| m != "audit")] {
        assert_eq!(group.len(), JOBS);
        assert_eq!(group.iter().collect::<BTreeSet<_>>().len(), JOBS);
    }
    for member in ["w0", "w1", "w2"] {
        assert!(
            seen.iter().any(|(m, _)| *m == member),
            "{member} got nothing"
        );
    }
}

async fn groups_of_one_name_are_one_group_across_patterns(kind: Kind) {
    let bed = kind.start().await;
    let mut exact = bed.other.queue_subscribe("merge.a", "g").await.unwrap();
    let mut wild = bed.other.queue_subscribe("merge.*", "g").await.unwrap();
    for n in 0..50 {
        publish(&bed.bus, "merge.a", n.to_string()).await;
    }
    let mut got = BTreeSet::new();
    while got.len() < 50 {
        let message = tokio::select! { m = next(&mut exact) => m, m = next(&mut wild) => m };
        assert!(got.insert(message.payload), "delivered twice");
    }
    bed.other.close().await;
    assert!(
        exact.next().await.is_none() && wild.next().await.is_none(),
        "delivered twice"
    );
}

async fn fan_out_reaches_every_subscriber(kind: Kind) {
    let bed = kind.start().await;
    let mut readers = Vec::new();
    for (n, pattern) in ["news.x", "news.*", "news.>", ">", "news.x"]
        .into_iter()
        .enumerate()
    {
        let bus = if n % 2 == 0 { &bed.bus } else { &bed.other };
        readers.push(bus.subscribe(pattern).await.unwrap());
    }
    let headers = Headers::new().with("A", "1").unwrap();
    bed.bus
        .publish("news.x", headers, "hello".into())
        .await
        .unwrap();
    for reader in &mut readers {
        let mut message = next(reader).await;
        // What the bus itself sends is visible to `>` over NATS.
        while &*message.subject != "news.x" {
            message = next(reader).await;
        }
        assert_eq!(
            (message.payload, message.headers.get("A")),
            ("hello".into(), Some("1"))
        );
    }
}

async fn wildcards_match_as_documented(kind: Kind) {
    fn reference(pattern: &[&str], subject: &[&str]) -> bool {
        match (pattern, subject) {
            ([], []) => true,
            ([">"], [_, ..]) => true,
            (["*", p @ ..], [_, s @ ..]) => reference(p, s),
            ([a, p @ ..], [b, s @ ..]) => a == b && reference(p, s),
            _ => false,
        }
    }
    fn words(tokens: &[&'static str], length: usize) -> Vec<Vec<&'static str>> {
        match length {
            0 => vec![vec![]],
            _ => words(tokens, length - 1)
                .into_iter()
                .flat_map(|w| tokens.iter().map(move |t| [w.clone(), vec![*t]].concat()))
                .collect(),
        }
    }
    let bed = kind.start().await;
    let subjects: Vec<_> = (1..=3).flat_map(|n| words(&["a", "b"], n)).collect();
    let plain = (1..=3).flat_map(|n| words(&["a", "b", "*"], n));
    let open = (0..=2)
        .flat_map(|n| words(&["a", "b", "*"], n))
        .map(|w| [w, vec![">"]].concat());
    let mut readers = Vec::new();
    for pattern in plain.chain(open) {
        readers.push((
            bed.other
                .subscribe(&format!("wild.{}", pattern.join(".")))
                .await
                .unwrap(),
            pattern,
        ));
    }
    for subject in &subjects {
        publish(&bed.bus, &format!("wild.{}", subject.join(".")), "x").await;
    }
    for (reader, pattern) in &mut readers {
        let mut expected = subjects
            .iter()
            .filter(|subject| reference(pattern, subject));
        for subject in expected.by_ref() {
            assert_eq!(
                &*next(reader).await.subject,
                format!("wild.{}", subject.join(".")),
                "on {pattern:?}"
            );
        }
    }
    bed.other.close().await;
    for (reader, pattern) in &mut readers {
        assert!(reader.next().await.is_none(), "too much on {pattern:?}");
    }
}

async fn messages_of_one_publisher_arrive_in_order(kind: Kind) {
    const COUNT: usize = 20_000;
    let pending = Pending {
        subscription: COUNT,
        queue: COUNT,
    };
    let bed = kind
        .start_with(Setup {
            pending,
            ..Setup::default()
        })
        .await;
    let mut plain = bed.other.subscribe("order.a").await.unwrap();
    let mut group = bed.other.queue_subscribe("order.*", "g").await.unwrap();
    for n in 0..COUNT {
        publish(&bed.bus, "order.a", n.to_string()).await;
    }
    for n in 0..COUNT {
        assert_eq!(next(&mut plain).await.payload, n.to_string());
        assert_eq!(next(&mut group).await.payload, n.to_string());
    }
    assert_eq!((plain.lost(), group.lost()), (0, 0));
}

async fn slow_reader_is_told_what_it_lost(kind: Kind) {
    let pending = Pending {
        subscription: 16,
        ..Pending::default()
    };
    let bed = kind
        .start_with(Setup {
            pending,
            ..Setup::default()
        })
        .await;
    let mut slow = bed.other.subscribe("flood").await.unwrap();
    let mut innocent = bed.other.subscribe("quiet").await.unwrap();
    for n in 0..100 {
        publish(&bed.bus, "flood", n.to_string()).await;
    }
    eventually("84 messages are counted as lost", async || {
        slow.lost() == 84
    })
    .await;
    assert!(matches!(slow.recv().await, Some(Delivery::Lost(84))));
    for n in 0..16 {
        assert_eq!(next(&mut slow).await.payload, n.to_string());
    }
    publish(&bed.bus, "flood", "again").await;
    assert_eq!(next(&mut slow).await.payload, "again");
    publish(&bed.bus, "quiet", "x").await;
    next(&mut innocent).await;
    assert_eq!(innocent.lost(), 0);
}

async fn dropped_subscription_is_gone(kind: Kind) {
    let bed = kind.start().await;
    let requests = bed.other.queue_subscribe("gone", "q").await.unwrap();
    let wild = bed.other.subscribe("gone.>").await.unwrap();
    drop((requests, wild));
    for subject in ["gone", "gone.too"] {
        eventually("nobody responds any more", async || {
            let timeout = Duration::from_millis(200);
            let asked = bed
                .bus
                .request(subject, Headers::new(), "x".into(), timeout)
                .await;
            matches!(asked, Err(BusError::NoResponder { .. }))
        })
        .await;
    }
}

async fn unsubscribed_reader_gets_what_had_arrived(kind: Kind) {
    let bed = kind.start().await;
    let mut reader = bed.other.subscribe("farewell").await.unwrap();
    for n in 0..10 {
        publish(&bed.bus, "farewell", n.to_string()).await;
    }
    publish(&bed.bus, "farewell", "last").await;
    assert_eq!(next(&mut reader).await.payload, "0");
    bed.bus.ping(SOON).await.unwrap();
    bed.other.ping(SOON).await.unwrap();
    reader.unsubscribe();
    for n in 1..10 {
        assert_eq!(next(&mut reader).await.payload, n.to_string());
    }
    assert_eq!(next(&mut reader).await.payload, "last");
    assert!(
        tokio::time::timeout(SOON, reader.next())
            .await
            .unwrap()
            .is_none()
    );
}

async fn progress_goes_to_its_own_stream(kind: Kind) {
    for shared_progress in [true, false] {
        let bed = kind
            .start_with(Setup {
                shared_progress,
                ..Setup::default()
            })
            .await;
        let ids: Vec<_> = (0..50).map(|_| qadra_types::new_id()).collect();
        let mut readers = Vec::new();
        for id in &ids {
            readers.push(bed.bus.subscribe(&Subject::progress(*id)).await.unwrap());
        }
        let mut second = bed.bus.subscribe(&Subject::progress(ids[0])).await.unwrap();
        for id in &ids {
            publish(&bed.other, &Subject::progress(*id), id.to_string()).await;
            publish(
                &bed.other,
                &Subject::progress(qadra_types::new_id()),
                "not ours",
            )
            .await;
        }
        assert_eq!(next(&mut second).await.payload, ids[0].to_string());
        drop(second);
        publish(&bed.other, &Subject::progress(ids[0]), "done").await;
        for (reader, id) in readers.iter_mut().zip(&ids) {
            assert_eq!(next(reader).await.payload, id.to_string());
        }
        assert_eq!(next(&mut readers[0]).await.payload, "done");
        bed.bus.close().await;
        for mut reader in readers {
            assert!(reader.next().await.is_none());
        }
    }
}

async fn malformed_subjects_are_refused(kind: Kind) {
    let bed = kind.start().await;
    let long = "x".repeat(2_000);
    for subject in [
        "",
        ".",
        "a.",
        ".a",
        "a..b",
        "a b",
        "a\r\nPUB x 0\r\n",
        "a\tb",
        "a\0",
        "a\u{a0}b",
        &long,
    ] {
        let name = format!("{subject:?}");
        let invalid =
            |error: Option<BusError>| matches!(error, Some(BusError::InvalidSubject { .. }));
        assert!(
            invalid(
                bed.bus
                    .publish(subject, Headers::new(), Bytes::new())
                    .await
                    .err()
            ),
            "{name}"
        );
        assert!(
            invalid(request(&bed.bus, subject, "").await.err()),
            "{name}"
        );
        assert!(invalid(bed.bus.subscribe(subject).await.err()), "{name}");
        assert!(
            invalid(bed.bus.queue_subscribe("fine", subject).await.err()),
            "{name}"
        );
    }
    for subject in ["*", "a.*", "a.>", "a*"] {
        assert!(
            bed.bus
                .publish(subject, Headers::new(), Bytes::new())
                .await
                .is_err(),
            "{subject}"
        );
        assert!(request(&bed.bus, subject, "").await.is_err(), "{subject}");
    }
    for pattern in ["a.>.b", "a*", ">x"] {
        assert!(bed.bus.subscribe(pattern).await.is_err(), "{pattern}");
    }
}

async fn closed_bus_ends_its_streams(kind: Kind) {
    let bed = kind.start().await;
    let mut reader = bed.bus.subscribe("late.*").await.unwrap();
    bed.bus.close().await;
    assert!(
        tokio::time::timeout(SOON, reader.next())
            .await
            .unwrap()
            .is_none()
    );
    let closed = |error: Option<BusError>| matches!(error, Some(BusError::Closed));
    assert!(closed(
        bed.bus
            .publish("late.a", Headers::new(), Bytes::new())
            .await
            .err()
    ));
    assert!(closed(request(&bed.bus, "late.a", "").await.err()));
    assert!(closed(bed.bus.subscribe("late.a").await.err()));
    assert!(closed(bed.bus.ping(SOON).await.err()));
    bed.bus.close().await;
}

async fn only_requests_can_be_answered(kind: Kind) {
    let bed = kind.start().await;
    let mut reader = bed.bus.subscribe("statement").await.unwrap();
    publish(&bed.other, "statement", "x").await;
    let statement = next(&mut reader).await;
    let bus = Arc::clone(&bed.bus);
    let error = bus
        .respond(&statement, Headers::new(), "y".into())
        .await
        .unwrap_err();
    assert!(matches!(error, BusError::NotARequest { .. }), "{error:?}");
}
