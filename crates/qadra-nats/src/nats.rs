use std::sync::Arc;
use std::time::Duration;

use async_nats::ConnectOptions;
use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::OnceCell;

use crate::bus::ReplyPath;
use crate::objects::Outgoing;
use crate::router::{Router, is_wild, matches};
use crate::subjects::{EVERY_PROGRESS, check_pattern, check_queue, check_subject};
use crate::subscription::Queue;
use crate::{Bus, BusError, Files, Headers, Message, Objects, Pending, ReplyTo, Subscription};

mod convert;
mod inbox;
mod link;
mod pump;
mod url;

use inbox::Inbox;
use link::Link;

/// The transport over core NATS. Copies share one connection, which is taken up again by itself.
///
/// While the broker is away, `publish` fails at once and `request` waits within its timeout; when it is
/// back, every subscription is told that it may have lost messages.
#[derive(Clone)]
pub struct Nats {
    inner: Arc<Inner>,
}

struct Inner {
    client: async_nats::Client,
    link: Arc<Link>,
    inbox: Inbox,
    options: NatsOptions,
    /// Progress subscriptions of this process, behind one subscription at the broker.
    progress: Arc<Router>,
    progress_pump: OnceCell<pump::Pump>,
}

#[derive(Debug, Clone)]
pub struct NatsOptions {
    /// Shown by the broker's monitoring.
    pub name: String,
    pub pending: Pending,
    pub objects: Option<Arc<Objects>>,
    /// How long to wait for the first connection, and for the socket to take a message.
    pub send_timeout: Duration,
    /// Start of reply subjects, `_INBOX` and whatever follows; an account with permissions of its own
    /// may need another one.
    pub inbox_prefix: String,
    /// One broker subscription to `_PROGRESS.*` for all progress streams of this process instead of one
    /// each: an idle stream then costs a few hundred bytes instead of several thousand and opens without
    /// a round trip, but each gateway receives the progress of all. Switch it off with many gateways.
    pub shared_progress: bool,
}

impl Default for NatsOptions {
    fn default() -> Self {
        Self {
            name: "qadra".to_owned(),
            pending: Pending::default(),
            objects: None,
            send_timeout: Duration::from_secs(5),
            inbox_prefix: "_INBOX".to_owned(),
            shared_progress: true,
        }
    }
}

impl Nats {
    /// Connects to `nats://[user:password@|token@]host[:port]`, or `tls://…`, or several with commas between.
    /// Credentials are taken out of the URL before anything is logged.
    pub async fn connect(url: &str, options: NatsOptions) -> Result<Self, BusError> {
        let url::Target {
            servers,
            shown,
            credentials,
        } = url::Target::parse(url)?;
        let link = Arc::new(Link::default());
        let callback = {
            let link = link.clone();
            move |event| {
                link.on_event(event);
                std::future::ready(())
            }
        };
        let connect = ConnectOptions::new()
            .name(&options.name)
            .connection_timeout(options.send_timeout)
            .event_callback(callback)
            // A broker that refuses us for now, say while its accounts are reloaded, is tried again.
            .max_reconnects(None);
        let client = match credentials {
            None => connect,
            Some(url::Credentials::Token(token)) => connect.token(token),
            Some(url::Credentials::User { name, password }) => {
                connect.user_and_password(name, password)
            }
        }
        .connect(servers)
        .await
        .map_err(|e| BusError::transport(format!("cannot connect to the broker at {shown}"), e))?;
        link.attach(&client);
        let inbox = Inbox::open(&client, &options.inbox_prefix, link.clone()).await?;
        let nats = Self {
            inner: Arc::new(Inner {
                client,
                link,
                inbox,
                options,
                progress: Arc::default(),
                progress_pump: OnceCell::new(),
            }),
        };
        nats.inner.tell_of_reconnects();
        nats.ping(nats.inner.options.send_timeout).await?;
        Ok(nats)
    }

    async fn open(
        &self,
        pattern: &str,
        group: Option<&str>,
        capacity: usize,
    ) -> Result<Subscription, BusError> {
        check_pattern(pattern)?;
        let inner = &self.inner;
        inner.link.check()?;
        let queue = Queue::new(capacity);
        let objects = inner.options.objects.clone();
        let shared = inner.options.shared_progress && group.is_none() && !is_wild(pattern);
        if shared && matches(EVERY_PROGRESS, pattern) {
            let start = || {
                inner.subscribe_upstream(
                    EVERY_PROGRESS,
                    None,
                    pump::Target::Router(inner.progress.clone()),
                )
            };
            inner.progress_pump.get_or_try_init(start).await?;
            let entered = inner
                .progress
                .insert(pattern, None, queue.clone())
                .ok_or(BusError::Closed)?;
            let source = inner.link.enter(queue.clone(), entered);
            return Ok(Subscription::new(queue, source, objects));
        }
        let pump = inner
            .subscribe_upstream(pattern, group, pump::Target::Queue(queue.clone()))
            .await?;
        let source = inner.link.enter(queue.clone(), Box::new(pump));
        Ok(Subscription::new(queue, source, objects))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.link.detach();
        self.progress.close();
    }
}

impl Inner {
    async fn subscribe_upstream(
        &self,
        pattern: &str,
        group: Option<&str>,
        target: pump::Target,
    ) -> Result<pump::Pump, BusError> {
        let failed = |e| BusError::transport(format!("cannot subscribe to {pattern}"), e);
        let subscriber = match group {
            None => self.client.subscribe(pattern.to_owned()).await,
            Some(group) => {
                self.client
                    .queue_subscribe(pattern.to_owned(), group.to_owned())
                    .await
            }
        }
        .map_err(failed)?;
        let pump = pump::Pump::start(subscriber, target);
        // The broker answers in order, so its answer to this comes after it has taken the subscription.
        self.round_trip(self.options.send_timeout).await?;
        Ok(pump)
    }

    /// A message to ourselves. Whoever else listens to everything cannot keep the answer away.
    async fn round_trip(&self, timeout: Duration) -> Result<(), BusError> {
        let deadline = tokio::time::Instant::now() + timeout;
        tokio::time::timeout_at(deadline, self.link.wait_connected())
            .await
            .map_err(|_| BusError::Disconnected)??;
        let mut pending = self.inbox.expect();
        let subject = pending.subject().to_owned();
        let echo = async {
            self.send(&subject, None, None, Bytes::new()).await?;
            pending.reply().await
        };
        match tokio::time::timeout_at(deadline, echo).await {
            Ok(echoed) => echoed.map(drop),
            Err(_) => Err(BusError::Timeout {
                subject,
                after: timeout,
            }),
        }
    }

    async fn exchange(
        &self,
        subject: &str,
        outgoing: Outgoing,
        timeout: Duration,
    ) -> Result<Message, BusError> {
        let deadline = tokio::time::Instant::now() + timeout;
        // Waiting here, not in the client's buffer: what is buffered would be sent long after we gave up.
        tokio::time::timeout_at(deadline, self.link.wait_connected())
            .await
            .map_err(|_| BusError::Disconnected)??;
        let mut pending = self.inbox.expect();
        let reply = async {
            let headers = convert::to_nats(&outgoing.headers)?;
            self.send(subject, Some(pending.subject()), headers, outgoing.payload)
                .await?;
            pending.reply().await
        };
        let reply = tokio::time::timeout_at(deadline, reply)
            .await
            .map_err(|_| BusError::Timeout {
                subject: subject.to_owned(),
                after: timeout,
            })??;
        match convert::is_no_responder(&reply) {
            true => Err(BusError::NoResponder {
                subject: subject.to_owned(),
            }),
            false => Ok(convert::from_nats(reply)),
        }
    }

    async fn send(
        &self,
        subject: &str,
        reply: Option<&str>,
        headers: Option<async_nats::HeaderMap>,
        payload: Bytes,
    ) -> Result<(), BusError> {
        let (client, to) = (&self.client, subject.to_owned());
        let sent = async {
            match (reply.map(str::to_owned), headers) {
                (None, None) => client.publish(to, payload).await,
                (None, Some(headers)) => client.publish_with_headers(to, headers, payload).await,
                (Some(reply), None) => client.publish_with_reply(to, reply, payload).await,
                (Some(reply), Some(headers)) => {
                    client
                        .publish_with_reply_and_headers(to, reply, headers, payload)
                        .await
                }
            }
        };
        match tokio::time::timeout(self.options.send_timeout, sent).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(self.publish_error(subject, error)),
            Err(_) => Err(BusError::Disconnected),
        }
    }

    fn publish_error(&self, subject: &str, error: async_nats::PublishError) -> BusError {
        use async_nats::client::PublishErrorKind as Kind;
        match error.kind() {
            // The limit may have shrunk between our look at it and the client's.
            Kind::MaxPayloadExceeded => {
                let limit = self.client.max_payload();
                BusError::TooLarge {
                    subject: subject.to_owned(),
                    size: limit + 1,
                    limit,
                }
            }
            Kind::InvalidSubject => BusError::InvalidSubject {
                subject: subject.to_owned(),
            },
            _ if self.link.check().is_err() => BusError::Closed,
            _ => BusError::transport(format!("cannot publish to {subject}"), error),
        }
    }

    async fn outgoing(
        &self,
        subject: &str,
        headers: Headers,
        payload: Bytes,
    ) -> Result<Outgoing, BusError> {
        let limit = Some(self.client.max_payload());
        Outgoing::new(
            self.options.objects.as_ref(),
            limit,
            subject,
            headers,
            payload,
        )
        .await
    }

    fn forget(&self, path: Option<object_store::path::Path>) {
        if let (Some(objects), Some(path)) = (&self.options.objects, path) {
            objects.forget(path);
        }
    }

    /// After each reconnect, once the broker has our subscriptions again, tells all readers.
    fn tell_of_reconnects(self: &Arc<Self>) {
        let inner = Arc::downgrade(self);
        let mut reconnects = self.link.reconnects();
        tokio::spawn(async move {
            while reconnects.changed().await.is_ok() {
                let Some(inner) = inner.upgrade() else { break };
                if let Err(error) = inner.round_trip(inner.options.send_timeout).await {
                    tracing::warn!(%error, "broker is back, but slow to answer");
                }
                inner.link.tell_all_of_a_loss();
            }
        });
    }
}

#[async_trait]
impl Bus for Nats {
    fn files(&self) -> Option<Files> {
        self.inner.options.objects.as_ref().map(|o| o.files())
    }

    async fn publish(
        &self,
        subject: &str,
        headers: Headers,
        payload: Bytes,
    ) -> Result<(), BusError> {
        check_subject(subject)?;
        self.inner.link.check_connected()?;
        let Outgoing {
            headers, payload, ..
        } = self.inner.outgoing(subject, headers, payload).await?;
        self.inner
            .send(subject, None, convert::to_nats(&headers)?, payload)
            .await
    }

    async fn request(
        &self,
        subject: &str,
        headers: Headers,
        payload: Bytes,
        timeout: Duration,
    ) -> Result<Message, BusError> {
        check_subject(subject)?;
        let inner = &self.inner;
        inner.link.check()?;
        let mut outgoing = inner.outgoing(subject, headers, payload).await?;
        let stored = outgoing.stored.take();
        let reply = inner.exchange(subject, outgoing, timeout).await;
        match reply {
            Ok(reply) => {
                inner.forget(stored);
                let reply_path = Objects::path_of(&reply.headers);
                let reply = Objects::resolve(inner.options.objects.clone(), reply).await;
                inner.forget(reply_path);
                reply
            }
            Err(error) => {
                // Otherwise somebody may still be about to read it, and the sweep takes it.
                if error.nothing_ran() {
                    inner.forget(stored);
                }
                Err(error)
            }
        }
    }

    async fn subscribe(&self, pattern: &str) -> Result<Subscription, BusError> {
        self.open(pattern, None, self.inner.options.pending.subscription)
            .await
    }

    async fn queue_subscribe(&self, pattern: &str, queue: &str) -> Result<Subscription, BusError> {
        check_queue(queue)?;
        self.open(pattern, Some(queue), self.inner.options.pending.queue)
            .await
    }

    async fn respond(
        &self,
        request: &Message,
        headers: Headers,
        payload: Bytes,
    ) -> Result<(), BusError> {
        let Some(ReplyTo(ReplyPath::Subject(subject))) = &request.reply else {
            return Err(BusError::NotARequest {
                subject: request.subject.to_string(),
            });
        };
        // An answer is worth a short wait for the broker to come back.
        tokio::time::timeout(
            self.inner.options.send_timeout,
            self.inner.link.wait_connected(),
        )
        .await
        .map_err(|_| BusError::Disconnected)??;
        let Outgoing {
            headers, payload, ..
        } = self.inner.outgoing(subject, headers, payload).await?;
        self.inner
            .send(subject, None, convert::to_nats(&headers)?, payload)
            .await
    }

    async fn ping(&self, timeout: Duration) -> Result<(), BusError> {
        self.inner.link.check()?;
        self.inner.round_trip(timeout).await
    }

    async fn close(&self) {
        let inner = &self.inner;
        let reachable = inner.link.check_connected().is_ok();
        inner.link.close();
        inner.progress.close();
        // A broker that is away, or goes away now, must not keep the program from ending.
        if reachable {
            let limit = inner.options.send_timeout;
            let ended = async {
                if inner.client.drain().await.is_ok() {
                    inner.link.wait_closed().await;
                }
            };
            if tokio::time::timeout(limit, ended).await.is_err() {
                tracing::warn!("broker did not take the last messages in time");
            }
        }
        inner.link.ended();
    }
}
