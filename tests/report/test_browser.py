"""The page in a browser: it opens, sorts, reads well at three widths, in the dark and on paper. Skipped where there is
no Chromium; what can be told without one is in test_accessible.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.profile.store import ProfileStore
from loopwright.report.page import page
from loopwright.report.subjects import contents
from report.browser import Browser, found, size_of
from report.contrast import TEXT, contrast
from report.stored import NOW, fill

pytestmark = pytest.mark.skipif(found() is None, reason="no Chromium is installed (apt install chromium)")

WIDTHS = (360, 800, 1280)  # a phone, a tablet, a desk
HEX = "const hex = c => '#' + c.match(/\\d+/g).slice(0, 3).map(n => Number(n).toString(16).padStart(2, '0')).join('');"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = fill(tmp_path_factory.mktemp("store") / "store.sqlite3")
    with ProfileStore.open(path, readonly=True) as store:
        return page(store, contents(store), NOW)


@pytest.fixture
def browser(tmp_path: Path) -> Browser:
    return Browser(tmp_path)


def test_its_own_script_is_all_that_its_policy_lets_run(made: str, browser: Browser) -> None:
    strange = "<script>document.title = 'strange'</script><style>@import 'https://example.org/x.css'</style></main>"
    loaded = browser.loaded(made.replace("</main>", strange))
    assert loaded.count('<button type="button">') > 20 and "<title>Loopwright report</title>" in loaded


def test_a_click_sorts_and_another_one_turns_it_round(made: str, browser: Browser) -> None:
    told = browser.asked(
        made,
        """const table = [...document.querySelectorAll("table.sortable")].find(t => t.textContent.includes("spread"));
        const heads = [...table.tHead.rows[0].cells], column = heads.findIndex(h => h.textContent === "time");
        const rows = () => [...table.tBodies[0].rows].map(row => row.cells[column].textContent);
        const found = [rows()];
        for (let k = 0; k < 2; k++) {
          heads[column].querySelector("button").click();
          found.push([heads[column].getAttribute("aria-sort"), ...rows()]);
        }
        return found;""",
    )
    before, up, down = told
    assert before[-1] == "" and up[0] == "ascending" and down[0] == "descending"
    assert up[1:] == ["537 ms", "591 ms", "1.07 s", "4.3 s", ""]  # by their values, and what has none comes last
    assert down[1:] == ["4.3 s", "1.07 s", "591 ms", "537 ms", ""]


def test_text_is_sorted_as_text(made: str, browser: Browser) -> None:
    first, *rest = browser.asked(
        made,
        """const table = document.querySelector("table.sortable"), head = table.tHead.rows[0].cells[7];
        head.querySelector("button").click(); head.querySelector("button").click();
        return [...table.tBodies[0].rows].map(row => row.cells[7].textContent);""",
    )
    assert first.startswith("GPU") and all(one.startswith("CPU") for one in rest)


@pytest.mark.parametrize("width", WIDTHS)
def test_it_fits_its_width(made: str, browser: Browser, width: int) -> None:
    """The page itself never scrolls sideways; what is wide scrolls by itself, and can be reached by keys."""
    told = browser.asked(
        made,
        """const all = [...document.querySelectorAll(".scroll, figure")];
        const wide = all.filter(e => e.scrollWidth > e.clientWidth + 1);
        const texts = [...document.querySelectorAll("figure > svg text")].map(e => e.getBoundingClientRect().height);
        return {page: document.documentElement.scrollWidth, shown: window.innerWidth,
          lost: wide.filter(e => getComputedStyle(e).overflowX !== "auto").length,
          unreached: wide.filter(e => e.querySelector("table.sortable") && e.tabIndex < 0).length,
          body: parseFloat(getComputedStyle(document.body).fontSize), smallest: Math.min(...texts)};""",
        width,
    )
    assert told["page"] <= told["shown"] == width
    assert (told["lost"], told["unreached"]) == (0, 0)
    assert told["body"] >= 14 and told["smallest"] >= 9


@pytest.mark.parametrize(("width", "dark"), [(360, False), (800, True), (1280, False)])
def test_pictures_at_three_widths(made: str, browser: Browser, width: int, dark: bool) -> None:
    png = browser.picture(made, width, 900, dark)
    assert size_of(png) == (max(width, 500), 900) and png.stat().st_size > 15_000


@pytest.mark.parametrize("dark", [False, True])
def test_what_is_read_stands_out(made: str, browser: Browser, dark: bool) -> None:
    """Every text against the ground that it really has."""
    told = browser.asked(
        made,
        HEX
        + """const ground = e => { for (; e; e = e.parentElement) {
            const c = getComputedStyle(e).backgroundColor; if (!/, 0\\)$|transparent/.test(c)) return hex(c); }
          return "#ffffff"; };
        const pairs = new Set();
        for (const e of document.querySelectorAll("h1,h2,h3,h4,p,td,th,a,li,summary,code,button,figcaption"))
          if (e.textContent.trim()) pairs.add(hex(getComputedStyle(e).color) + " " + ground(e));
        for (const e of document.querySelectorAll("figure > svg text"))
          pairs.add(hex(getComputedStyle(e).fill) + " " + ground(e));
        return [...pairs];""",
        dark=dark,
    )
    assert len(told) > 3
    poor = {pair: contrast(*pair.split()) for pair in told if contrast(*pair.split()) < TEXT}
    assert poor == {}
    grounds = {pair.split()[1] for pair in told}
    assert ("#ffffff" in grounds) != dark


def test_a_pointer_over_a_point_is_told_what_it_is(made: str, browser: Browser) -> None:
    told = browser.asked(
        made,
        """const mark = document.querySelector("figure > svg .series path"); mark.scrollIntoView();
        const box = mark.getBoundingClientRect();
        const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
        return hit.querySelector("title").textContent;""",
    )
    assert " at " in told and ": " in told


def test_the_picture_of_a_shared_call(made: str, browser: Browser) -> None:
    """Bars can be told by their colour, their height and their words; the whole fits its width."""
    told = browser.asked(
        made,
        """const bars = [...document.querySelectorAll("figure rect.span")]; bars[0].scrollIntoView();
        const seen = bars.filter(e => e.ownerSVGElement.getAttribute("role") === "img").map(e => {
          const box = e.getBoundingClientRect();
          const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
          return [hit.querySelector("title").textContent, getComputedStyle(e).fill, Math.round(box.height)];
        });
        const frame = bars[0].ownerSVGElement.getBoundingClientRect();
        return {seen, inside: bars.slice(0, 5).every(e => e.getBoundingClientRect().right <= frame.right + 1)};""",
    )
    assert told["inside"] and len(told["seen"]) == 5
    computes = {(fill, height) for words, fill, height in told["seen"] if "computes" in words}
    copies = {(fill, height) for words, fill, height in told["seen"] if " from " in words}
    assert len(computes) == len(copies) == 1
    assert computes.pop()[0] != copies.pop()[0]


def test_what_each_device_did_can_be_sorted(made: str, browser: Browser) -> None:
    told = browser.asked(
        made,
        """const table = [...document.querySelectorAll("table.sortable")].find(t => t.textContent.includes("waits"));
        const rows = () => [...table.tBodies[0].rows].map(row => row.cells[0].textContent);
        const button = [...table.tHead.rows[0].cells].find(h => h.textContent === "busy").querySelector("button");
        button.click(); const up = rows(); button.click(); return [up, rows()];""",
    )
    assert told == [["cuda (Some GPU)", "cpu"], ["cpu", "cuda (Some GPU)"]]


def test_a_schedule_opens(made: str, browser: Browser) -> None:
    closed, opened = browser.asked(
        made,
        """const one = document.querySelector("table details"), height = () => one.getBoundingClientRect().height;
        const before = height(); one.querySelector("summary").click(); return [before, height()];""",
    )
    assert opened > closed + 20


def test_on_paper_nothing_is_cut_off(made: str, browser: Browser) -> None:
    """As it is laid out on a sheet of A4 with its margins: what is wide cannot be scrolled there."""
    told = browser.asked(
        made.replace("@media print", "@media all"),
        """const wide = [...document.querySelectorAll(".scroll, figure, table, svg")];
        const edge = document.documentElement.clientWidth;
        return {page: document.documentElement.scrollWidth, edge, tables: document.querySelectorAll("table").length,
          cut: wide.filter(e => e.getBoundingClientRect().right > edge + 1).length};""",
        width=702,
    )
    assert told["tables"] > 5 and told["cut"] == 0 and told["page"] <= told["edge"]


def test_it_can_be_printed(made: str, browser: Browser) -> None:
    pdf = browser.printed(made)
    assert pdf[:4] == b"%PDF" and len(pdf) > 20_000
