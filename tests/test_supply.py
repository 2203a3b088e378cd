"""Where what we build with comes from: workflows that keep no credentials, images by digest, holes that are known."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from typing import Any

import pytest
import yaml

from voicewire_book import paths
from voicewire_book.publish.live import packed

ROOT = paths.root()
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def steps() -> list[tuple[str, dict[str, Any]]]:
    found = []
    for path in WORKFLOWS:
        for name, job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].items():
            found += [(f"{path.name} {name}", step) for step in job["steps"]]
    return found


def images() -> dict[str, str]:
    """Every image that a job runs in, or beside it."""
    found = {}
    for path in WORKFLOWS:
        for name, job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].items():
            for place, each in {"container": job.get("container", {}), **job.get("services", {})}.items():
                if each:
                    found[f"{path.name} {name} {place}"] = each if isinstance(each, str) else each["image"]
    return found


def test_no_workflow_keeps_credentials():
    checkouts = [(where, step) for where, step in steps() if step.get("uses", "").startswith("actions/checkout@")]
    assert len(checkouts) > 4
    assert [where for where, step in checkouts if step.get("with", {}).get("persist-credentials") is not False] == []
    commands = "".join(step.get("run", "") for _, step in steps())
    assert re.findall(r"x-access-token|extraheader|https://[^ /]*@|credential\.helper", commands) == []


def test_what_workflows_use_is_held_by_digest():
    used = {step["uses"] for _, step in steps() if "uses" in step}
    assert [name for name in used if not re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", name)] == []
    assert len(images()) == 2
    assert [name for name in images().values() if not re.search(r"@sha256:[0-9a-f]{64}$", name)] == []
    assert len(set(images().values())) == 1
    held = (ROOT / ".ci" / "clone").read_text(encoding="utf-8") + (ROOT / ".ci" / "another").read_text(encoding="utf-8")
    assert "docker" not in held


@pytest.fixture
def audit(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import audit

    yield audit
    sys.modules.pop("audit", None)


def test_each_hole_that_is_borne_has_its_reason(audit):
    rows = audit.borne()
    for number, row in rows.items():
        assert set(row) == {"id", "where", "package", "reason"} and len(row["reason"]) > 80, number
        assert re.fullmatch(r"(CVE|GHSA|PYSEC)-[\w-]+", number)
        held = audit.engine() if row["where"] == "engine" else (ROOT / row["where"]).read_text(encoding="utf-8")
        assert row["package"] in held
    text = tomllib.loads((ROOT / ".ci" / "borne.toml").read_text(encoding="utf-8"))
    assert len(text["hole"]) == len(rows)
    assert "10.2.0" in rows["CVE-2024-28219"]["reason"] and audit.engine()["pillow"] == "10.2.0"


def test_nothing_of_ours_reads_colour_profiles():
    """The reason for which Pillow's hole is borne in the page: its module is not loaded, and would not be imported."""
    assert packed.NEEDLESS.search("PIL/_imagingcms.cpython-312-wasm32-emscripten.so")
    assert "nodejs" in (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py") if path.name != "packed.py"]
    for path in (ROOT / "notebooks").rglob("*.ipynb"):
        texts += ["".join(cell["source"]) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]
    assert len(texts) > 1000
    assert not [text for text in texts if re.search(r"imagingcms|ImageCms", text)]


def test_a_hole_that_nobody_has_decided_to_bear_is_said(audit):
    borne = ("engine", "pillow", "10.2.0", ["GHSA-44wm-f244-xhp3", "CVE-2024-28219"])
    everywhere = (*audit.LOCKS, "engine")
    assert audit.judged([borne], everywhere) == []
    other = ("requirements.lock", "pillow", "10.2.0", ["CVE-2024-28219"])
    said = "requirements.lock: pillow 10.2.0 has the known hole CVE-2024-28219"
    assert audit.judged([borne, other], everywhere) == [said]
    new = ("engine", "numpy", "2.0.2", ["CVE-2099-1"])
    assert audit.judged([borne, new], everywhere) == ["engine: numpy 2.0.2 has the known hole CVE-2099-1"]
    assert audit.judged([], everywhere) == [".ci/borne.toml: CVE-2024-28219 is found no more: take it out"]


def test_what_one_source_says_counts_although_another_is_silent(audit, monkeypatch, tmp_path, capsys):
    hole = ("requirements.lock", "numpy", "2.0.2", ["CVE-2099-1"])
    monkeypatch.setattr(audit, "installed", lambda: True)
    monkeypatch.setattr(audit, "holes", lambda where, *words: [hole] if where == "requirements.lock" else None)
    monkeypatch.setattr(audit.subprocess, "run", lambda *words, **how: audit.subprocess.CompletedProcess(words, 0))
    monkeypatch.setattr(audit, "PLACE", tmp_path)
    assert audit.main() == 1
    said = capsys.readouterr().out
    assert "numpy 2.0.2 has the known hole CVE-2099-1" in said and "no more" not in said


def test_all_that_is_installed_is_audited(audit):
    assert {*audit.LOCKS} == {path.name for path in ROOT.glob("requirements*.lock")}
    assert len(audit.engine()) > 20
    lines = (ROOT / "requirements-audit.lock").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if re.match(r"[\w.-]+==", line)]
    assert len(pins) > 5 and all("\\" in line for line in pins)  # its hashes follow
    assert {line.partition("==")[0] for line in pins} >= {"pip-audit", "zizmor"}


def test_where_nothing_can_be_had_it_says_so_and_ends_well(audit, monkeypatch, capsys):
    monkeypatch.setattr(audit, "installed", lambda: False)
    assert audit.main() == 0
    assert capsys.readouterr().out == "pip-audit and zizmor can't be had here: nothing was audited\n"
