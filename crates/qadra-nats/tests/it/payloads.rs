use std::time::Duration;

use bytes::Bytes;
use qadra_nats::{BusError, Headers, Reply, ServeOptions, serve};
use qadra_types::Code;
use serde_json::Value;

use crate::bed::{
    Kind, LIMIT, SOON, Setup, echo, eventually, next, on_both_transports, publish, request,
};

on_both_transports!(
    payloads_of_every_size_travel_both_ways,
    over_the_limit_without_a_store_is_refused_before_sending,
    large_message_reaches_every_subscriber_and_is_swept,
    large_request_nobody_answers_leaves_nothing_behind,
    more_than_a_reference_may_announce_is_refused,
    answer_that_cannot_be_sent_is_an_error_for_the_requester,
    names_of_the_bus_cannot_be_set_as_headers,
);

/// Not the same everywhere, so that a wrong cut would show.
fn bytes(length: usize) -> Bytes {
    (0..length).map(|n| (n % 251) as u8).collect()
}

async fn payloads_of_every_size_travel_both_ways(kind: Kind) {
    let bed = kind.start().await;
    let _echo = echo(&bed.other, "echo").await;
    for size in [0, 1, LIMIT - 1, LIMIT, LIMIT + 1, 5 * LIMIT] {
        let payload = bytes(size);
        let answer = request(&bed.bus, "echo", payload.clone()).await.unwrap();
        assert!(
            answer.payload == payload,
            "{size} bytes came back as {}",
            answer.payload.len()
        );
        assert!(answer.headers.is_empty(), "{:?}", answer.headers);
        // Both directions are stored above the limit, and both are deleted once the reply was read.
        eventually("objects are deleted", async || bed.stored_objects() == 0).await;
    }
    // Headers count too: these make the last byte too many.
    let headers = Headers::new().with("A", "1").unwrap();
    let answer = bed
        .bus
        .request("echo", headers, bytes(LIMIT - 3), SOON)
        .await
        .unwrap();
    assert_eq!(
        (answer.payload.len(), answer.headers.get("A")),
        (LIMIT - 3, Some("1"))
    );
}

async fn over_the_limit_without_a_store_is_refused_before_sending(kind: Kind) {
    let bed = kind
        .start_with(Setup {
            objects: false,
            ..Setup::default()
        })
        .await;
    let _echo = echo(&bed.other, "echo").await;
    assert_eq!(
        request(&bed.bus, "echo", bytes(LIMIT))
            .await
            .unwrap()
            .payload,
        bytes(LIMIT)
    );
    let mut reader = bed.other.subscribe("echo").await.unwrap();
    for error in [
        request(&bed.bus, "echo", bytes(LIMIT + 1)).await.err(),
        bed.bus
            .publish("echo", Headers::new(), bytes(LIMIT + 1))
            .await
            .err(),
    ] {
        match error {
            Some(BusError::TooLarge { size, limit, .. }) => {
                assert_eq!((size, limit), (LIMIT + 1, LIMIT))
            }
            other => panic!("{other:?}"),
        }
    }
    publish(&bed.bus, "echo", "small").await;
    assert_eq!(next(&mut reader).await.payload, "small");
}

async fn large_message_reaches_every_subscriber_and_is_swept(kind: Kind) {
    let bed = kind.start().await;
    let mut readers = [
        bed.bus.subscribe("big").await.unwrap(),
        bed.other.subscribe("big").await.unwrap(),
    ];
    publish(&bed.bus, "big", "before").await;
    publish(&bed.bus, "big", bytes(2 * LIMIT)).await;
    publish(&bed.bus, "big", "after").await;
    for reader in &mut readers {
        assert_eq!(next(reader).await.payload, "before");
        assert_eq!(next(reader).await.payload, bytes(2 * LIMIT));
        assert_eq!(next(reader).await.payload, "after");
    }
    let objects = bed.objects.clone().unwrap();
    assert_eq!(objects.sweep(Duration::from_secs(60)).await.unwrap(), 0);
    assert_eq!(bed.stored_objects(), 1);
    assert_eq!(objects.sweep(Duration::ZERO).await.unwrap(), 1);
    assert_eq!(bed.stored_objects(), 0);
}

async fn large_request_nobody_answers_leaves_nothing_behind(kind: Kind) {
    let bed = kind.start().await;
    let error = request(&bed.bus, "nobody", bytes(2 * LIMIT))
        .await
        .unwrap_err();
    assert!(matches!(error, BusError::NoResponder { .. }), "{error:?}");
    eventually("objects are deleted", async || bed.stored_objects() == 0).await;
}

async fn more_than_a_reference_may_announce_is_refused(kind: Kind) {
    let bed = kind.start().await;
    let _echo = echo(&bed.other, "echo").await;
    let error = request(&bed.bus, "echo", Bytes::from(vec![0; (64 << 20) + 1]))
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            BusError::TooLarge {
                limit: 0x400_0000,
                ..
            }
        ),
        "{error:?}"
    );
    assert_eq!(bed.stored_objects(), 0);
}

async fn answer_that_cannot_be_sent_is_an_error_for_the_requester(kind: Kind) {
    let bed = kind
        .start_with(Setup {
            objects: false,
            ..Setup::default()
        })
        .await;
    let _service = serve(
        bed.other.clone(),
        ServeOptions::new("huge", "q"),
        async |_| Reply::ok("x".repeat(2 * LIMIT)),
    )
    .await
    .unwrap();
    let answer = request(&bed.bus, "huge", "").await.unwrap();
    let fault = Reply::<Value>::from_bytes(&answer.payload)
        .into_result()
        .unwrap_err();
    assert_eq!(fault.code, Code::TooLarge);
}

async fn names_of_the_bus_cannot_be_set_as_headers(kind: Kind) {
    let bed = kind.start().await;
    assert!(Headers::new().with("Qadra-Object", "bus/x").is_err());
    drop(bed);
}
