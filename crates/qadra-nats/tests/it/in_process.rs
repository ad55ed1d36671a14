use std::time::Duration;

use bytes::Bytes;
use qadra_nats::{Bus, BusError, Headers, InProcess};

use crate::bed::SOON;

#[tokio::test]
async fn payloads_are_shared_not_copied() {
    let bus = InProcess::new();
    let mut readers = [
        bus.subscribe("a").await.unwrap(),
        bus.subscribe("*").await.unwrap(),
    ];
    // Far above NATS's limit, and no store: the default has no limit.
    let payload = Bytes::from(vec![7; 8 << 20]);
    bus.publish("a", Headers::new(), payload.clone())
        .await
        .unwrap();
    for reader in &mut readers {
        assert_eq!(
            reader.next().await.unwrap().payload.as_ptr(),
            payload.as_ptr()
        );
    }
    let mut requests = bus.queue_subscribe("b", "q").await.unwrap();
    let asking = bus.request("b", Headers::new(), payload.clone(), SOON);
    let answering = async {
        let request = requests.next().await.unwrap();
        bus.respond(&request, Headers::new(), request.payload.clone())
            .await
            .unwrap();
    };
    let (answer, ()) = tokio::join!(asking, answering);
    assert_eq!(answer.unwrap().payload.as_ptr(), payload.as_ptr());
}

#[tokio::test]
async fn full_member_is_passed_over() {
    let pending = qadra_nats::Pending {
        queue: 1,
        ..Default::default()
    };
    let bus = InProcess::with_options(qadra_nats::InProcessOptions {
        pending,
        ..Default::default()
    });
    let mut members = [
        bus.queue_subscribe("a", "q").await.unwrap(),
        bus.queue_subscribe("a", "q").await.unwrap(),
    ];
    for payload in ["1", "2", "3"] {
        bus.publish("a", Headers::new(), payload.into())
            .await
            .unwrap();
    }
    // Two found room whoever's turn it was, the third is counted once.
    assert_eq!(members.iter().map(|member| member.lost()).sum::<u64>(), 1);
    for member in &mut members {
        assert!(member.next().await.is_some());
    }
}

#[tokio::test]
async fn dropped_queue_frees_its_requesters() {
    let bus = InProcess::new();
    let requests = bus.queue_subscribe("a", "q").await.unwrap();
    let asking = bus.request("a", Headers::new(), Bytes::new(), Duration::from_secs(600));
    // The request is polled first, so it waits in the queue when the queue goes.
    let (answer, ()) = tokio::join!(asking, async { drop(requests) });
    assert!(
        matches!(answer, Err(BusError::Unanswered { .. })),
        "{answer:?}"
    );
}
