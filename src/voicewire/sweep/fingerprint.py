"""Fingerprints of content: what a cached result depends on, and where a task's random numbers come from.

A fingerprint is a SHA-256 of values, types and code. It never uses ``hash()`` (another number in each process), nor
a pickle (which differs for equal objects), so the same content has the same fingerprint in every process.
"""

from __future__ import annotations

import dataclasses
import dis
import enum
import functools
import hashlib
import re
import sys
import sysconfig
import types
from importlib import metadata
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from voicewire._kit import _code_cache, paths

__all__ = ["ContentError", "environment", "is_installed", "of"]

_SOURCES = {".py", ".pyi", ".c", ".json"}
_LOADS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
_BUILTINS = types.BuiltinFunctionType | types.BuiltinMethodType | types.MethodDescriptorType | np.ufunc


class ContentError(TypeError):
    """The content of a value can't be told, so that no result may be stored under it.

    Examples
    --------
    >>> issubclass(ContentError, TypeError)
    True
    """


def of(value: object) -> str:
    """Return the fingerprint of a value, or of a function with everything of its own that it refers to.

    Types count: ``1``, ``1.0`` and ``True`` differ. A function is its compiled code, its defaults, what it has
    closed over and the globals it uses; a function of an installed package is its name, because `environment`
    covers that package's version.
    """
    return _content(value, ()).hex()


@functools.cache
def environment() -> str:
    """Return the fingerprint of this package's and the book's sources, and of the versions of all that they depend on.
    """
    total = hashlib.sha256(sys.version.encode())
    required = {re.split(r"[^\w.-]", r)[0] for r in metadata.requires("voicewire") or () if "extra ==" not in r}
    for name in sorted(required.union(_code_cache.COMPILERS)):
        total.update(f"{name} {_version(name)}\n".encode())
    for file in sorted(p for package in paths.PACKAGES for p in package.rglob("*") if p.suffix in _SOURCES):
        total.update(file.relative_to(paths.TOP).as_posix().encode())
        total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:  # numba, where nothing is compiled
        return "none"


def is_installed(module: str | None) -> bool:
    """Whether a module is Python's, this package's, the book's or an installed one: the same for every worker."""
    if module is None or module == "__main__":
        return False
    if paths.is_ours(module) or module.partition(".")[0] in sys.stdlib_module_names:
        return True
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        return module in sys.modules
    places = {sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")}
    return any(Path(file).resolve().is_relative_to(Path(place).resolve()) for place in places)


def _sha(kind: str, *parts: bytes) -> bytes:
    total = hashlib.sha256(kind.encode())
    for part in parts:
        total.update(len(part).to_bytes(8, "big"))
        total.update(part)
    return total.digest()


def _content(value: Any, above: tuple[int, ...]) -> bytes:
    """Digest of a value; `above` holds the ids of the objects it is part of, so that a cycle ends."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if value is None or value is ... or type(value) in (bool, int, str, bytes, complex, range, np.dtype):
        return _sha(kind, repr(value).encode())
    if type(value) is float:
        return _sha(kind, value.hex().encode())
    if id(value) in above:
        return _sha("cycle", str(len(above) - above.index(id(value))).encode())
    above = (*above, id(value))

    def parts(values: Any) -> list[bytes]:
        return [_content(item, above) for item in values]

    if isinstance(value, np.generic | np.ndarray) and not value.dtype.hasobject:
        return _sha(kind, repr(value.dtype.descr).encode(), repr(value.shape).encode(), value.tobytes())
    if isinstance(value, np.ndarray):
        return _sha(kind, repr(value.shape).encode(), *parts(value.reshape(-1).tolist()))
    if isinstance(value, enum.Enum):
        return _sha(kind, value.name.encode(), *parts([value.value]))
    if isinstance(value, list | tuple):
        return _sha(kind, *parts(value))
    if isinstance(value, dict):
        return _sha(kind, *sorted(b"".join(parts(item)) for item in value.items()))
    if isinstance(value, set | frozenset):
        return _sha(kind, *sorted(parts(value)))
    if isinstance(value, PurePath):
        return _sha(kind, value.as_posix().encode())
    if isinstance(value, types.ModuleType):
        return _sha(kind, value.__name__.encode())
    if isinstance(value, types.CodeType):
        return _code(value, above)
    if isinstance(value, functools.partial):
        return _sha(kind, *parts([value.func, value.args, value.keywords]))
    if isinstance(value, types.MethodType):
        return _sha(kind, *parts([value.__func__, value.__self__]))
    if isinstance(value, _BUILTINS):
        name = f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value.__name__)}"
        return _sha(kind, name.encode(), *parts([getattr(value, "__self__", None)]))
    if isinstance(value, type):
        return _class(value, above)
    if hasattr(value, "py_func"):  # compiled by numba
        return _sha("numba", *parts([value.py_func]))
    if isinstance(value, types.FunctionType):
        return _function(value, above)
    if dataclasses.is_dataclass(value):
        fields = dataclasses.fields(value)
        return _sha(kind, *parts([type(value), [(f.name, getattr(value, f.name)) for f in fields]]))
    try:
        reduced = value.__reduce_ex__(4)
    except Exception:  # whatever an object that can't be taken apart may raise
        raise ContentError(f"the content of a {kind} can't be told: {value!r:.60}") from None
    return _sha(kind, *parts([reduced] if isinstance(reduced, str) else [list(p) if _lazy(p) else p for p in reduced]))


def _lazy(part: object) -> bool:
    return hasattr(part, "__next__")


def _function(function: types.FunctionType, above: tuple[int, ...]) -> bytes:
    name = f"{function.__module__}.{function.__qualname__}"
    if is_installed(function.__module__) and "<" not in name:
        return _sha("installed", name.encode())
    parts = [
        _content(function.__code__, above),
        _content(function.__defaults__, above),
        _content(function.__kwdefaults__, above),
    ]
    for variable, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if variable == "__classdict__":  # from Python 3.14 on, in annotations of a class: that class
            continue
        try:
            parts.append(_content(cell.cell_contents, above))
        except ValueError:  # a variable that has no value yet
            parts.append(b"")
    if is_installed(function.__module__):
        return _sha(name, *parts)
    for used in sorted(_globals(function.__code__)):
        if used in function.__globals__:
            try:
                parts += [used.encode(), _content(function.__globals__[used], above)]
            except ContentError as error:
                raise ContentError(f"{function.__name__} uses the global {used}, and {error}") from None
    return _sha("function", *parts)


def _globals(code: types.CodeType) -> set[str]:
    names = {i.argval for i in dis.get_instructions(code) if i.opname in _LOADS}
    return names.union(*(_globals(c) for c in code.co_consts if isinstance(c, types.CodeType)))


def _code(code: types.CodeType, above: tuple[int, ...]) -> bytes:
    # Neither file name nor line numbers: a function that only moved is the same function.
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    # The exception table holds which instructions a try covers.
    table = getattr(code, "co_exceptiontable", b"")
    return _sha("code", code.co_code, table, *(_content(p, above) for p in (code.co_consts, names, counts)))


def _class(cls: type, above: tuple[int, ...]) -> bytes:
    name = f"{cls.__module__}.{cls.__qualname__}"
    if is_installed(cls.__module__) and "<" not in name:
        return _sha("installed class", name.encode())
    skip = {
        *("__dict__", "__weakref__", "__module__", "__doc__", "__abstractmethods__", "_abc_impl", "__firstlineno__"),
        "__annotations_cache__",  # there once somebody has asked; __annotate_func__ says the same
    }
    members = []
    for key, member in sorted(vars(cls).items()):
        if key in ("__annotations__", "__annotate_func__") and not member:
            continue  # there are none: Python writes that down once somebody has asked
        if key in skip or isinstance(member, types.MemberDescriptorType | types.GetSetDescriptorType):
            continue
        inner: Any = member
        if isinstance(member, staticmethod | classmethod):
            inner = member.__func__
        elif isinstance(member, property):
            inner = (member.fget, member.fset, member.fdel)
        elif dataclasses.is_dataclass(cls) and key in ("__dataclass_fields__", "__dataclass_params__"):
            continue  # the fields' names and defaults are in the generated __init__ and its annotations
        members.append(key.encode() + _content(inner, above))
    return _sha(name, *(_content(base, above) for base in cls.__bases__), *members)
