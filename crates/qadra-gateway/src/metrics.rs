use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

/// What `/metrics` shows, in the OpenMetrics text format. Labels never carry ids: their number is bounded.
pub(crate) struct Metrics {
    registry: Registry,
    pub(crate) requests: Family<RequestLabels, Counter>,
    pub(crate) seconds: Family<OperationLabels, Histogram>,
    pub(crate) streams: Gauge<i64>,
    pub(crate) stream_events: Counter<u64, AtomicU64>,
    pub(crate) stream_resyncs: Counter<u64, AtomicU64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct RequestLabels {
    pub(crate) operation: String,
    pub(crate) status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct OperationLabels {
    pub(crate) operation: String,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("qadra");
        let requests = Family::default();
        let seconds = Family::<OperationLabels, Histogram>::new_with_constructor(|| {
            Histogram::new(exponential_buckets(0.001, 2.0, 16))
        });
        let (streams, stream_events, stream_resyncs) =
            (Gauge::default(), Counter::default(), Counter::default());
        registry.register(
            "http_requests",
            "Requests answered, by operation and status",
            requests.clone(),
        );
        registry.register(
            "http_seconds",
            "Time to the head of the answer",
            seconds.clone(),
        );
        registry.register("sse_streams", "Event streams open now", streams.clone());
        registry.register(
            "sse_events",
            "Events sent on streams",
            stream_events.clone(),
        );
        registry.register(
            "sse_resyncs",
            "Times a stream had to re-read events it missed on the bus",
            stream_resyncs.clone(),
        );
        Self {
            registry,
            requests,
            seconds,
            streams,
            stream_events,
            stream_resyncs,
        }
    }

    pub(crate) fn render(&self) -> String {
        let mut out = String::new();
        if encode(&mut out, &self.registry).is_err() {
            out.clear();
        }
        out
    }
}
