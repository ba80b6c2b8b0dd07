"""Parser, JSON and evaluation of the expression language, across arithmetics and under hostile input."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from checks import balls, strategies
from checks.balls import BALLS
from constructions.arithmetic import EXACT, FLOAT64, TorchArithmetic
from theory.errors import HeadcountError, InexactOperation, InvalidInput, NotFinite
from theory.expression_parser import MAX_CHARACTERS, parse_expression
from theory.expressions import (
    FUNCTIONS,
    MAX_DEPTH,
    MAX_NODES,
    RATIONAL,
    Call,
    Expression,
    Number,
    Variable,
    apply,
    evaluate,
    expression_from_json,
    expression_to_json,
    free_variables,
    substitute,
    to_sympy,
)

FEW = settings(max_examples=60, deadline=None, derandomize=True, database=None)
FLOAT_SLACK = 1e-9
points = st.tuples(strategies.unit_fractions(), strategies.unit_fractions())
drawn = strategies.expressions("x", 2)


def _named(values: Any) -> dict[str, Any]:
    return {f"x{index}": value for index, value in enumerate(values)}


def _in_balls(expression: Expression, point: tuple[Fraction, Fraction]) -> Any:
    with balls.precision(256):
        return evaluate(expression, _named(balls.exact(value) for value in point), BALLS)


@FEW
@given(drawn)
def test_json_round_trip(expression: Expression) -> None:
    """Catches anything lost or changed between an expression and its JSON form."""
    data = expression_to_json(expression)
    assert expression_from_json(json.loads(json.dumps(data))) == expression
    assert free_variables(expression_from_json(data)) == free_variables(expression)


@FEW
@given(drawn, points)
def test_text_round_trip_keeps_the_value(expression: Expression, point: Any) -> None:
    """Catches missing parentheses in the text form and wrong precedence in the parser."""
    again = parse_expression(str(expression))
    first, second = _in_balls(expression, point), _in_balls(again, point)
    assert first.overlaps(second)
    assert str(parse_expression(str(again))) == str(again)
    try:
        assert evaluate(expression, _named(point), RATIONAL) == evaluate(again, _named(point), RATIONAL)
    except InexactOperation:
        assert balls.radius(first - second) < Fraction(1, 2**60) * (1 + abs(balls.middle(first)))


@FEW
@given(drawn, points)
def test_arithmetics_agree(expression: Expression, point: Any) -> None:
    """Catches an arithmetic in which an operator means something else: float64, torch, rationals and balls."""
    ball = _in_balls(expression, point)
    try:
        truth = float(balls.middle(ball))
    except (NotFinite, OverflowError):
        return
    floats = [float(value) for value in point]
    with np.errstate(all="ignore"):
        numpy_value = float(evaluate(expression, _named(np.float64(value) for value in floats), FLOAT64))
    tensors = _named(torch.tensor(value, dtype=torch.float64) for value in floats)
    torch_value = float(evaluate(expression, tensors, TorchArithmetic()))
    size = _largest(expression, point)
    if size < 1e12:  # float64 keeps some digits then
        allowed = FLOAT_SLACK * size * size
        assert abs(numpy_value - truth) <= allowed
        assert abs(torch_value - truth) <= allowed
    try:
        exact = evaluate(expression, _named(point), RATIONAL)
    except InexactOperation:
        return
    assert balls.contains(ball, exact)
    arrays = _named(np.array([value], dtype=object) for value in point)
    assert np.all(evaluate(expression, arrays, EXACT) == exact)


def _largest(expression: Expression, point: Any) -> float:
    """The largest intermediate value, which governs float rounding."""
    value = abs(float(_in_balls(expression, point).mid()))
    parts = expression.arguments if isinstance(expression, Call) else ()
    return max([1.0, value, *(_largest(part, point) for part in parts)])


@settings(FEW, max_examples=25)
@given(strategies.expressions("x", 2, max_leaves=4), points)
def test_sympy_agrees(expression: Expression, point: Any) -> None:
    """Catches a wrong translation to sympy (gelu, relu, quotients, powers)."""
    ball = _in_balls(expression, point)
    symbols = {
        sympy.Symbol(f"x{i}", real=True): sympy.Rational(v.numerator, v.denominator) for i, v in enumerate(point)
    }
    value = Fraction(str(sympy.N(to_sympy(expression).subs(symbols), 40)))
    slack = Fraction(1, 10**25) * (1 + abs(balls.middle(ball)))
    assert balls.lower(ball) - slack <= value <= balls.upper(ball) + slack


@FEW
@given(drawn, drawn, points)
def test_substitution_is_composition(outer: Expression, inner: Expression, point: Any) -> None:
    """Catches a substitution that misses occurrences or captures too much."""
    composed = substitute(outer, {"x0": inner})
    with balls.precision(256):
        inside = {"x0": _in_balls(inner, point), "x1": balls.exact(point[1])}
        assert evaluate(outer, inside, BALLS).overlaps(_in_balls(composed, point))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 - 2 - 3", -4),
        ("2^3^2", None),
        ("-2^2", -4),
        ("(-2)^2", 4),
        ("8/4/2", 1),
        ("2*3 - 4*5", -14),
        ("1/2*4", 2),
        ("2 - -3", 5),
        ("2**3", 8),
        ("0.1 + 1e-1", Fraction(1, 5)),
        ("min(3, 1, 2)*max(1, 5)", 5),
        ("abs(-1/3) + relu(-2) + relu(2)", Fraction(7, 3)),
        ("2^-2", Fraction(1, 4)),
    ],
)
def test_precedence(text: str, value: Any) -> None:
    """Catches wrong associativity or precedence; a tower of powers is refused, its exponent being no integer."""
    if value is None:
        with pytest.raises(InvalidInput, match="exponent"):
            parse_expression(text)
    else:
        assert evaluate(parse_expression(text), {}, RATIONAL) == value


HOSTILE = [
    "",
    "x0 +",
    "(x0",
    "x0)",
    "x0 x1",
    "2x0",
    "sin(x0)",
    "__import__('os').system('true')",
    "x0.__class__",
    "eval(1)",
    "exp()",
    "exp(1, 2)",
    "min()",
    "x0^x1",
    "x0^(1/2)",
    "x0^65",
    "x0^-65",
    "nan",
    "inf + nan(1)",
    "1e99999",
    "1/0e",
    "1..2",
    "٣ + 1",
    "x0 \x00",
    "x0;x1",
    "lambda: 1",
    "9" * 9000,
    "(" * 5000 + "x0" + ")" * 5000,
    "-" * 5000 + "x0",
    "exp(" * 200 + "x0" + ")" * 200,
    "x0^" * 300 + "2",
    "x0+" * (MAX_CHARACTERS // 3 + 1) + "x0",
]


@pytest.mark.parametrize("text", [text for text in HOSTILE if text != "nan"], ids=lambda text: repr(text[:20]))
def test_hostile_text_gives_one_clear_message(text: str) -> None:
    """Catches a traceback, a recursion error, or text taken for code."""
    with pytest.raises(InvalidInput) as caught:
        parse_expression(text)
    assert 20 < len(str(caught.value)) < 500


def test_a_word_is_a_variable_and_never_a_number() -> None:
    """Catches "nan" or "inf" read as a float: they are unknown variables, refused where a task is made."""
    assert parse_expression("nan") == Variable("nan")
    with pytest.raises(InvalidInput, match="nan"):
        evaluate(parse_expression("nan"), {"x0": Fraction(1)}, RATIONAL)


@FEW
@given(st.text(max_size=40) | st.text(alphabet="x01+-*/^(),.e minaexp", max_size=40))
@example("min(x0,1-x0)")
def test_any_text_parses_or_is_refused(text: str) -> None:
    """Catches any exception but our own, on arbitrary text and on text made of the language's own tokens."""
    try:
        expression = parse_expression(text)
    except HeadcountError:
        return
    assert expression_from_json(expression_to_json(expression)) == expression


@pytest.mark.parametrize(
    "data",
    [
        None,
        1,
        1.5,
        True,
        [],
        {},
        [[]],
        ["exp"],
        ["nope", "x0"],
        ["^", "x0", "x1"],
        ["^", "x0", "1/2"],
        ["+", "x0", 3],
        "x-1",
        "1e400000",
        "Infinity",
        "",
        ["min", *["1"] * (MAX_NODES + 1)],
    ],
    ids=lambda data: repr(data)[:20],
)
def test_hostile_json_gives_one_clear_message(data: Any) -> None:
    """Catches JSON that is accepted although it is no expression (bare numbers would be inexact)."""
    if data == "Infinity":
        assert expression_from_json(data) == Variable("Infinity")  # a name; refused where variables are known
        return
    with pytest.raises(InvalidInput):
        expression_from_json(data)


def test_deep_json_is_refused_without_recursion_errors() -> None:
    """Catches a stack overflow by nesting."""
    data: Any = "x0"
    for _ in range(MAX_DEPTH + 2):
        data = ["-", data]
    with pytest.raises(InvalidInput, match="depth"):
        expression_from_json(data)


def test_whatever_the_parser_accepts_survives_json() -> None:
    """Catches nesting that the parser allows and the JSON reader refuses: a task could then not be read back."""
    accepted = 0
    for levels in (5, 20, 40, 90):
        try:
            expression = parse_expression("exp(1+2*" * levels + "x0" + ")" * levels)
        except InvalidInput as error:
            assert "nested" in str(error)  # noqa: PT017
            continue
        accepted += 1
        assert expression_from_json(expression_to_json(expression)) == expression
    assert accepted >= 2


def test_poles_raise_in_every_exact_arithmetic() -> None:
    """Catches a ZeroDivisionError that escapes, and infinity passed on by balls."""
    for text in ("1/x0", "x0^-1", "log(x0)"):
        expression = parse_expression(text)
        with pytest.raises((NotFinite, InexactOperation)):
            evaluate(expression, {"x0": Fraction(0)}, RATIONAL)
        with pytest.raises(NotFinite):
            evaluate(expression, {"x0": balls.exact(0)}, BALLS)
        with pytest.raises((NotFinite, InexactOperation)):
            evaluate(expression, {"x0": np.array([Fraction(0)], dtype=object)}, EXACT)


def test_constants_beyond_float64_are_refused_not_rounded_to_infinity() -> None:
    """Catches OverflowError, or a silent infinity, from a huge exact constant in float64 and torch."""
    huge = parse_expression("1e400*x0")
    assert evaluate(huge, {"x0": Fraction(1)}, RATIONAL) == 10**400
    for arithmetic in (FLOAT64, TorchArithmetic()):
        with pytest.raises(NotFinite, match="overflow"):
            evaluate(huge, {"x0": 1.0}, arithmetic)


def test_python_operators_build_the_same_trees_as_the_parser() -> None:
    """Catches operators that swap their sides."""
    x = Variable("x0")
    assert 1 - x == parse_expression("1 - x0")
    assert x / 2 == parse_expression("x0/2")
    assert x**2 == parse_expression("x0^2")
    assert apply("min", x, 1 - x) == parse_expression("min(x0, 1 - x0)")
    assert 0.5 * x == Call("*", (Number(Fraction(1, 2)), x))
    assert set(FUNCTIONS) == {"exp", "log", "tanh", "relu", "gelu", "abs", "min", "max"}
