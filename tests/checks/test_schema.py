"""The certificate reader: exact numbers, limits, one spelling."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.certificates import schema, writer
from checks.certificates.canonical import Malformed, canonical, digest, load
from checks.certificates.records import Collision, Counterexample, Covering, SupError
from checks.certificates.schema import _Reader
from constructions.task import task_from_json
from theory.errors import InvalidInput
from theory.exact import format_exact
from theory.expressions import Call, Expression, Number, Variable, expression_to_json


@given(st.one_of(st.fractions(), st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**200), 2**200)))
def test_numbers_round_trip(value: Fraction | float | int) -> None:
    """Catches a reader that understands another number than the one the project wrote."""
    assert _Reader().number(format_exact(value), "here") == Fraction(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " 1",
        "1 ",
        "1\n",
        "+1",
        "--1",
        "1.5",
        "1e5",
        "0x1",
        "1_0",
        "1/0",
        "1/-2",
        "1/2/3",
        "p3",
        "1p",
        "1p3.0",
        "1p20001",
        "1p-20001",
        "1p9999999",
        "١",
        "1²",
        "nan",
        "inf",
        "-",
        "9" * 1201,
        "1/" + "9" * 1201,
    ],
)
def test_not_numbers(text: str) -> None:
    """Catches a lenient number parser, such as int() with its spaces, underscores and foreign digits."""
    with pytest.raises(Malformed):
        _Reader().number(text, "here")


@pytest.mark.parametrize("value", [None, True, 1, 1.0, ["1"], {"1": "1"}, b"1"])
def test_numbers_are_strings(value: Any) -> None:
    """Catches numbers that arrive as JSON numbers, for which exactness would be lost."""
    with pytest.raises(Malformed):
        _Reader().number(value, "here")


def test_total_size_is_limited() -> None:
    """Catches a small file that unfolds into gigabytes: many numbers with large exponents."""
    reader = _Reader()
    with pytest.raises(Malformed, match="bits in all"):
        reader.each(["1p-20000"] * 110_000, "here", reader.number)


EXPRESSIONS = st.recursive(
    st.one_of(st.fractions().map(Number), st.sampled_from(["x0", "x1"]).map(Variable)),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["+", "*", "min", "max"]), st.lists(inner, min_size=1, max_size=3)).map(
            lambda pair: Call(pair[0], tuple(pair[1]))
        ),
        st.tuples(st.sampled_from(["-", "/"]), inner, inner).map(lambda p: Call(p[0], p[1:])),
        st.tuples(inner, st.integers(-64, 64)).map(lambda p: Call("^", (p[0], Number(Fraction(p[1]))))),
        st.tuples(st.sampled_from(["exp", "log", "tanh", "relu", "gelu", "abs"]), inner).map(
            lambda p: Call(p[0], p[1:])
        ),
    ),
    max_leaves=12,
)


def plain(expression: Expression) -> Any:
    """The reader's form of an expression, computed from the project's."""
    if isinstance(expression, Number):
        return expression.value
    if isinstance(expression, Variable):
        return expression.name
    assert isinstance(expression, Call)
    parts = [plain(argument) for argument in expression.arguments]
    return (
        expression.operator,
        *(int(part) if expression.operator == "^" and k else part for k, part in enumerate(parts)),
    )


@given(EXPRESSIONS)
def test_expressions_round_trip(expression: Expression) -> None:
    """Catches an operator, arity or exponent that the two sides read differently."""
    assert _Reader().expression(expression_to_json(expression), "here", {"x0", "x1"}) == plain(expression)


@pytest.mark.parametrize(
    "data",
    [
        [],
        [1],
        ["+"],
        ["-", "1", "2", "3"],
        ["exp", "1", "2"],
        ["sin", "1"],
        ["^", "x0", "x0"],
        ["^", "x0", "65"],
        ["^", "x0", "1/2"],
        ["__import__", "x0"],
        [["+"], "1", "2"],
        "y",
        "x0 ",
        "x0\n",
        {"+": 1},
        None,
    ],
)
def test_not_expressions(data: Any) -> None:
    """Catches unknown functions, free variables and wrong arities."""
    with pytest.raises(Malformed):
        _Reader().expression(data, "here", {"x0"})


def test_expressions_are_limited() -> None:
    """Catches recursion without end and expressions that take forever."""
    deep: Any = "x0"
    for _ in range(101):
        deep = ["exp", deep]
    with pytest.raises(Malformed):
        _Reader().expression(deep, "here", {"x0"})
    with pytest.raises(Malformed):
        _Reader().expression(["+", *["x0"] * 20_000], "here", {"x0"})


def test_kinds(true_certificates: dict[str, Any]) -> None:
    """Catches fields that are mixed up: what was written is what is read."""
    found = {name: schema.parse(writer.to_bytes(certificate)) for name, certificate in true_certificates.items()}
    pair, bound, budget = found["collision"], found["witness"], found["budget"]
    assert isinstance(pair, Collision)
    source = true_certificates["collision"]
    assert [[format_exact(x) for x in token] for token in pair.sequences[1]] == source["second"]
    assert pair.rows == ((0, 0), (0, 1))
    assert pair.radius == Fraction(1, 2**80)
    assert isinstance(bound, SupError)
    assert (bound.relation, bound.bound, bound.every_beta) == (">=", Fraction(3, 4), True)
    assert isinstance(budget, SupError)
    assert isinstance(budget.evidence, Covering)
    assert budget.evidence.channels == ((0, 0), (1, 0))
    assert isinstance(found["counterexample"], Counterexample)
    assert task_from_json(source["task"]).seq_len == pair.task.seq_len == pair.network.seq_len == 8


def test_one_spelling(true_certificates: dict[str, Any]) -> None:
    """Catches two files for one certificate: keys in another order, indentation, no or two final newlines."""
    data = writer.to_bytes(true_certificates["counterexample"])
    assert load(data)["kind"] == "counterexample"
    for other in (
        data[:-1],
        data + b"\n",
        data.replace(b",", b", ", 1),
        b" " + data,
        data.replace(b"sha256", b"SHA256"),
    ):
        with pytest.raises(Malformed):
            load(other)


def test_digest_covers_everything() -> None:
    """Catches a digest of part of the contents."""
    content = {"a": 1, "b": {"c": [1, 2]}}
    assert digest(content) == digest({**content, "digest": "anything"})
    assert digest(content) != digest({**content, "b": {"c": [2, 1]}})
    assert canonical({"b": 1, "a": "ü"}) == b'{"a":"\\u00fc","b":1}'


def test_the_writer_refuses_what_cannot_be_read() -> None:
    """Catches a certificate that nobody could check: the writer reads back what it seals."""
    long = Number(Fraction(1, 10**2000))
    with pytest.raises(InvalidInput, match="digits"):
        writer.counterexample("X", "published", {"x": Fraction(1)}, [], (long, "<", Variable("x")))
    with pytest.raises(InvalidInput, match="variables"):
        writer.counterexample("X", "published", {"x": Fraction(1)}, [], (Variable("y"), "<", Variable("x")))
