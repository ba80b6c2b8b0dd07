"""Certificates as bytes: limits, one canonical spelling, digest. Standard library only."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, NoReturn

MAX_BYTES = 32_000_000
MAX_ITEMS = 1_000_000  # commas and opening brackets in the file: a bound on the number of objects that JSON creates
MAX_DEPTH = 128
MAX_ESCAPES = 10_000
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)


class Malformed(Exception):
    """The file is damaged or not a certificate of this schema: nothing was checked."""


def canonical(data: object) -> bytes:
    """The one spelling of a JSON value: sorted keys, no spaces, ASCII."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def digest(data: dict[str, Any]) -> str:
    """SHA-256 of the canonical JSON of the certificate without its digest."""
    content = {key: value for key, value in data.items() if key != "digest"}
    return "sha256:" + hashlib.sha256(canonical(content)).hexdigest()


def load(data: bytes) -> dict[str, Any]:
    """The JSON object in ``data``, within the limits, spelled canonically and with the right digest.

    Raises:
        Malformed: anything else.
    """
    if len(data) > MAX_BYTES:
        raise Malformed(f"the file has more than {MAX_BYTES} bytes")
    if data.count(b",") + data.count(b"[") + data.count(b"{") > MAX_ITEMS:
        raise Malformed(f"the file has more than {MAX_ITEMS} entries")
    if data.count(b"\\") > MAX_ESCAPES:
        raise Malformed(f"the file has more than {MAX_ESCAPES} escapes in its strings")
    depth = 0
    for bracket in re.finditer(rb"[\[\]{}]", _STRING.sub(b"", data)):
        depth += 1 if bracket[0] in b"[{" else -1
        if depth > MAX_DEPTH:
            raise Malformed(f"the file is nested more than {MAX_DEPTH} deep")
    try:
        loaded = json.loads(
            data.decode("ascii"),
            object_pairs_hook=_distinct_keys,
            parse_int=_small_integer,
            parse_float=_no_float,
            parse_constant=_no_float,
        )
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise Malformed(f"the file is not JSON in ASCII: {error}") from None
    if not isinstance(loaded, dict):
        raise Malformed("the file is not a JSON object")
    if "digest" not in loaded:
        raise Malformed("it has no digest, so it is no certificate (for a network: build it with --certificate)")
    if loaded["digest"] != digest(loaded):
        raise Malformed("the digest does not fit the contents: the file was changed after it was written")
    if data != canonical(loaded) + b"\n":
        raise Malformed("the file is not spelled canonically (sorted keys, no spaces, one final newline)")
    return loaded


def _distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Malformed("a key occurs twice in the same object")
    return found


def _small_integer(text: str) -> int:
    if len(text) > 10:
        raise Malformed("a JSON integer has more than ten characters; numbers are written as strings")
    return int(text)


def _no_float(text: str) -> NoReturn:
    raise Malformed(f"{text[:20]}: floats, nan and infinity are not allowed; numbers are exact strings")
