//! The two transports behind one face, for tests that must hold on both.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use qadra_nats::{
    Bus, BusError, Headers, InProcess, InProcessOptions, Message, Nats, NatsOptions, Objects,
    Pending, Subscription,
};
use tempfile::TempDir;

use crate::server::NatsServer;

pub const LIMIT: usize = 1 << 20;
pub const SOON: Duration = Duration::from_secs(20);

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    InProcess,
    Nats,
}

pub struct Bed {
    pub bus: Arc<dyn Bus>,
    /// Another process's view of the same bus, as far as the transport knows processes.
    pub other: Arc<dyn Bus>,
    pub objects: Option<Arc<Objects>>,
    pub folder: PathBuf,
    pub server: Option<NatsServer>,
    _dir: TempDir,
}

#[derive(Clone, Copy)]
pub struct Setup {
    pub objects: bool,
    pub pending: Pending,
    pub shared_progress: bool,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            objects: true,
            pending: Pending::default(),
            shared_progress: true,
        }
    }
}

impl Kind {
    pub async fn start(self) -> Bed {
        self.start_with(Setup::default()).await
    }

    pub async fn start_with(self, setup: Setup) -> Bed {
        let dir = TempDir::new().unwrap();
        let folder = dir.path().join("objects");
        let objects = setup.objects.then(|| Objects::local(&folder).unwrap());
        let pending = setup.pending;
        let (bus, other, server): (Arc<dyn Bus>, Arc<dyn Bus>, _) = match self {
            Self::InProcess => {
                let options = InProcessOptions {
                    pending,
                    limit: Some(LIMIT),
                    objects: objects.clone(),
                };
                let bus = InProcess::with_options(options);
                (Arc::new(bus.clone()), Arc::new(bus), None)
            }
            Self::Nats => {
                let server = NatsServer::start();
                let options = NatsOptions {
                    pending,
                    objects: objects.clone(),
                    shared_progress: setup.shared_progress,
                    ..NatsOptions::default()
                };
                let bus = Nats::connect(&server.url(), options.clone()).await.unwrap();
                let other = Nats::connect(&server.url(), options).await.unwrap();
                (Arc::new(bus), Arc::new(other), Some(server))
            }
        };
        Bed {
            bus,
            other,
            objects,
            folder,
            server,
            _dir: dir,
        }
    }
}

impl Bed {
    pub fn stored_objects(&self) -> usize {
        std::fs::read_dir(self.folder.join("bus")).map_or(0, Iterator::count)
    }
}

/// Waits for a condition that comes about on another task, and only for that.
pub async fn eventually(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !condition().await {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    assert!(
        tokio::time::timeout(SOON, waiting).await.is_ok(),
        "never came: {what}"
    );
}

pub async fn next(subscription: &mut Subscription) -> Message {
    tokio::time::timeout(SOON, subscription.next())
        .await
        .expect("no message came")
        .expect("the subscription ended")
}

pub async fn publish(bus: &Arc<dyn Bus>, subject: &str, payload: impl Into<Bytes>) {
    bus.publish(subject, Headers::new(), payload.into())
        .await
        .unwrap();
}

pub async fn request(
    bus: &Arc<dyn Bus>,
    subject: &str,
    payload: impl Into<Bytes>,
) -> Result<Message, BusError> {
    bus.request(subject, Headers::new(), payload.into(), SOON)
        .await
}

/// Answers every request of the pattern with its own payload and headers, until the returned guard is dropped.
pub async fn echo(bus: &Arc<dyn Bus>, pattern: &str) -> Guard {
    let mut requests = bus.queue_subscribe(pattern, "echo").await.unwrap();
    let bus = bus.clone();
    Guard(tokio::spawn(async move {
        while let Some(request) = requests.next().await {
            bus.respond(&request, request.headers.clone(), request.payload.clone())
                .await
                .unwrap();
        }
    }))
}

pub struct Guard(tokio::task::JoinHandle<()>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Each listed async function becomes a test on either transport.
macro_rules! on_both_transports {
    ($($name:ident),+ $(,)?) => {
        mod in_process {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() { super::$name(crate::bed::Kind::InProcess).await })+
        }
        mod nats {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() { super::$name(crate::bed::Kind::Nats).await })+
        }
    };
}
pub(crate) use on_both_transports;
