use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use qadra_nats::{
    Bus, BusError, Headers, OpSubject, Reply, ServeOptions, Subject, Tenant, serve, subjects,
};
use qadra_types::{Code, Fault, new_id};
use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore};

use crate::bed::{Kind, SOON, eventually, on_both_transports, publish, request};

on_both_transports!(
    operations_are_answered_in_the_envelope,
    panicking_handler_answers_and_the_service_goes_on,
    concurrency_is_bounded,
    two_services_share_the_work,
    stopping_service_finishes_what_it_began,
    deadline_cuts_what_does_not_finish,
    dropped_handle_stops_the_service,
    statements_are_handled_without_an_answer,
);

async fn ask(bus: &Arc<dyn Bus>, subject: &str, payload: &str) -> Result<Value, Fault> {
    let answer = request(bus, subject, payload.to_owned()).await.unwrap();
    Reply::from_bytes(&answer.payload).into_result()
}

async fn operations_are_answered_in_the_envelope(kind: Kind) {
    let bed = kind.start().await;
    let handler = async |message: qadra_nats::Message| {
        let op = OpSubject::parse(&message.subject).unwrap();
        match (op.tenant, op.op.as_str()) {
            (Tenant::Tenant(id), "list") => Reply::ok(json!({"tenant": id})),
            (Tenant::Platform, "login") => Reply::ok(json!("welcome")),
            _ => Reply::error(Fault::not_found("operation")),
        }
    };
    let options = ServeOptions::new(subjects::EVERY_OP, "core");
    let _service = serve(bed.other.clone(), options, handler).await.unwrap();
    let tenant = new_id();
    let op = Subject::op(tenant, "chat", "list").unwrap();
    assert_eq!(
        ask(&bed.bus, &op, "{}").await,
        Ok(json!({"tenant": tenant}))
    );
    assert_eq!(
        ask(&bed.bus, &Subject::platform("auth", "login").unwrap(), "{}").await,
        Ok(json!("welcome"))
    );
    let unknown = Subject::op(tenant, "chat", "fly").unwrap();
    assert_eq!(
        ask(&bed.bus, &unknown, "{}").await.unwrap_err().code,
        Code::NotFound
    );
    let other = request(&bed.bus, "qadra.platform.auth.undo.login", "")
        .await
        .unwrap_err();
    assert!(matches!(other, BusError::NoResponder { .. }));
}

async fn panicking_handler_answers_and_the_service_goes_on(kind: Kind) {
    let bed = kind.start().await;
    let handler = async |message: qadra_nats::Message| {
        assert!(&message.payload[..] != b"boom", "as it was told");
        Reply::ok(json!("fine"))
    };
    let _service = serve(
        bed.other.clone(),
        ServeOptions::new("risky", "q").concurrency(1),
        handler,
    )
    .await
    .unwrap();
    for _ in 0..3 {
        let fault = ask(&bed.bus, "risky", "boom").await.unwrap_err();
        assert_eq!(fault.code, Code::Internal);
        assert!(
            !fault.detail.contains("told"),
            "the panic's words are for the log: {fault:?}"
        );
        assert_eq!(ask(&bed.bus, "risky", "").await, Ok(json!("fine")));
    }
}

async fn concurrency_is_bounded(kind: Kind) {
    let bed = kind.start().await;
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let gate = Arc::new(Semaphore::new(0));
    let handler = {
        let (running, most, gate) = (running.clone(), most.clone(), gate.clone());
        move |_| {
            let (running, most, gate) = (running.clone(), most.clone(), gate.clone());
            async move {
                let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                most.fetch_max(now, Ordering::SeqCst);
                gate.acquire().await.unwrap().forget();
                running.fetch_sub(1, Ordering::SeqCst);
                Reply::ok(())
            }
        }
    };
    let _service = serve(
        bed.other.clone(),
        ServeOptions::new("narrow", "q").concurrency(3),
        handler,
    )
    .await
    .unwrap();
    let asking: Vec<_> = (0..20)
        .map(|_| {
            let bus = bed.bus.clone();
            tokio::spawn(async move { ask(&bus, "narrow", "").await.unwrap() })
        })
        .collect();
    eventually("three handlers run", async || {
        running.load(Ordering::SeqCst) == 3
    })
    .await;
    gate.add_permits(20);
    for task in asking {
        task.await.unwrap();
    }
    assert_eq!(most.load(Ordering::SeqCst), 3);
}

async fn two_services_share_the_work(kind: Kind) {
    let bed = kind.start().await;
    let counts = [Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0))];
    let mut services = Vec::new();
    for (bus, count) in [&bed.bus, &bed.other].into_iter().zip(&counts) {
        let count = count.clone();
        let handler = move |_| {
            count.fetch_add(1, Ordering::SeqCst);
            std::future::ready(Reply::ok(()))
        };
        services.push(
            serve(bus.clone(), ServeOptions::new("shared", "q"), handler)
                .await
                .unwrap(),
        );
    }
    for _ in 0..200 {
        ask(&bed.bus, "shared", "").await.unwrap();
    }
    let [a, b] = counts.map(|count| count.load(Ordering::SeqCst));
    assert!(a + b == 200 && a > 0 && b > 0, "{a} and {b}");
}

async fn stopping_service_finishes_what_it_began(kind: Kind) {
    let bed = kind.start().await;
    let (began, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let handler = {
        let (began, go) = (began.clone(), go.clone());
        move |_| {
            let (began, go) = (began.clone(), go.clone());
            async move {
                began.notify_one();
                go.notified().await;
                Reply::ok(json!("finished"))
            }
        }
    };
    let service = serve(bed.other.clone(), ServeOptions::new("work", "q"), handler)
        .await
        .unwrap();
    let bus = bed.bus.clone();
    let running = tokio::spawn(async move { ask(&bus, "work", "").await });
    began.notified().await;
    let stopping = tokio::spawn(service.stop(SOON));
    eventually("no new work is taken", async || {
        let asked = bed
            .bus
            .request(
                "work",
                Headers::new(),
                "".into(),
                Duration::from_millis(200),
            )
            .await;
        matches!(asked, Err(BusError::NoResponder { .. }))
    })
    .await;
    assert!(!stopping.is_finished());
    go.notify_waiters();
    go.notify_one();
    assert_eq!(running.await.unwrap(), Ok(json!("finished")));
    assert_eq!(stopping.await.unwrap().cut_off, 0);
}

async fn deadline_cuts_what_does_not_finish(kind: Kind) {
    let bed = kind.start().await;
    let began = Arc::new(Semaphore::new(0));
    let handler = {
        let began = began.clone();
        move |_| {
            began.add_permits(1);
            std::future::pending::<Reply<()>>()
        }
    };
    let service = serve(
        bed.other.clone(),
        ServeOptions::new("endless", "q").concurrency(2),
        handler,
    )
    .await
    .unwrap();
    let asking: Vec<_> = (0..2)
        .map(|_| {
            let bus = bed.bus.clone();
            tokio::spawn(async move { ask(&bus, "endless", "").await })
        })
        .collect();
    began.acquire_many(2).await.unwrap().forget();
    assert_eq!(service.stop(Duration::from_millis(10)).await.cut_off, 2);
    for task in asking {
        assert_eq!(task.await.unwrap().unwrap_err().code, Code::Unavailable);
    }
}

async fn dropped_handle_stops_the_service(kind: Kind) {
    let bed = kind.start().await;
    let service = serve(
        bed.other.clone(),
        ServeOptions::new("brief", "q"),
        async |_| Reply::ok(()),
    )
    .await
    .unwrap();
    ask(&bed.bus, "brief", "").await.unwrap();
    drop(service);
    eventually("nobody responds any more", async || {
        let asked = bed
            .bus
            .request(
                "brief",
                Headers::new(),
                "".into(),
                Duration::from_millis(200),
            )
            .await;
        matches!(asked, Err(BusError::NoResponder { .. }))
    })
    .await;
}

async fn statements_are_handled_without_an_answer(kind: Kind) {
    let bed = kind.start().await;
    let heard = Arc::new(Notify::new());
    let handler = {
        let heard = heard.clone();
        move |_| {
            heard.notify_one();
            std::future::ready(Reply::ok(()))
        }
    };
    let _service = serve(bed.other.clone(), ServeOptions::new("told", "q"), handler)
        .await
        .unwrap();
    publish(&bed.bus, "told", "x").await;
    tokio::time::timeout(SOON, heard.notified()).await.unwrap();
}
