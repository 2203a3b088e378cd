"""The book as it lies in the repository: pages, notebooks and launch links. Fast; nothing is executed or built."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from voicewire_book import paths
from voicewire_book.kit import claims, figures

ROOT = paths.root()
CHAPTERS = paths.chapters()
NAMES = [path.relative_to(ROOT).as_posix() for path in CHAPTERS]
ASSIGNMENTS = sorted((ROOT / "notebooks").glob("*/assignment.ipynb"))

TAGS = {"solution", "check", "parameters", "nbval-ignore-output", "raises-exception"}
TAGS |= {"hide-input", "hide-output", "hide-cell"}
MIMES = {"text/plain", "text/html", "text/markdown", "text/latex", "image/png", claims.MIME, figures.NARROW}
MACHINE = re.compile(
    r"(?<![\w.])/(?:home|root|Users|tmp|work|opt|mnt|var)/|[A-Z]:\\\\|site-packages| at 0x[0-9a-f]{6,}"
)
REMOTE = re.compile(r"""(?:src|href)\s*=\s*["']?\s*(?:https?:)?//|url\(\s*["']?(?:https?:)?//|@import""", re.I)


def cells(path: Path) -> list[dict[str, Any]]:
    return list(json.loads(path.read_text(encoding="utf-8"))["cells"])


def code(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in cells(path) if cell["cell_type"] == "code"]


def text(value: str | list[str]) -> str:
    return value if isinstance(value, str) else "".join(value)


def outputs(path: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for cell in code(path):
        for output in cell["outputs"]:
            yield cell, output


def shown(output: dict[str, Any]) -> str:
    """Return what of an output a reader may see or a browser may load, pictures and sounds left out."""
    parts = [text(output.get("text", ""))]
    parts += [text(data) for mime, data in output.get("data", {}).items() if mime.startswith("text/")]
    return re.sub(r"base64,[A-Za-z0-9+/=]+|\"pictures\":\[[^\]]*\]", "", "\n".join(parts))


def contents() -> list[str]:
    """Return the pages that the table of contents names."""
    found: list[str] = []

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            found.extend(node[key] for key in ("root", "file") if key in node)
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for item in node:
                walk(item)

    walk(yaml.safe_load((ROOT / "book" / "_toc.yml").read_text(encoding="utf-8")))
    return found


def tracked() -> set[str]:
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines())


notebooks = pytest.mark.parametrize("path", CHAPTERS, ids=NAMES)


# The table of contents


@pytest.mark.needs("git-checkout")
def test_every_page_of_the_contents_is_tracked_once():
    pages = contents()
    assert len(pages) == len(set(pages))
    files = tracked()
    assert [p for p in pages if not {f"{p}.md", f"{p}.ipynb"} & files] == []


def test_no_assignment_and_no_fragment_is_a_page():
    assert [p for p in contents() if p.endswith("assignment") or p.rpartition("/")[2].startswith("_")] == []


def test_parts_stand_in_the_order_of_the_book():
    pages = [p for p in contents() if re.fullmatch(r"book/[a-z]+/index", p)]
    assert pages == [f"book/{part.name}/index" for part in paths.PARTS]


# Notebooks


@notebooks
def test_a_notebook_was_executed_from_top_to_bottom(path):
    counts = [cell["execution_count"] for cell in code(path)]
    assert counts == list(range(1, len(counts) + 1))


@notebooks
def test_no_output_was_cleared(path):
    """Cells that print, check an answer or show a table have an output: nbval passes them when it is gone."""
    for cell in code(path):
        body = ast.parse(re.sub(r"^[%!].*$", "pass", text(cell["source"]), flags=re.M)).body
        prints = any(
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Call)
            and getattr(node.value.func, "id", "") == "print"
            for node in body
        )
        tags = cell["metadata"].get("tags", [])
        ends = text(cell["source"]).rstrip()
        if prints or "check" in tags or ends.endswith((".table()",)):
            assert cell["outputs"], f"cell {cell['execution_count']} has no output"


@notebooks
def test_tags_are_known(path):
    for cell in cells(path):
        assert set(cell["metadata"].get("tags", [])) <= TAGS


@notebooks
def test_few_cells_escape_comparison(path):
    free = [cell for cell in code(path) if "nbval-ignore-output" in cell["metadata"].get("tags", [])]
    assert len(free) <= len(code(path)) / 4


@notebooks
def test_nothing_on_stderr_and_no_unexpected_error(path):
    for cell, output in outputs(path):
        where = f"cell {cell['execution_count']}"
        assert output.get("name") != "stderr", where
        if output["output_type"] == "error":
            assert "raises-exception" in cell["metadata"].get("tags", []), where


@notebooks
def test_outputs_are_of_known_kinds(path):
    for _, output in outputs(path):
        assert set(output.get("data", {})) <= MIMES


@notebooks
def test_outputs_fetch_nothing(path):
    for cell, output in outputs(path):
        assert not REMOTE.search(shown(output)), f"cell {cell['execution_count']}"


@notebooks
def test_no_path_or_address_of_a_machine(path):
    for cell in cells(path):
        assert not MACHINE.search(text(cell["source"])), text(cell["source"])[:80]
    for cell, output in outputs(path):
        found = MACHINE.search(shown(output))
        assert not found, f"cell {cell['execution_count']}: {found and found.group()}"


@notebooks
def test_each_picture_is_described_and_small(path):
    for cell in code(path):
        named = cell["metadata"].get("mystnb", {}).get("figure", {}).get("name")
        pictures = [o["data"]["image/png"] for o in cell["outputs"] if "image/png" in o.get("data", {})]
        assert pictures or not named, f"{named}: the cell has the name of a figure, and shows none"
        if not pictures:
            continue
        where = f"cell {cell['execution_count']}"
        alt = cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")
        assert len(alt.split()) >= 4, f"{where}: say in a sentence what the picture shows"
        assert len(pictures) == 1, f"{where}: one picture a cell, since all would get the same description"
        assert len(text(pictures[0])) * 3 / 4 <= 150_000, where


@notebooks
def test_a_notebook_is_at_most_two_megabytes(path):
    assert path.stat().st_size <= 2_000_000


@notebooks
def test_exercises_have_a_check_and_a_folded_solution(path):
    prose = "\n".join(text(c["source"]) for c in cells(path) if c["cell_type"] == "markdown")
    labels = re.findall(r"^`{3,}\{exercise\}[^\n]*\n:label: *(\S+)", prose, re.M)
    solved = re.findall(r"^`{3,}\{solution-start\} *(\S+)\n(?::label:[^\n]*\n)?:class: dropdown", prose, re.M)
    assert labels, "a chapter has exercises"
    assert set(labels) == set(solved)
    tags = [tag for cell in code(path) for tag in cell["metadata"].get("tags", [])]
    assert tags.count("check") >= len(labels)
    checks = ["".join(cell["source"]) for cell in code(path) if "check" in cell["metadata"].get("tags", [])]
    asked = [re.match(r'check\(\s*"(.+?)"', source)[1] for source in checks]
    lab = next(label for label in labels if label not in asked)
    assert [label for label in labels if label not in asked] == [lab]
    assert all(label in labels or label.startswith(f"{lab}-") for label in asked) and len(set(asked)) == len(asked)


@pytest.mark.parametrize("path", ASSIGNMENTS, ids=[p.parent.name for p in ASSIGNMENTS])
def test_an_assignment_is_an_instructors_source_without_outputs(path):
    assert all(cell["execution_count"] is None and not cell["outputs"] for cell in code(path))
    graded = [cell for cell in cells(path) if cell["metadata"].get("nbgrader", {}).get("grade")]
    assert graded
    assert any("### BEGIN SOLUTION" in text(cell["source"]) for cell in code(path))


# One address, one version


def test_the_repository_has_one_address():
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    url = config["repository"]["url"]
    owner, name = url.removeprefix("https://github.com/").split("/")
    pages = f"https://{owner}.github.io/{name}/"
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["repository-code"] == url
    assert citation["url"] == config["html"]["baseurl"] == config["sphinx"]["config"]["ogp_site_url"] == pages
    for file in ("README.md", "book/how-to-use.md", "book/instructors.md"):
        content = (ROOT / file).read_text(encoding="utf-8")
        named = re.findall(r"https://github\.com/[\w-]+/[\w-]+", content)
        assert set(named) <= {url}, file
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"/gh/{owner}/{name}/" in readme
    assert pages in readme


@pytest.mark.needs("git-checkout")
def test_no_link_points_to_a_tag_before_it_exists():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    listed = subprocess.run(["git", "tag", "--points-at", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    released = f"v{version}" in listed.stdout.split()
    branch = f"v{version}" if released else "main"
    assert config["repository"]["branch"] == branch
    assert re.findall(r"mybinder\.org/v2/gh/[\w-]+/[\w-]+/([^?]+)\?", readme) == [branch]
    assert citation["version"] == version
    assert ("date-released" in citation) is released
    heading = re.search(rf"^## {re.escape(version)}: (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert heading is not None
    assert (heading[1] == "unreleased") is not released


def test_links_between_the_front_files_resolve():
    for file in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "HISTORY.md", "SECURITY.md", "CODE_OF_CONDUCT.md"):
        content = (ROOT / file).read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", content):
            assert (ROOT / target).exists(), f"{file}: {target}"


def test_workflows_pin_their_actions_and_run_nothing_of_their_own():
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        content = path.read_text(encoding="utf-8")
        uses = re.findall(r"uses: (\S+)(.*)", content)
        for action, comment in uses:
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action), f"{path.name}: {action}"
            assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), f"{path.name}: say which version {action} is"
        jobs = yaml.safe_load(content)["jobs"]
        assert all("timeout-minutes" in job or "needs" in job for job in jobs.values()), path.name
        assert yaml.safe_load(content)["permissions"]
    commands = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    assert "bash .ci/run" in commands
