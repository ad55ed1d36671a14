//! The snippet of docs/bus.md, tried on a real broker.

use std::time::Duration;

use bytes::Bytes;
use qadra_nats::{Bus, Headers, Nats, NatsOptions, Reply, ServeOptions, serve, subjects};

use crate::bed::SOON;
use crate::server::NatsServer;

const TENANT: &str = "0191a0c2-7c1e-7c63-9d2a-1b6f6f1f0001";
const OTHER: &str = "0191a0c2-7c1e-7c63-9d2a-1b6f6f1f0002";

fn documented_config() -> String {
    let docs = include_str!("../../../../docs/bus.md");
    let (_, rest) = docs
        .split_once("```hocon\n")
        .expect("docs/bus.md has a broker configuration");
    let (config, _) = rest.split_once("```").expect("the block ends");
    assert!(config.contains(TENANT));
    config.to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn documented_permissions_confine_a_client_to_its_tenant() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("nats.conf");
    std::fs::write(&file, documented_config()).unwrap();
    let server = NatsServer::with_args(&["-c", file.to_str().unwrap()]);
    let port = server.port();
    let core = Nats::connect(
        &format!("nats://qadra:change-me@127.0.0.1:{port}"),
        NatsOptions::default(),
    )
    .await
    .unwrap();
    let core: std::sync::Arc<dyn Bus> = std::sync::Arc::new(core);
    let _service = serve(
        core.clone(),
        ServeOptions::new(subjects::EVERY_OP, "core"),
        async |_| Reply::ok(()),
    )
    .await
    .unwrap();
    let client =
        async_nats::ConnectOptions::with_user_and_password("acme".into(), "change-me-too".into())
            .custom_inbox_prefix("_INBOX_acme")
            .request_timeout(Some(Duration::from_millis(300)))
            .connect(server.url())
            .await
            .unwrap();
    let ask = async |tenant: &str| {
        client
            .request(format!("qadra.{tenant}.chat.do.list"), Bytes::new())
            .await
    };
    assert_eq!(&ask(TENANT).await.unwrap().payload[..], br#"{"ok":null}"#);
    assert!(ask(OTHER).await.is_err());
    assert!(ask("platform").await.is_err());
    // Listening in is refused as well.
    let mut spy = client.subscribe(format!("qadra.{OTHER}.>")).await.unwrap();
    let mut inboxes = client.subscribe("_INBOX.>").await.unwrap();
    client.flush().await.unwrap();
    core.request(
        &format!("qadra.{OTHER}.chat.do.list"),
        Headers::new(),
        Bytes::new(),
        SOON,
    )
    .await
    .unwrap();
    assert!(ask(TENANT).await.is_ok());
    let heard = async {
        tokio::select! { m = futures::StreamExt::next(&mut spy) => m, m = futures::StreamExt::next(&mut inboxes) => m }
    };
    assert!(futures::FutureExt::now_or_never(heard).flatten().is_none());
}
