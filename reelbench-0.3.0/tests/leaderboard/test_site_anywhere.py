"""The page from a disk, below another address, in a frame and under a host's policies: same words, same pictures."""

import re

import pytest

from tests.leaderboard.rows import MOVIECORE
from tests.leaderboard.test_site_of_runs import site_of_runs  # noqa: F401 - the fixture is used by its name
from tests.servers.files import FileServer, Response

pytestmark = pytest.mark.browser

TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css",
    "csv": "text/csv",
}
POLICIES = {
    "own files only": "default-src 'self'",
    "no styles in attributes": "default-src 'self' data:; style-src 'self'; script-src 'self'",
    "trusted types": "default-src 'self' data:; require-trusted-types-for 'script'",
}
PLACES = ("file", "sub-path", "frame", *POLICIES)
ADDRESSES = ("#/overall", f"#/moviecore?group={MOVIECORE.id}", "#/model/lab/big")
DRAWN = """() => {
  const middle = (e) => { const b = e.getBoundingClientRect(); return b.left + b.width / 2; };
  const share = (at, box) => +((at - box.left) / box.width).toFixed(3);
  const within = (e, box) => share(middle(e), box.getBoundingClientRect());
  return {
    dots: [...document.querySelectorAll(".lane .dot[data-value]")].map((dot) =>
      [+dot.dataset.value, within(dot, dot.parentElement), dot.closest("td, th")?.cellIndex ?? -1]),
    brackets: [...document.querySelectorAll(".bracket i")].map((i) => within(i, i.parentElement)),
    marks: [...document.querySelectorAll("svg[width] .mark")].map((mark) =>
      [mark.querySelector("title")?.textContent, within(mark, mark.closest("svg"))]),
    words: document.querySelector("main").innerText,
  };
}"""


def serve(server, folder, below, policy=None):
    for path in (path for path in folder.rglob("*") if path.is_file()):
        headers = {"Content-Type": TYPES.get(path.suffix[1:], "application/octet-stream")}
        headers |= {"Content-Security-Policy": policy} if policy else {}
        server.files[f"{below}/{path.relative_to(folder).as_posix()}"] = Response(
            200, path.read_bytes(), headers
        )
    return f"{server.url}{below}/index.html"


@pytest.fixture(scope="module")
def seen(chromium, site_of_runs):  # noqa: F811 - the fixture
    """Place -> address of the page -> what is drawn there; and the errors that the browser reported, by place."""
    found, errors = {}, {}
    with FileServer() as server, FileServer("localhost") as other:
        bases = {
            "file": f"file://{site_of_runs}/index.html",
            "sub-path": serve(server, site_of_runs, "/some/where/board"),
            **{
                name: serve(server, site_of_runs, f"/{name.replace(' ', '-')}", text)
                for name, text in POLICIES.items()
            },
        }
        for place in PLACES:
            page = chromium.new_page(viewport={"width": 1280, "height": 900})
            errors[place] = said = []
            page.on(
                "console",
                lambda message, said=said: (
                    said.append(message.text) if message.type == "error" else None
                ),
            )
            page.on("pageerror", lambda error, said=said: said.append(str(error)))
            found[place] = {}
            for address in ADDRESSES:
                target = page
                if place == "frame":
                    frame = f'<iframe src="{bases["sub-path"]}{address}" width=1280 height=900 style="border:0"></iframe>'
                    body = f'<!doctype html><link rel=icon href=data:,><body style="margin:0">{frame}'.encode()
                    other.files["/outer.html"] = Response(200, body, {"Content-Type": "text/html"})
                    page.goto("about:blank")
                    page.goto(f"{other.url}/outer.html")
                    target = page.frames[1]
                else:
                    page.goto("about:blank")
                    page.goto(bases[place] + address)
                target.locator("main h1").wait_for()
                target.wait_for_function(
                    "() => !document.querySelector('main').innerText.includes('Loading…')"
                )
                if "group" in address:  # its charts come when there is time
                    target.locator("[id^=chart-]").first.wait_for()
                for chart in target.locator("[id^=chart-]").all():
                    chart.scroll_into_view_if_needed()
                    target.wait_for_function(
                        "(e) => e.dataset.drawn === 'true'", arg=chart.element_handle()
                    )
                found[place][address] = target.evaluate(DRAWN)
            if place != "frame":
                page.goto("about:blank")
                page.goto(f"{bases[place]}#/rextime")
                page.locator("table.rows tbody .name").first.wait_for()
                found[place]["later"] = page.evaluate(
                    "() => Reelbench.loadRun(Reelbench.data.rows[0]).then((run) => typeof run, String)"
                )
            page.close()
    return found, errors


@pytest.mark.parametrize("place", PLACES[1:])
@pytest.mark.parametrize("address", ADDRESSES)
def test_the_same_words_and_pictures_as_from_the_disk(seen, place, address):
    found, _ = seen
    assert found[place][address] == found["file"][address]


@pytest.mark.parametrize("place", PLACES)
def test_dots_stand_where_their_values_are(seen, place):
    """Of each lane all dots are on one line of value against place; before, all stood at the left end."""
    lanes = {}
    for address, drawn in seen[0][place].items():
        for value, at, column in drawn["dots"] if address in ADDRESSES else ():
            lanes.setdefault((address, column), []).append((value, at))
    told = {
        lane: sorted(set(dots))
        for lane, dots in lanes.items()
        if len({value for value, _ in dots}) > 2
    }
    assert len(told) >= 4
    for lane, dots in told.items():
        (low, left), (high, right) = dots[0], dots[-1]
        assert right - left > 0.3, (lane, dots)
        for value, at in dots:
            assert at == pytest.approx(
                left + (right - left) * (value - low) / (high - low), abs=0.01
            ), (lane, dots)


def test_policies_forbid_nothing_that_the_page_needs(seen):
    found, errors = seen
    assert [found[place]["later"] for place in PLACES if place != "frame"] == ["object"] * 5
    told = {
        place: [line for line in said if not re.search("data:image/svg", line)]
        for place, said in errors.items()
    }
    assert told == {
        place: [] for place in PLACES
    }  # under 'self' alone the little picture of the tab is left out
