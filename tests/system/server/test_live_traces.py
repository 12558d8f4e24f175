"""A trace that a server takes in is shown with its verdict."""

from __future__ import annotations

from pathlib import Path

from planproof.server.live_traces import LiveTrace
from tests.otlp_traces import make_export, make_spans
from tests.server_processes import make_settings, open_client
from tests.timeouts import wait_until


def test_a_trace_that_is_judged_shows_its_verdict(tmp_path: Path) -> None:
    with open_client(make_settings(tmp_path / "served.db", quiet_seconds=0.1)) as client:
        assert client.post("/v1/traces", json=make_export(make_spans(1))).status_code == 200
        live = client.app.state.services.live  # pyright: ignore
        views: list[LiveTrace] = []

        def judged() -> bool:
            views[:] = client.portal.call(live.get_snapshot)  # pyright: ignore
            return bool(views) and views[0].outcome is not None

        wait_until(judged)
        (view,) = views
        assert (view.outcome, view.score, view.ceiling) == ("scored", 1.0, 1.0)
        assert [step.status for step in view.steps] == ["executed"] * 3
        assert (view.service, view.position) == ("desk", 0)
        assert client.get(f"/runs/{view.run}").status_code == 200
