"""The metrics in Prometheus' text format. Imported by the first scrape: the library would slow every start."""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.process_collector import ProcessCollector

from openprogram.server.metrics import Metrics


def render(metrics: Metrics) -> bytes:
    """All metrics, with those of the process."""
    registry = CollectorRegistry()
    registry.register(_Collector(metrics))
    ProcessCollector(registry=registry)
    return generate_latest(registry)


class _Collector:
    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        counts = self._metrics
        for name, text, value in (
            ("sockets", "Open WebSockets", counts.sockets),
            ("event_streams", "Open server-sent event streams", counts.streams),
            ("subscriptions", "Subscriptions of all tabs", counts.subscriptions),
            ("topics", "Bus topics that are listened to", counts.topics),
        ):
            yield GaugeMetricFamily(f"openprogram_{name}", text, value=value)
        for name, text, value in (
            ("sockets_opened", "WebSockets since the start", counts.sockets_opened),
            ("frames_sent", "Frames sent to tabs", counts.frames),
        ):
            yield CounterMetricFamily(f"openprogram_{name}", text, value=value)
        actions = CounterMetricFamily(
            "openprogram_actions", "Actions by name and outcome", labels=("action", "outcome")
        )
        for labels, count in counts.actions.items():
            actions.add_metric(labels, count)
        yield actions
        refused = CounterMetricFamily(
            "openprogram_requests_refused", "Requests that were turned away", labels=("reason",)
        )
        for reason, count in counts.refused.items():
            refused.add_metric((reason,), count)
        yield refused
