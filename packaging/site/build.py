"""The documentation site: the documents of the repository, and reference pages made of schema, help and schemes.

``python packaging/site/build.py [TARGET]`` writes HTML that works without a server and fetches nothing. A link that
leads nowhere ends the build with exit status 1.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import reference

ROOT = Path(__file__).resolve().parents[2]
GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Start", ("README.md", "docs/tutorial.md")),
    ("How to", ("docs/howto/*.md",)),
    (
        "Guides",
        ("docs/cli.md", "docs/python.md", "docs/studies.md", "docs/report.md", "docs/emulation.md", "docs/winf.md",
         "docs/sensitivity.md", "docs/transports.md", "docs/radios.md", "docs/law.md"),
    ),
    ("Schemes", ("reference/schemes.md", "docs/schemes.md", "docs/adding-a-part.md")),
    (
        "Reference",
        ("reference/commands.md", "reference/scenario.md", "docs/result-fields.md", "docs/contract.md", "docs/model.md",
         "docs/ns2-behaviour.md"),
    ),
    ("Reproduction", ("docs/reproduction/*.md", "docs/experiments/*.md")),
    ("Validation and benchmarks", ("docs/validation.md", "docs/benchmarks.md", "docs/benchmarks-gateway.md")),
    (
        "Live gateway",
        ("docs/meshpaced.md", "docs/meshpaced-config.md", "docs/nat.md", "docs/host.md", "docs/hosts.md",
         "docs/edge.md", "docs/congestion.md", "docs/kernels.md", "docs/lost-routes.md", "docs/endpoint.md",
         "docs/ebpf.md",
         "docs/gateway-waits.md", "docs/robustness.md", "SECURITY.md"),
    ),
    ("Project", ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/fuzzing.md")),
)  # fmt: skip
"""What the navigation shows; documents in none of these stand under "More"."""

LINK = re.compile(r"(?<!!)\[([^\]\n]*)\]\(([^)\s]+)\)")
LIST = re.compile(r"\s*(?:[-*]|\d+\.) ")


def main(target: Path) -> None:
    """Builds the site."""
    with tempfile.TemporaryDirectory(prefix="meshpace-site-") as folder:
        source = Path(folder) / "source"
        assemble(ROOT, source)
        configuration = Path(folder) / "mkdocs.yml"
        configuration.write_text(json.dumps(config(source, target.resolve())), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--config-file", str(configuration)],
            check=False,
        )
    if done.returncode:
        sys.exit(1)
    searchable(target / "search")
    (target / "404.html").unlink(missing_ok=True)  # for a server at the root of a name alone
    print(f"{target}/index.html")


def searchable(folder: Path) -> None:
    """Makes the search one of files: its data as a script, and no worker."""
    documents = json.loads((folder / "search_index.json").read_text(encoding="utf-8"))["docs"]
    text = json.dumps(documents, ensure_ascii=False)
    (folder / "documents.js").write_text(f"const searchDocuments = {text};\n", encoding="utf-8")
    shutil.copy(Path(__file__).with_name("search.js"), folder / "main.js")
    for name in ("search_index.json", "worker.js"):
        (folder / name).unlink()


def assemble(root: Path, source: Path) -> None:
    """Puts every page below ``source`` as it lies in the repository, with links that lead to pages only."""
    pages = [*root.glob("*.md"), *(root / "docs").rglob("*.md")]
    for page in sorted(pages):
        place = source / page.relative_to(root)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(_page(page, root, set(pages)), encoding="utf-8")
    for name, text in reference.pages(root):
        place = source / "reference" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    shutil.copy(Path(__file__).with_name("site.css"), source / "site.css")
    for picture in (root / "docs").rglob("*.svg"):
        place = source / picture.relative_to(root)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(picture, place)


def _page(page: Path, root: Path, pages: set[Path]) -> str:
    """A document as Markdown of the stricter kind: a list needs an empty line before it."""
    lines: list[str] = []
    fenced = False
    for said in page.read_text(encoding="utf-8").splitlines():
        line = said
        fenced ^= line.startswith("```")
        if not fenced and not line.startswith("    "):
            before = lines[-1] if lines else ""
            if LIST.match(line) and before.strip() and not LIST.match(before) and not before.startswith(" "):
                lines.append("")
            line = LINK.sub(lambda found: _link(found, page, root, pages), line)
        lines.append(line)
    return "\n".join(lines) + "\n"


def _link(found: re.Match[str], page: Path, root: Path, pages: set[Path]) -> str:
    """A link to a page stays, one to a folder leads to its README, one to another file becomes its name."""
    text, target = found[1], found[2]
    path, _, place = target.partition("#")
    if "://" in target or not path:
        return found[0]
    file = (page.parent / path).resolve()
    if file.is_dir() and file / "README.md" in pages:
        return f"[{text}]({path.rstrip('/')}/README.md{'#' + place if place else ''})"
    if file in pages or not file.exists():
        return found[0]  # mkdocs says what leads nowhere
    shown = str(PurePosixPath(file.relative_to(root)))
    return text if text.strip("`").rstrip("/").endswith(Path(shown).name) else f"{text} (`{shown}`)"


def config(source: Path, target: Path) -> dict[str, object]:
    """What mkdocs is told; JSON is YAML."""
    return {
        "site_name": "meshpace",
        "site_description": "Adaptive pacing for TCP over multihop wireless meshes",
        "docs_dir": str(source),
        "site_dir": str(target),
        "use_directory_urls": False,
        "theme": {"name": "readthedocs", "highlightjs": False, "navigation_depth": 3},
        "extra_css": ["site.css"],
        "plugins": ["search"],
        "markdown_extensions": [{"toc": {"permalink": "#"}}, "sane_lists"],
        "validation": {
            "nav": {"omitted_files": "warn", "not_found": "warn", "absolute_links": "warn"},
            "links": {"not_found": "warn", "anchors": "warn", "absolute_links": "warn", "unrecognized_links": "warn"},
        },
        "nav": list(navigation(source)),
    }


def navigation(source: Path) -> Iterator[dict[str, list[dict[str, str]]]]:
    """The groups with their pages by title; every page is in one."""
    left = {str(page.relative_to(source)) for page in source.rglob("*.md")}
    for group, patterns in (*GROUPS, ("More", ("**/*.md",))):
        chosen = [str(page.relative_to(source)) for pattern in patterns for page in sorted(source.glob(pattern))]
        chosen = [page for page in dict.fromkeys(chosen) if page in left]
        left.difference_update(chosen)
        if chosen:
            yield {group: [{_title(source / page): page} for page in chosen]}


def _title(page: Path) -> str:
    first = next(line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("# "))
    return first.removeprefix("# ").replace("`", "")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "target" / "site")
