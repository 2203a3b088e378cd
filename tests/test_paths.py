"""voicewire_book.paths: which folder is the book, and what is found in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from voicewire._kit import paths as checkouts
from voicewire_book import paths

HOLDS = ("data", "notebooks", "pyproject.toml")


def checkout(folder: Path, without: str = "") -> Path:
    """Make a folder that holds what a checkout does, but for one of it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in HOLDS:
        if name != without:
            (folder / name).touch() if "." in name else (folder / name).mkdir()
    return folder


@pytest.mark.parametrize("without", HOLDS)
def test_a_checkout_holds_all_three(tmp_path, without):
    assert paths.is_root(checkout(tmp_path / "whole"))
    assert not paths.is_root(checkout(tmp_path / "part", without))


def test_the_folder_named_by_the_variable_comes_first(tmp_path, monkeypatch):
    checkout(tmp_path / "copy")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VOICEWIRE_ROOT", "copy")
    assert paths.root() == (tmp_path / "copy").resolve()
    monkeypatch.setenv("VOICEWIRE_ROOT", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"VOICEWIRE_ROOT is .*no checkout of the book: set it"):
        paths.root()


def test_without_the_variable_it_is_the_checkout_around_the_package_wherever_one_works(tmp_path, monkeypatch):
    monkeypatch.delenv("VOICEWIRE_ROOT", raising=False)
    monkeypatch.chdir(checkout(tmp_path / "other"))
    assert paths.root() == Path(paths.__file__).resolve().parents[2]


def test_an_installed_package_looks_upwards_from_the_working_directory(tmp_path, monkeypatch):
    """As on Binder, where the package is apart from the notebooks."""
    installed = tmp_path / "lib" / "site" / "voicewire" / "_kit" / "paths.py"
    monkeypatch.setattr(checkouts, "__file__", str(installed))
    monkeypatch.delenv("VOICEWIRE_ROOT", raising=False)
    below = checkout(tmp_path / "book") / "notebooks" / "nfc"
    below.mkdir()
    for place in (tmp_path / "book", below):
        monkeypatch.chdir(place)
        assert paths.root() == tmp_path / "book"
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"not found from here: .*VOICEWIRE_ROOT"):
        paths.root()


def test_a_part_is_found_by_its_name():
    assert paths.part("nfc").name == "nfc"
    assert paths.part("foundations").ledger is False
    with pytest.raises(ValueError, match=r"unknown study 'nfcc': choose one of .*nfc"):
        paths.part("nfcc")


def test_data_of_a_study(tmp_path, monkeypatch):
    monkeypatch.setenv("VOICEWIRE_ROOT", str(checkout(tmp_path / "book")))
    (tmp_path / "book" / "data" / "echo").mkdir()
    assert paths.data("echo") == tmp_path / "book" / "data" / "echo"
    with pytest.raises(FileNotFoundError, match=r"data/nfc is missing from the checkout"):
        paths.data("nfc")
    with pytest.raises(ValueError, match=r"unknown study 'music'"):
        paths.data("music")


def test_chapters_are_the_numbered_notebooks_in_the_order_of_the_book(tmp_path, monkeypatch):
    book = checkout(tmp_path / "book")
    names = ("nfc/02_b.ipynb", "nfc/01_z.ipynb", "nfc/assignment.ipynb", "nfc/01_z.txt", "echo/01_a.ipynb")
    for name in names:
        file = book / "notebooks" / name
        file.parent.mkdir(exist_ok=True)
        file.touch()
    assert [p.name for p in paths.chapters("nfc", book)] == ["01_z.ipynb", "02_b.ipynb"]
    assert paths.chapters("voip", book) == []
    order = [part.name for part in paths.PARTS]
    found = [p.parent.name for p in paths.chapters(base=book)]
    assert found == sorted(found, key=order.index)
    assert sorted(found) == ["echo", "nfc", "nfc"]
    monkeypatch.setenv("VOICEWIRE_ROOT", str(book))
    assert paths.chapters("echo") == [book / "notebooks" / "echo" / "01_a.ipynb"]
