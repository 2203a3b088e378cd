"""The archives of Python in a page: the same files each time, laid out where Python looks for them."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from voicewire_book import paths
from voicewire_book.publish.live import archives, boxed, linking

pytestmark = pytest.mark.landing

NODE = shutil.which("node")
LONG = f"one/{'long' * 20}/{'name' * 20}.py"
FILES = {"one/__init__.py": b"", LONG: b"a = 1\n" * 300, "one/full.py": b"#" * 512, "one/a.pyi": b"", "one/a.h": b""}


def wheel(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as whole:
        for name, data in FILES.items():
            whole.writestr(name, data)
        whole.writestr("one-1.data/data/share/man/man1/one.1", b"a manual")
    return path


def test_an_archive_holds_the_wheels_files_and_nothing_that_no_page_reads(tmp_path: Path) -> None:
    source = wheel(tmp_path / "one.whl").read_bytes()
    made = archives.tarred(source, archives.place("one.whl"))
    assert made == archives.tarred(source, archives.place("one.whl"))
    with tarfile.open(fileobj=io.BytesIO(made)) as whole:
        assert whole.getnames() == [f"{archives.SITE}/{name}" for name in [*FILES][:3]]


def test_each_archive_takes_the_place_of_its_wheel_and_is_kept(tmp_path: Path) -> None:
    engine, cache = tmp_path / "engine", tmp_path / "cache"
    engine.mkdir()
    for name in ("one-1.whl", "data-nfc.zip", "python_stdlib.zip"):
        wheel(engine / name)
    archives.repack(engine, cache)
    assert sorted(path.name for path in engine.iterdir()) == ["data-nfc.tar.gz", "one-1.tar.gz", "python_stdlib.zip"]
    with tarfile.open(engine / "data-nfc.tar.gz") as whole:
        assert whole.getnames()[0] == "book/one/__init__.py"
    kept = {path: path.read_bytes() for path in (cache / "archives").iterdir()}
    wheel(engine / "one-1.whl")
    archives.repack(engine, cache)
    assert {path: path.read_bytes() for path in (cache / "archives").iterdir()} == kept and len(kept) == 2


@pytest.mark.needs("node")
def test_a_page_lays_out_what_was_packed(tmp_path: Path) -> None:
    assert NODE is not None
    source = wheel(tmp_path / "one.whl").read_bytes()
    (tmp_path / "one.tar.gz").write_bytes(archives.tarred(source, archives.SITE))
    code = f"""
import {{ readFileSync }} from "node:fs";
const {{ inflated, lay }} = await import({str(Path(archives.__file__).with_suffix(".mjs"))!r});
const found = {{}};
const made = [];
const files = {{
  mkdirTree: (path) => made.push(path),
  writeFile: (path, data, {{ canOwn }}) => {{ found[path] = [Buffer.from(data).toString(), canOwn]; }},
}};
lay(files, await inflated(new Blob([readFileSync({str(tmp_path / "one.tar.gz")!r})]).stream()));
console.log(JSON.stringify([made, found]));
"""
    done = subprocess.run(
        [NODE, "--input-type=module", "-e", code], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    made, found = json.loads(done.stdout)
    place = f"/{archives.SITE}"
    assert found == {f"{place}/{name}": [FILES[name].decode(), True] for name in [*FILES][:3]}
    assert made == [f"{place}/one", f"{place}/{LONG}".rpartition("/")[0]]


@pytest.mark.needs("node")
def test_the_worker_of_the_box_is_held_while_python_starts() -> None:
    assert NODE is not None
    box = (paths.root() / "book/_static/live/box.mjs").read_text(encoding="utf-8")
    code = f"""
let worker;
globalThis.Worker = class {{
  constructor() {{ worker = new WeakRef(this); }}
  postMessage() {{}}
}};
(0, eval)({json.dumps(boxed.frame(box))});
onmessage({{ data: [], ports: [] }});
for (let turn = 0; turn < 5; turn += 1) {{
  await new Promise((done) => setTimeout(done, 10));
  gc();
}}
console.log(worker.deref() ? "held" : "collected");
"""
    command = [NODE, "--expose-gc", "--input-type=module", "-e", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")
    assert done.stdout == "held\n"


def test_an_engine_that_reads_otherwise_is_not_changed() -> None:
    whole = " ".join(before for before, _ in linking.CHANGES)
    assert linking.eased(whole).count("unresolved") == sum(after.count("unresolved") for _, after in linking.CHANGES)
    for script in ("", whole + whole):
        with pytest.raises(ValueError, match=r"pyodide\.asm\.js has . times 'var GOT"):
            linking.eased(script)
