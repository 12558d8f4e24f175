"""What the pages of a server say, and where they lead; how they look is a browser's affair."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from planproof.runs.run_records import RunState
from planproof.runs.store.open_store import open_store
from tests.run_builders import RUN
from tests.server_processes import make_settings, open_client
from tests.stored_runs import LONG, NIGHTLY, fill_store

PATHS = (
    "/",
    "/?source=cases.jsonl",
    f"/runs/{LONG.id}",
    f"/runs/{LONG.id}?score=none&by=name&down=1&first=10",
    f"/runs/{RUN.id}/cases/3",
    f"/runs/{RUN.id}/cases/4",
    "/compare",
    f"/compare?base={LONG.id}&new={RUN.id}",
    "/live",
    "/try",
    "/try?case=reordered",
)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    store = fill_store(tmp_path_factory.mktemp("served") / "runs.db")
    with open_client(make_settings(store)) as made:
        yield made


@pytest.fixture(scope="module")
def empty_client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with open_client(make_settings(tmp_path_factory.mktemp("empty") / "runs.db")) as made:
        yield made


def get_text(client: TestClient, path: str, status: int = 200) -> str:
    answer = client.get(path)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    return answer.text


@pytest.mark.parametrize("path", PATHS)
def test_every_address_on_a_page_is_relative_and_nothing_is_inline(
    client: TestClient, path: str
) -> None:
    page = get_text(client, path)
    addresses = re.findall(r'(?:href|src|action|data-events)="([^"]*)"', page)
    assert addresses
    assert not [each for each in addresses if each.startswith("/") or "://" in each]
    assert not re.search(r"<[^>]+ (?:style|on[a-z]+)=", page)
    for script in re.findall(r"<script([^>]*)>", page):
        assert "src=" in script or 'type="application/json"' in script


def test_assets_are_kept_by_browsers_under_an_address_of_their_content(client: TestClient) -> None:
    sources = re.findall(r'(?:href|src)="\./(assets/[^"]*)"', get_text(client, "/try?case=claimed"))
    for source in sources:
        assert re.search(r"\?v=[0-9a-f]{12}$", source)
        answer = client.get(f"/{source}")
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
    assert client.get("/assets/nothing.js").status_code == 404


def test_an_empty_store_says_what_to_do_next(empty_client: TestClient) -> None:
    page = get_text(empty_client, "/")
    assert "planproof run cases.jsonl" in page
    assert "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://127.0.0.1/v1/traces" in page
    assert 'href="./try"' in page
    assert "A comparison needs two runs, and there are none." in get_text(empty_client, "/compare")
    assert "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://127.0.0.1/v1/traces" in get_text(
        empty_client, "/live"
    )


def test_runs_are_listed_with_means_and_the_change_from_the_previous_run(
    client: TestClient,
) -> None:
    page = get_text(client, "/")
    ids = re.findall(r'<th scope="row"><a href="\./runs/([^"]+)"', page)
    assert ids == [RUN.id, NIGHTLY.id, LONG.id]
    assert f'href="./compare?base={NIGHTLY.id}&amp;new={RUN.id}"' in page
    assert page.count("compare?base=") == 1
    assert "0.62" in page
    of_source = get_text(client, "/?source=cases.jsonl")
    assert LONG.id not in of_source


def test_a_tag_leads_to_the_runs_that_have_it_unless_it_is_masked(client: TestClient) -> None:
    page = get_text(client, "/")
    assert page.count('<a href="?tag=branch%3Dmain">branch=main</a>') == 2
    assert page.count('href="?tag=') == 2
    tagged = get_text(client, "/?tag=branch%3Dmain")
    assert LONG.id not in tagged
    assert NIGHTLY.id in tagged
    assert "is not a valid tag" in get_text(client, "/?tag=main", 404)


@pytest.mark.parametrize("path", ["/?first=1000", "/?source=nothing", "/?tag=a%3Db"])
def test_a_list_with_nothing_in_it_leads_back(client: TestClient, path: str) -> None:
    assert 'No runs match. <a href="./">Show all</a>' in get_text(client, path)


def test_a_run_that_has_no_case_yet_is_shown(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "runs.db"))
    store.begin(replace(RUN, state=RunState.RUNNING, finished=None))
    store.close()
    with open_client(make_settings(tmp_path / "runs.db")) as client:
        assert "running" in get_text(client, "/")
        page = get_text(client, f"/runs/{RUN.id}")
    assert "No case has been judged yet." in page
    assert "This run is in progress" in page


def test_a_list_that_is_long_is_paged(client: TestClient) -> None:
    first = get_text(client, f"/runs/{LONG.id}?by=position")
    assert first.count('class="position"') == 101
    assert 'href="?by=position&amp;first=100" rel="next"' in first
    last = get_text(client, f"/runs/{LONG.id}?by=position&first=200")
    assert last.count('class="position"') == 51
    assert 'rel="next"' not in last
    assert 'href="?by=position&amp;first=100" rel="prev"' in last


def test_a_step_that_broke_leads_to_the_cases_in_which_it_did(client: TestClient) -> None:
    page = get_text(client, f"/runs/{RUN.id}")
    (way,) = re.findall(r'<a href="([^"]*)">Check all figures</a>', page)
    found = get_text(client, f"/runs/{RUN.id}{way.replace('&amp;', '&')}")
    assert re.findall(r'<th scope="row" class="name"><a href="[^"]*">([^<]*)', found) == [
        "report-12"
    ]
    assert 'aria-current="true">Check all figures</a>' in found
    assert get_text(client, f"/runs/{RUN.id}?step=unknown").count('class="position"') == 6


def test_a_case_leads_to_its_neighbours_in_the_order_that_was_asked_for(
    client: TestClient,
) -> None:
    page = get_text(client, f"/runs/{LONG.id}/cases/5?score=0.25&by=name&first=1")
    assert 'href="0?score=0.25&amp;by=name" data-key="["' in page
    assert 'href="10?score=0.25&amp;by=name&amp;first=2" data-key="]"' in page
    assert f'href="../../../runs/{LONG.id}?score=0.25&amp;by=name"' in page


def test_a_case_that_was_come_to_otherwise_leads_on_in_the_data_set(client: TestClient) -> None:
    page = get_text(client, f"/runs/{LONG.id}/cases/100")
    assert 'href="99" data-key="["' in page
    assert 'href="101" data-key="]"' in page
    assert 'data-key="["' not in get_text(client, f"/runs/{LONG.id}/cases/0")


def test_a_case_is_found_by_its_id(client: TestClient) -> None:
    answer = client.get(f"/runs/{RUN.id}/case", params={"id": "report-12"}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "cases/3")
    assert "has no case `report-13`" in get_text(client, f"/runs/{RUN.id}/case?id=report-13", 404)


@pytest.mark.parametrize(
    "path",
    [
        "/runs/nothing",
        f"/runs/{RUN.id}/cases/99",
        f"/runs/{RUN.id}/cases/{10**30}",
        f"/runs/{RUN.id}/cases/-1",
        "/compare?base=nothing",
        f"/runs/{RUN.id}?first=-1",
        f"/runs/{RUN.id}/case?id=nobody",
    ],
)
def test_missing_pages_are_404_pages(client: TestClient, path: str) -> None:
    page = get_text(client, path, 404)
    assert "<h1>Not found</h1>" in page
    back = "../" * (path.partition("?")[0].count("/") - 1) or "./"
    assert f'<a href="{back}">All runs</a>' in page


def test_an_unknown_address_is_a_404_page_in_a_browser(client: TestClient) -> None:
    page = client.get("/nothing/at/all", headers={"Accept": "text/html"})
    assert page.status_code == 404
    assert '<a href="../../">All runs</a>' in page.text
    assert client.get("/nothing/at/all").json()["status"] == 404


def test_what_looks_like_a_secret_is_masked(client: TestClient) -> None:
    for path in ("/", f"/runs/{LONG.id}", "/compare"):
        page = get_text(client, path)
        assert "hunter2" not in page
        assert "password=[redacted]" in page


def test_markup_in_a_name_is_text(client: TestClient) -> None:
    for path in (f"/runs/{RUN.id}", f"/runs/{RUN.id}/cases/4", "/compare", "/"):
        page = get_text(client, path)
        assert "<b>late" not in page
        assert "<b>tag" not in page
        assert "&lt;b&gt;" in page or "\\u003cb\\u003e" in page


def test_a_run_that_is_unknown_to_the_form_can_still_be_compared(client: TestClient) -> None:
    page = get_text(client, f"/compare?base={NIGHTLY.id}&new={RUN.id}")
    assert page.count(" selected>") == 2
    assert "not compared: 1 no longer scored, 1 only in the base, 1 only in the new run" in page


def test_scripts_set_text_and_never_markup() -> None:
    for asset in files("planproof.server.pages").joinpath("assets").iterdir():
        source = asset.read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", source)
        assert not re.search(
            r"fetch\(|XMLHttpRequest|WebSocket|import\(|https?://(?!www\.w3)", source
        )
        assert not re.search(r"@import|url\(", source)
