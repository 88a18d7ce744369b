"""Valid files altered: bits, bytes, lengths, tokens, headers, members of archives, values of JSON, objects and links of HDF5."""

from __future__ import annotations

import gzip
import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from .auditing import BAIT
from .seeds import Files, zipped
from .trial import Trial

NUMBERS = (0, 1, -1, 2, 3, 5, 7, 127, 128, 255, 256, 1000, 32767, 32768, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**32 + 1,
    10**13, 2**62, 2**63 - 1, 2**63, 2**64 - 1)  # fmt: skip
WORDS = (
    b"0", b"-1", b"nan", b"inf", b"-inf", b"1e999", b"1e-400", b"0x10", b"1_000", b"10000000000000", b"9" * 30,
    b"9" * 5000, b"True", b"None", b"", b" ", b"\n",
    b"\r\n", b"\t", b",", b";", b'"', b"'", b"(", b")", b"[", b"]", b"{", b"}", b"<", b"&a;", b"*vertices", b"../",
    b"/etc/passwd", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf",
    b"%", b"#", b"1", b"2.5", b"1j", b"|O", b"O", b"<i8", b">c16", b"<U9", b"V8", b"M8[s]", b"<f2", b"f16",
    b"skew-symmetric", b"hermitian", b"pattern", b"complex", b"array",
    b"integer", b"coordinate", b"\xc2\xb2", b"\xd9\xa1", b"[" * 3000, b"(" * 3000,
)  # fmt: skip
"""What may stand in a text, or in a header, and lead to another path."""
TEXTS = (".csv", ".tsv", ".txt", ".mtx", ".edges", ".graphml", ".gml", ".net", ".json", ".zarray", ".zgroup", ".zattrs", ".pgm")


def altered(t: Trial, valid: Files) -> Files:
    """Valid files, altered in none to three ways."""
    found = dict(valid)
    for _ in range(t.pick((1, 0, *(1,) * 12, *(2,) * 4, 3, 3))):
        name = t.pick(sorted(found)) if found else ""
        if len(found) > 1 and t.one_in(8):
            _folder(t, found, name)
        elif found:
            found[name] = _altered(t, found[name], name, is_valid=found[name] is valid.get(name))
    return found


def _altered(t: Trial, content: bytes, name: str, depth: int = 0, *, is_valid: bool = False) -> bytes:
    """A file altered by a way of its own kind, or byte by byte; valid ones alone by HDF5, which altered ones may take down."""
    if t.pick((True, True, False)):
        way = next((way for beginning, way in _WAYS if content.startswith(beginning)), None)
        if way is None and name.endswith((".json", ".zarray", ".zgroup", ".zattrs")):
            way = in_json
        if way is None and content[344:347] in (b"n+1", b"ni1"):
            way = _nifti
        if way is None and name.endswith(TEXTS):
            way = _text
        if way is not None and depth < 3 and (way is not _hdf5 or is_valid):
            return way(t, content, depth + 1)
    return _bytes(t, content)


def _at(t: Trial, content: bytes) -> int:
    """A place, near the beginning or the end more often than elsewhere."""
    size = max(len(content), 1)
    near = min(size, t.pick((16, 64, 256, 1024, 1 << 20)))
    place = t.integer(0, near - 1)
    return size - 1 - place if t.one_in(4) else place


def _bytes(t: Trial, content: bytes) -> bytes:
    """Bits, numbers, lengths and stretches."""
    way, at = t.integer(0, 8), _at(t, content)
    if way < 2:
        return content[:at] + bytes([content[at] ^ 1 << t.integer(0, 7)]) + content[at + 1 :] if content else b"\0"
    if way == 2:
        return content[:at] + bytes([t.integer(0, 255)]) + content[at + 1 :]
    if way in (3, 4):
        width = t.pick((4, 2, 8, 1))
        number = t.pick(NUMBERS) % 2 ** (8 * width)
        place = at // width * width if t.one_in(2) else at
        return content[:place] + number.to_bytes(width, t.pick(("little", "big"))) + content[place + width :]
    if way == 5:
        return content[:at]
    length = t.pick((1, 4, 8, 16, 100))
    if way == 6:
        return content[:at] + content[at + length :]
    if way == 7:
        other = _at(t, content)
        return content[:at] + content[other : other + length] + content[at + t.pick((0, length)) :]
    return content + t.pick((b"\0", b"\n", b"a", content[:200], bytes(1000)))


_TOKEN = re.compile(rb"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?|\w+|[^\w\s]|\s+")


def _text(t: Trial, content: bytes, depth: int = 0) -> bytes:
    """Tokens replaced, repeated, exchanged or left out; lines moved; another encoding."""
    way = t.integer(0, 8)
    if way == 8:
        try:
            text = content.decode()
        except UnicodeDecodeError:
            return _bytes(t, content)
        return text.encode(t.pick(("utf-16", "utf-8-sig", "latin-1", "utf-32", "utf-16-le")), "replace")
    if way in (5, 6):
        lines = content.splitlines(keepends=True) or [b""]
        i, j = t.integer(0, len(lines) - 1), t.integer(0, len(lines) - 1)
        lines[i : i + 1] = t.pick(([], [lines[i], lines[i]], [lines[j]], [lines[i] * 200]))
        return b"".join(lines)
    tokens = list(_TOKEN.finditer(content[:4000]))
    if not tokens:
        return _bytes(t, content)
    one = tokens[min(t.integer(0, t.pick((4, 20, 4000))), len(tokens) - 1)]
    others = [t.pick(WORDS), str(t.pick(NUMBERS)).encode(), t.pick(tokens).group()]
    other = others[2] if way == 7 else t.pick(others[:2])
    before, after = content[: one.start()], content[one.end() :]
    return before + (one.group() if way == 4 else b"") + other + after


def _npy(t: Trial, content: bytes, depth: int) -> bytes:
    """The header of an array, its length kept right, or not; or the numbers."""
    start = 10 if content[6:7] == b"\x01" else 12
    length = int.from_bytes(content[8:start], "little")
    header, body = content[start : start + length], content[start + length :]
    if t.one_in(4):
        return content[: start + length] + _bytes(t, body)
    header = _text(t, header.rstrip(), depth) if t.one_in(2) else _header(t)
    if t.one_in(3):
        header = header.ljust(length)
    if len(header) >= 2**16 and start == 10:
        return content[:start] + header + body
    return content[:8] + len(header).to_bytes(start - 8, "little") + header + body


def _header(t: Trial) -> bytes:
    sizes = t.pick(NUMBERS), t.pick((4, 6, 0, 1, 24, 2**40, "True", "4.0", "-4"))
    shape = t.pick(("({}, {})", "({},)", "()", "({}, {}, 1)", "[{}, {}]", "({}, '{}')")).format(*sizes)
    kinds = ("'<f8'", "'|O'", "'<U4'", "'<c16'", "'<M8[s]'", "'V8'", "'<f2'", "'|b1'", "'<i8'", "[('a', '<f8')]",
        "[('a', '|O')]", "'<f8,<f8'", "('<f8', (2,))", "'<U0'", "3", "None", "'g'")  # fmt: skip
    return f"{{'descr': {t.pick(kinds)}, 'fortran_order': {t.pick(('False', 'True', '2', 'None'))}, 'shape': {shape}, }}".encode()


def _gzip(t: Trial, content: bytes, depth: int) -> bytes:
    """What is inside, packed again; a second member; trailing bytes."""
    try:
        inside = gzip.decompress(content)
    except (OSError, EOFError, zlib.error):
        return _bytes(t, content)
    name = ".nii" if inside[344:347] in (b"n+1", b"ni1") else ".mtx" if inside.startswith(b"%%") else ".csv"
    way = t.integer(0, 5)
    if way == 5:
        return content + t.pick((content, b"\0" * 8, b"junk", content[:9]))
    inside = inside * min(1000, 10**6 // max(len(inside), 1)) if way == 4 else _altered(t, inside, name, depth)
    return gzip.compress(inside, t.pick((1, 0, 9)), mtime=0)


def _zip(t: Trial, content: bytes, depth: int) -> bytes:
    """Members altered, renamed, repeated, left out, added, nested."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [(name, archive.read(name)) for name in archive.namelist()]
    except Exception:
        return _bytes(t, content)
    if not members:
        return _bytes(t, content)
    i = t.integer(0, len(members) - 1)
    name, inside = members[i]
    way = t.integer(0, 10)
    odd = ("../x.npy", "/etc/passwd", "a/../../b.npy", "x.npy", "X.npy", "samples.npy", "layout_shape.npy",
        "format.npy", "\0.npy", "é\n\x1b[2J.npy", ".npy", "a.png", name.upper(), name + "/", "C:x.npy", "n" * 60000)  # fmt: skip
    if way < 6:
        members[i] = name, _altered(t, inside, name, depth)
    elif way == 6:
        members[i] = t.pick(odd), inside
    elif way == 7:
        members.append((name, _altered(t, inside, name, depth) if t.one_in(2) else inside))
    elif way == 8:
        members.pop(i)
    elif way == 9:
        members.append((t.pick(odd), t.pick((inside, content, b"", bytes(10**6)))))
    else:
        j = t.integer(0, len(members) - 1)
        members[i], members[j] = (name, members[j][1]), (members[j][0], inside)
    return zipped(members, t.pick((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2)))


ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3.5, 10**13, -(10**13), 2**63, 2**70, 1e308, 1e-300, float("nan"), float("inf"),
    "", "a", "nan", "Infinity", [], {}, [1], [1, 2], {"of": "tuple", "items": []},
    "|O", "<f8", "<i4", ">f8", "object", "string", "float64", "uint8", [[]], "../" * 3, "/", {"of": "array",
    "number": 0}, {"of": "float", "value": "nan"}, {"of": "list", "items": []}, {"of": "NMF"},
    {"name": "gzip", "configuration": {"level": 5}}, {"name": "blosc"}, {"name": "sharding_indexed",
    "configuration": {}}, {"id": "pickle"}, {"id": "vlen-utf8"},
)  # fmt: skip


def in_json(t: Trial, content: bytes, depth: int = 0) -> bytes:
    """A value of JSON replaced, left out, exchanged with another, or altered a little."""
    try:
        found = json.loads(content)
    except ValueError:
        return _text(t, content, depth)
    return json.dumps(altered_value(t, found)).encode()


def altered_value(t: Trial, found: Any) -> Any:
    """Nested lists and dicts, of which one item is altered."""
    places = list(_places(found))
    if not places or t.one_in(30):
        return t.pick(ODD_VALUES)
    inside, key = t.pick(places)
    value, way = inside[key], t.integer(0, 6)
    if way == 0 and isinstance(inside, dict):
        del inside[key]
    elif way == 1:
        other, place = t.pick(places)
        inside[key], other[place] = other[place], json.loads(json.dumps(value))
    elif way == 2 and isinstance(inside, dict):
        inside[t.pick(("a", "items", "shape", "of", "__class__", "value", "random_state", "n_components", "components_"))] = (
            inside.pop(key)
        )
    elif way == 3 and isinstance(value, list) and value:
        inside[key] = t.pick((value[:-1], value * 2, value[::-1], [value], value[:1] * 3000))
    elif way in (3, 4, 5) and isinstance(value, int | float) and not isinstance(value, bool):
        inside[key] = t.pick(
            (value + 1, value - 1, -value, value * 1.0, str(value), t.pick(NUMBERS), [value], float(value) + 0.5, 1e300)
        )
    else:
        inside[key] = t.pick(ODD_VALUES)
    return found


def _places(found: Any) -> Any:
    for key, value in found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ():
        yield found, key
        yield from _places(value)


def _chunks(t: Trial, content: bytes, depth: int) -> bytes:
    """A chunk of PNG, its checksum made right."""
    chunks, at = [], 8
    while at + 8 <= len(content):
        length = int.from_bytes(content[at : at + 4], "big")
        chunks.append((content[at + 4 : at + 8], content[at + 8 : at + 8 + length]))
        at += 12 + length
    i = t.integer(0, max(len(chunks) - 1, 0))
    way = t.integer(0, 4)
    if not chunks:
        return _bytes(t, content)
    if way < 3:
        chunks[i] = chunks[i][0], _bytes(t, chunks[i][1])
    elif way == 3:
        chunks[i : i + 1] = t.pick(([], [chunks[i]] * 2))
    else:
        chunks[i] = (
            t.pick((b"IHDR", b"iTXt", b"acTL", b"tRNS", b"PLTE", b"zTXt", b"IEND")),
            t.pick((b"", bytes(13), zlib.compress(bytes(10**6)))),
        )
    found = content[:8]
    for kind, inside in chunks:
        found += struct.pack(">I", len(inside)) + kind + inside + struct.pack(">I", zlib.crc32(kind + inside))
    return found


_FIELDS = ((0, "i"), (40, "h"), (42, "h"), (44, "h"), (46, "h"), (48, "h"), (50, "h"), (70, "h"), (72, "h"), (108,
    "f"), (112, "f"), (116, "f"), (252, "h"), (254, "h"), (280, "f"), (348, "i"))  # fmt: skip
"""Of the header of NIfTI: sizes, type, offset, scale, forms and extensions."""


def _nifti(t: Trial, content: bytes, depth: int) -> bytes:
    """A field of the header."""
    at, kind = t.pick(_FIELDS)
    if kind == "f":
        value = struct.pack("<f", t.pick((0.0, np.nan, np.inf, -1.0, 1e30, 351.5, 1e9, 352.0, 2.0, 1e-45)))
    else:
        width = struct.calcsize(kind)
        value = (t.pick((2, 4, 8, 16, 32, 64, 128, 256, 512, 768, 1024, 1280, 1536, 2048, *NUMBERS)) % 2 ** (8 * width)).to_bytes(
            width, "little"
        )
    return content[:at] + value + content[at + len(value) :]


def _hdf5(t: Trial, content: bytes, depth: int) -> bytes:
    """An object of HDF5, or an attribute, replaced through the library; the bytes, where it cannot."""
    import h5py

    try:
        with h5py.File(h5py.h5f.open_file_image(content, flags=h5py.h5f.FILE_IMAGE_OPEN_RW)) as file:
            paths = ["/"]
            file.visit(paths.append)
            _object(t, h5py, file, paths)
            file.flush()
            image = bytes(file.id.get_file_image())
    except Exception:
        return _bytes(t, content)
    return content[: len(content) - len(image)] * (len(content) > len(image) and content.startswith(b"MATLAB")) + image


def _object(t: Trial, h5py: Any, file: Any, paths: list[str]) -> None:
    path = t.pick(paths)
    if isinstance(file.get(path, getlink=True), h5py.ExternalLink):
        return
    item = file[path]
    if (t.one_in(3) or path == "/") and len(item.attrs):
        item.attrs[t.pick(sorted(item.attrs))] = t.pick(_attributes(h5py))
        return
    if path == "/":
        return
    old = item[()] if isinstance(item, h5py.Dataset) and not item.external and not item.is_virtual else None
    shape = old.shape if isinstance(old, np.ndarray) else (6, 4)
    kind = getattr(old, "dtype", np.dtype("f8"))
    del file[path]
    way = t.integer(0, 13)
    if way == 0:
        file[path] = t.pick((h5py.ExternalLink(str(BAIT / "secret.h5"), "X"),
            h5py.ExternalLink(str(BAIT / "nothing.h5"), "X"), h5py.ExternalLink(str(BAIT), "/")))  # fmt: skip
    elif way == 1:
        file[path] = h5py.SoftLink(t.pick(("/", path, "/nowhere", *[f"/{each}" for each in paths])))
    elif way == 2:
        file.create_dataset(path, shape, "f8", external=[(str(BAIT / "secret.bin"), 0, h5py.h5f.UNLIMITED)])
    elif way == 3:
        layout = h5py.VirtualLayout(shape, "f8")
        layout[...] = h5py.VirtualSource(str(BAIT / "secret.h5"), "X", shape)
        file.create_virtual_dataset(path, layout, fillvalue=3)
    elif way == 4:
        huge = t.pick(((10**9, 10**9), (6, 10**13), (10**13,), (0, 4), (6, 0), (0,), (2**62, 4)))
        file.create_dataset(
            path,
            huge,
            t.pick(("f8", "i4", "S10")),
            chunks=tuple(min(10, max(size, 1)) for size in huge),
            maxshape=(None,) * len(huge),
        )
    elif way == 5:
        file.create_group(path).attrs["shape"] = [6, 4]
    elif way == 6:
        file.create_dataset(path, data=t.pick(_contents(h5py)))
    elif way == 7 and isinstance(old, np.ndarray) and old.size:
        file.create_dataset(path, data=t.pick((old[:-1], old[:0], old[::-1], old[None], old.ravel(), np.concatenate([old, old]))))
    elif way == 8 and isinstance(old, np.ndarray):
        try:
            other = old.astype(t.pick(("f4", "f2", "i8", "u1", "u8", ">f8", "S8", "c16", "?")))
        except (ValueError, TypeError, UnicodeError):
            other = np.zeros(shape)
        file.create_dataset(path, data=other, chunks=t.pick((None, True)) if other.ndim else None)
    elif isinstance(old, np.ndarray) and kind.kind in "iuf" and old.size:
        number = t.pick((*NUMBERS, 0.5, np.nan, np.inf))
        if kind.kind in "iu" and t.one_in(2):
            old = old.astype(t.pick(("u8", "i8", "f8")))
        with np.errstate(all="ignore"):
            old.flat[t.integer(0, old.size - 1)] = number if old.dtype.kind == "f" else _fitting(number, old.dtype)
        file.create_dataset(path, data=old, fillvalue=t.pick((None, 5)))


def _fitting(number: float, dtype: np.dtype) -> int:
    limits = np.iinfo(dtype)
    return min(max(int(np.nan_to_num(number)), limits.min), limits.max)


def _attributes(h5py: Any) -> list[Any]:
    return [
        [6, 4], [4, 6], [10**13, 4], [6, 10**13], [-6, 4], [6], [6, 4, 1], [6.5, 4.0], [np.nan, 4], ["6", "4"],
        [2**63 - 1, 2**63 - 1], 6, -1, 0, 10**13, 2.5, np.nan, np.uint64(2**64 - 1), [], "x",
        "csc_matrix", "csr_matrix", "array", "dataframe", "string-array", "categorical", b"char", b"double", "\0",
        "obs", "/X", "../X", "_index", h5py.Empty("f8"), True, [True, False], [1j],
    ]  # fmt: skip


def _contents(h5py: Any) -> list[Any]:
    return [
        1.5, "text", np.arange(4.0), np.zeros((2, 3, 4)), np.array([b"a", b"b"]), np.ones((6, 4)) * 1j, np.zeros((6,
        4), [("a", "f8"), ("b", "i4")]), np.ones((6, 4), bool), np.ones((6, 4), ">f4"),
        h5py.Empty("f8"), np.array([["a", "b"]], dtype=object).astype(h5py.string_dtype()), np.full((6, 4), -1.0),
            np.full((6, 4), np.nan), np.arange(24).reshape(6, 4).astype("u8") + 2**63, np.ones((6, 4), "f2"),
            np.longdouble(np.ones((6, 4))),
    ]  # fmt: skip


def _folder(t: Trial, found: Files, name: str) -> None:
    """Files of a folder left out, renamed, exchanged or added."""
    way, other = t.integer(0, 4), t.pick(sorted(found))
    if way == 0:
        del found[name]
    elif way == 1:
        found[name], found[other] = found[other], found[name]
    elif way == 2:
        found[f"{name}{t.pick(('x', '.png', '.parquet', '/deeper', chr(10), '.1'))}"] = found.pop(name)
    else:
        head = name.rpartition("/")[0] or name
        found[f"{head}/{t.pick(('zarr.json', 'c/0/0', '0.0', '.zarray', '.zattrs', 'z.png', 'a=1/x.parquet', 'X/zarr.json'))}"] = (
            found[name]
        )


Way = Callable[[Trial, bytes, int], bytes]
_WAYS: tuple[tuple[bytes, Way], ...] = (
    (b"\x93NUMPY", _npy),
    (b"\x1f\x8b", _gzip),
    (b"PK", _zip),
    (b"\x89PNG", _chunks),
    (b"\x89HDF", _hdf5),
    (b"MATLAB 7.3", _hdf5),
    (b"P5", _text),
)
"""Ways of kinds, by how files begin."""
