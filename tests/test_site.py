"""`make site`: the documentation as HTML, whose links lead somewhere, and which fetches nothing."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote

import pytest

import browser
from documents import ROOT
from meshpace import engine
from meshpace.cli import COMMANDS
from meshpace.cli.declared import Group

pytestmark = pytest.mark.xdist_group("site")  # it is built once

pytest.importorskip("mkdocs")
BUILDER = ROOT / "packaging" / "site"


class Page(HTMLParser):
    """Where a page leads, what it loads, and the places in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {key: value or "" for key, value in attrs}
        self.places |= {found[key] for key in ("id", "name") if key in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag in {"link", "script", "img", "iframe"}:
            self.loaded.append(found.get("src") or found.get("href") or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site")
    words = [sys.executable, str(BUILDER / "build.py"), str(target)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return target


def test_every_link_leads_to_a_page_and_a_place(site: Path) -> None:
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    assert len(pages) > 30
    lost = []
    for path, page in pages.items():
        for link in page.links:
            if "://" in link or link.startswith(("mailto:", "javascript:")):
                continue
            name, _, place = link.partition("#")
            target = (path.parent / unquote(name)).resolve() if name not in {"", "."} else path
            if not target.exists() or (place and target in pages and unquote(place) not in pages[target].places):
                lost.append(f"{path.relative_to(site.resolve())}: {link}")
    assert not lost


def test_it_loads_nothing_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        page = Page(path.read_text(encoding="utf-8"))
        assert not [source for source in page.loaded if re.match(r"(https?:)?//", source)], path
        for source in filter(None, page.loaded):
            assert (path.parent / source.partition("?")[0]).exists(), f"{path}: {source}"


def test_every_document_is_a_page_of_the_navigation(site: Path) -> None:
    index = Page((site / "index.html").read_text(encoding="utf-8"))
    shown = {link.partition("#")[0] for link in index.links}
    for document in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        page = document.relative_to(ROOT).with_suffix(".html")
        page = page.with_name("index.html") if document.name == "README.md" else page
        assert (site / page).is_file()
        assert str(page) in shown or page == Path("index.html"), f"{page} is in no group"


def test_the_reference_is_whole(site: Path) -> None:
    commands = Page((site / "reference" / "commands.html").read_text(encoding="utf-8"))
    for name, entry in COMMANDS.commands.items():
        below = [f"{name}-{inner}" for inner in entry.commands] if isinstance(entry, Group) else [name]
        assert {f"meshpace-{word}" for word in below} <= commands.places
    schema = json.loads(engine.schema())
    scenario = Page((site / "reference" / "scenario.html").read_text(encoding="utf-8"))
    assert {"schemename" if key == "scheme" else key for key in schema["properties"]} <= scenario.places
    text = (site / "reference" / "scenario.html").read_text(encoding="utf-8")
    assert "integer from 1 to 1,000,000<" in text, "as a reader writes it"
    for key in schema["properties"]["radio"]["properties"]:
        assert f"<code>{key}</code>" in text
    catalogue = (site / "reference" / "schemes.html").read_text(encoding="utf-8")
    assert {row["name"] for row in engine.schemes()} <= Page(catalogue).places
    tcp_ap = catalogue.partition('id="tcp-ap"')[2].partition("<h2")[0]
    assert "FHD_hat = alpha*FHD_hat_old + (1 - alpha)*FHD" in tcp_ap, "its formulas stand with it"
    assert "<code>alpha</code>" in tcp_ap


@pytest.mark.skipif(browser.CHROMIUM is None, reason="Chromium is not installed: make setup as root")
def test_search_finds_pages_that_are_files(site: Path, tmp_path: Path) -> None:
    results = "[...document.querySelectorAll('#mkdocs-search-results a')].map((link) => link.href)"
    told = "document.getElementById('mkdocs-search-results').textContent.trim()"
    with browser.page(tmp_path / "profile") as page:
        page.open(site / "index.html")
        page.open_url(f"{(site / 'search.html').as_uri()}?q=ack_timeout")
        page.wait(f"{results}.length > 0")
        found = page.ask(results)
        assert any("/reference/scenario.html#radio" in link for link in found)
        files = {Path(unquote(link.partition("#")[0].removeprefix("file://"))) for link in found}
        assert all(file.is_file() for file in files)
        page.open_url(f"{(site / 'search.html').as_uri()}?q=zzzzqq")
        page.wait(f"{told} === 'No results found'")
        assert page.complaints == []


def builder() -> ModuleType:
    sys.path.insert(0, str(BUILDER))
    try:
        spec = importlib.util.spec_from_file_location("build", BUILDER / "build.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(BUILDER))


@pytest.mark.parametrize("link", ["docs/nowhere.md", "docs/cli.md#no-such-place"])
def test_a_link_that_leads_nowhere_ends_the_build(link: str, tmp_path: Path) -> None:
    source = tmp_path / "source"
    module = builder()
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "cli.md").write_text("# Commands\n")
    (tmp_path / "docs" / "schemes.md").write_text((ROOT / "docs" / "schemes.md").read_text(encoding="utf-8"))
    (tmp_path / "README.md").write_text(f"# Home\n\nSee [there]({link}).\n")
    module.assemble(tmp_path, source)
    config = tmp_path / "mkdocs.yml"
    config.write_text(json.dumps(module.config(source, tmp_path / "site")))
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(config)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert link.rpartition("#")[2] in done.stderr
