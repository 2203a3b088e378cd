"""The proof that committed outputs are current: what nbval passes with our plugin, and what it must not pass."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from voicewire_book.publish import executed, notebooks

pytestmark = pytest.mark.landing

ROOT = Path(__file__).resolve().parents[1]
spec = importlib.util.spec_from_file_location("nbval_tolerance", ROOT / "tests" / "nbval_tolerance.py")
plugin = importlib.util.module_from_spec(spec)
spec.loader.exec_module(plugin)
Approximate = plugin.Approximate
MIME = "application/vnd.voicewire.claims+json"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1.0000001", "1.0000002"),
        ("x = -3.14159265 s", "x = -3.14159266 s"),
        ("[0.1 2.5e-07]", "[0.10000000001 2.5000001e-07]"),
        ("0.0", "-0.0"),
        ("1e5", "1e5"),
        ('{"value": 6.2400001}', '{"value": 6.24}'),
    ],
)
def test_noise_in_the_last_digits_passes(one, other):
    assert Approximate(one) == Approximate(other)
    assert not Approximate(one) != Approximate(other)  # noqa: SIM202 (nbval asks with !=)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("6.24", "6.25"),
        ("1.00001", "1.0"),
        ("0.0", "1e-9"),
        ("7", "8"),
        ("7", "7.0"),
        ("1000000000", "1000000001"),
        ("shape (3, 4)", "shape (4, 3)"),
        ("6.24 s", "6.24 ms"),
        ("6.24", "-6.24"),
        ("1.26.0", "1.26.1"),
        ("v1.0000001", "v1.0000002"),
        ("1.0 2.0", "1.0  2.0"),
        ("1.0", "1.0 2.0"),
        ("nan", "1.0"),
        ('{"ok": true}', '{"ok": false}'),
    ],
)
def test_everything_else_stays_exact(one, other):
    assert Approximate(one) != Approximate(other)
    assert not Approximate(one) == Approximate(other)  # noqa: SIM201


def cell(source: str, *outputs: object) -> object:
    return new_code_cell(source, outputs=list(outputs), execution_count=1)


def text(value: str) -> object:
    return new_output("stream", name="stdout", text=value)


def shown(data: dict[str, object]) -> object:
    return new_output("display_data", data=data)


def claims(value: float, verdict: str) -> dict[str, object]:
    return {MIME: [{"id": "nfc.eq-7.1", "reproduced": value, "verdict": verdict}], "text/plain": "ledger"}


CELLS = {
    "noise passes": (True, cell("print(0.1 + 0.2)", text("0.3000000001\n"))),
    "a changed decimal fails": (False, cell("print(0.31)", text("0.30\n"))),
    "a changed integer fails": (False, cell("print(12)", text("13\n"))),
    "an address passes": (True, cell("print('at 0x7f00aa11bb22')", text("at 0x7f99aa11bb33\n"))),
    "a sound passes": (
        True,
        cell(
            "display({'text/html': '<audio src=\"data:audio/wav;base64,AAAA\">'}, raw=True)",
            shown({"text/html": '<audio src="data:audio/wav;base64,BBBB+/==">'}),
        ),
    ),
    "verdicts pass": (
        True,
        cell(f"display({claims(6.2400000001, 'reproduced')!r}, raw=True)", shown(claims(6.24, "reproduced"))),
    ),
    "a changed verdict fails": (
        False,
        cell(f"display({claims(6.24, 'not reproduced')!r}, raw=True)", shown(claims(6.24, "reproduced"))),
    ),
    "a changed value fails": (
        False,
        cell(f"display({claims(6.25, 'reproduced')!r}, raw=True)", shown(claims(6.24, "reproduced"))),
    ),
    "a lost verdict fails": (
        False,
        cell("display({'text/plain': 'ledger'}, raw=True)", shown(claims(6.24, "reproduced"))),
    ),
    "cleared outputs fail": (False, cell("print(1)")),
    "no kernel listens on TCP": (
        True,
        cell(
            "from ipykernel.kernelapp import IPKernelApp\nprint(IPKernelApp.instance().transport)", text("ipc\n")
        ),
    ),
    "a new warning fails": (False, cell("import warnings; warnings.warn('new')")),
}


def judged(folder: Path, *plugins: str, root: Path = ROOT) -> dict[str, dict[int, bool]]:
    """Whether nbval passes each code cell of the notebooks in a folder, by the notebook's name."""
    command = [
        sys.executable, "-m", "pytest", "-p", "tests.nbval_tolerance", "-p", "no:cacheprovider", "--nbval",
        "--nbval-current-env", "--nbval-sanitize-with", "tests/nbval_sanitize.cfg", "-n", "1", "--dist", "loadfile",
        "-rA", "--tb=no", "--color=no", *plugins, str(folder),
    ]  # fmt: skip
    shown = {**os.environ, "VOICEWIRE_ROOT": str(root)}
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False, env=shown)
    found: dict[str, dict[int, bool]] = {}
    for word, name, number in re.findall(r"(PASSED|FAILED) \S*?(\w+)\.ipynb::Cell (\d+)", run.stdout):
        found.setdefault(name, {})[int(number)] = word == "PASSED"
    assert found, run.stdout + run.stderr
    return found


def write(path: Path, *cells: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(new_notebook(cells=list(cells), metadata=kernel), path)


@pytest.mark.slow
def test_nbval_with_the_plugin(tmp_path):
    write(tmp_path / "01_case.ipynb", *(made for _, made in CELLS.values()))
    found = judged(tmp_path)["01_case"]
    assert {name: found[i] for i, name in enumerate(CELLS)} == {name: passes for name, (passes, _) in CELLS.items()}


@pytest.mark.slow
def test_what_was_executed_here_is_judged_without_a_kernel(tmp_path, monkeypatch):
    """No cell of the first notebook can be run, so what passes was executed before; the second has changed since."""
    raised = new_output("error", ename="ZeroDivisionError", evalue="division by zero", traceback=["…"])
    here = [
        cell("0.1 + 0.2  # noise\n1 / 0", new_output("execute_result", {"text/plain": "0.3"}, execution_count=1)),
        new_code_cell("1 / 0", metadata={"tags": ["nbval-skip"]}),
        cell("1 / 0  # a digit", text("0.31\n")),
        cell("1 / 0  # a field", text("1\n"), shown({"text/plain": "x"})),
        new_code_cell("# may\n1 / 0", outputs=[raised], execution_count=1, metadata={"tags": ["raises-exception"]}),
        cell("# may not\n1 / 0", raised),
        new_code_cell("1 / 0  # measured", outputs=[text("9\n")], execution_count=1,
                      metadata={"tags": ["nbval-ignore-output"]}),
    ]  # fmt: skip
    published = [nbformat.from_dict(one) for one in here]
    published[0].outputs[0].data["text/plain"] = "0.3000000001"
    published[2].outputs[0].text = "0.30\n"
    published[3].outputs.pop()
    published[6].outputs[0].text = "8\n"
    for name, content in {"book/_toc.yml": "", "pyproject.toml": "", "requirements.lock": "", "data/a": ""}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    first, second = "notebooks/echo/01_first.ipynb", "notebooks/nfc/01_second.ipynb"
    write(tmp_path / first, *published)
    write(tmp_path / second, cell("1 / 0"))
    monkeypatch.setattr(notebooks, "run", lambda stale, workers, *, target, done: [
        (write(target(path), *(here if path.stem == "01_first" else [])), done(notebooks.Run(path, 1.0, 1)))
        for path in stale
    ])  # fmt: skip
    executed.execute(tmp_path)
    assert list(executed.current(tmp_path)) == [tmp_path / first, tmp_path / second]
    write(tmp_path / second, cell("print(1)", text("1\n")), cell("print(2)", text("1\n")))
    assert judged(tmp_path / "notebooks", "-p", "tests.nbval_executed", root=tmp_path) == {
        "01_first": {0: True, 2: False, 3: False, 4: True, 5: False, 6: True}, "01_second": {0: True, 1: False}
    }  # fmt: skip
