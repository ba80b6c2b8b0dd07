"""Expressions as sums of ridge functions: what a two-layer network can imitate one direction at a time.

    expression(x) = constant + linear . x + sum_k c_k relu(a_k . x + b_k) + sum_r g_r(direction_r . x)

This is an exact identity, found by rewriting: products of variables are polarised, kinks become ReLU neurons.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from theory.errors import InexactOperation, InvalidInput
from theory.expressions import RATIONAL, Call, Expression, Number, Variable, evaluate, lift

Vector = tuple[Fraction, ...]
Polynomial = dict[tuple[int, ...], Fraction]
"""Exponents of the variables -> coefficient."""

MAX_DEGREE = 12
ARGUMENT = Variable("x0")
"""The variable in which profiles are written."""


@dataclass(frozen=True)
class Affine:
    """``weights . x + offset``."""

    weights: Vector
    offset: Fraction

    def __call__(self, point: Sequence[Fraction]) -> Fraction:
        return sum((w * x for w, x in zip(self.weights, point, strict=True)), self.offset)

    def range_on(self, box: Sequence[tuple[Fraction, Fraction]]) -> tuple[Fraction, Fraction]:
        """Exact least and greatest value on a box."""
        ends = [sorted((w * low, w * high)) for w, (low, high) in zip(self.weights, box, strict=True)]
        return sum((low for low, _ in ends), self.offset), sum((high for _, high in ends), self.offset)


@dataclass(frozen=True)
class Kink:
    """``coefficient * relu(form(x))``."""

    coefficient: Fraction
    form: Affine


@dataclass(frozen=True)
class Ridge:
    """``g(direction . x)`` with g(s) = sum_j polynomial[j] s^j + sum of ``others``, expressions in `ARGUMENT`.

    The first non-zero entry of direction is 1, so that equal directions are equal tuples.
    """

    direction: Vector
    polynomial: Vector
    others: tuple[Expression, ...] = ()

    @property
    def profile(self) -> Expression:
        """g as one expression."""
        powers = [lift(c) * ARGUMENT**j for j, c in enumerate(self.polynomial) if c]
        terms = (*powers, *self.others)
        return Call("+", terms) if terms else lift(0)


@dataclass(frozen=True)
class RidgeSum:
    """An affine map, ReLU neurons and ridge functions in distinct directions, none of them affine."""

    affine: Affine
    kinks: tuple[Kink, ...]
    ridges: tuple[Ridge, ...]


def ridge_sum(expression: Expression, names: Sequence[str]) -> RidgeSum:
    """Rewrite an expression in the variables ``names`` as a sum of ridge functions; exact.

    Supported: sums and rational multiples of (1) polynomials (degree <= 12), (2) any function of one affine form, such
    as exp(x0 - 2*x1), (3) relu, abs, and min or max of two, of affine forms.

    >>> from theory.expression_parser import parse_expression
    >>> found = ridge_sum(parse_expression("x0*x1 + abs(x0)"), ("x0", "x1"))
    >>> [tuple(map(str, ridge.direction)) for ridge in found.ridges], len(found.kinks)
    ([('1', '1'), ('1', '-1')], 1)

    Raises:
        InvalidInput: a term that is none of these; the message names it.
    """
    collector = _Collector(tuple(names))
    collector.add(expression, Fraction(1))
    return collector.result()


class _Collector:
    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.constant = Fraction(0)
        self.kinks: list[Kink] = []
        self.polynomials: dict[Vector, list[Fraction]] = {}
        self.others: dict[Vector, list[Expression]] = {}

    def add(self, term: Expression, factor: Fraction) -> None:
        """Add ``factor * term``, by the first rule that fits."""
        if (form := self.affine(term)) is not None:
            self.add_affine(form, factor)
        elif isinstance(term, Call) and self.add_parts(term, factor):
            pass
        elif (ridge := self.as_ridge(term)) is not None:
            self.add_profile(*ridge, factor)
        elif (polynomial := as_polynomial(term, self.names)) is not None:
            self.add_polynomial(polynomial, factor)
        else:
            known = "a sum of polynomials, functions of one affine form, and relu/abs/min/max of affine forms"
            remedy = "rewrite the task with such terms, or give the feature another variable"
            raise InvalidInput.about("expression", str(term), known, remedy)

    def add_parts(self, term: Call, factor: Fraction) -> bool:
        """Sums, rational multiples and kinks; False if the term is none of them."""
        parts = term.arguments
        if term.operator in ("+", "-"):
            for index, part in enumerate(parts):
                last = term.operator == "-" and index == len(parts) - 1
                self.add(part, -factor if last else factor)
            return True
        if term.operator in ("min", "max") and len(parts) == 1:
            self.add(parts[0], factor)
            return True
        if term.operator == "/" and (bottom := self.number(parts[1])):
            self.add(parts[0], factor / bottom)
            return True
        if term.operator == "*":
            numbers = [self.number(part) for part in parts]
            rest = [part for part, number in zip(parts, numbers, strict=True) if number is None]
            if len(rest) == 1 and len(parts) > 1:
                self.add(rest[0], factor * math.prod((n for n in numbers if n is not None), start=Fraction(1)))
                return True
            return False
        return self.add_kink(term, factor)

    def add_kink(self, term: Call, factor: Fraction) -> bool:
        forms = [self.affine(part) for part in term.arguments]
        if term.operator not in ("relu", "abs", "min", "max") or len(forms) > 2 or None in forms:
            return False
        first, second = forms[0], forms[-1]
        assert first is not None
        assert second is not None
        # max(a, b) = b + relu(a - b), min(a, b) = a - relu(a - b), |a| = 2 relu(a) - a.
        if term.operator == "relu":
            self.kinks.append(Kink(factor, first))
        elif term.operator == "abs":
            self.kinks.append(Kink(2 * factor, first))
            self.add_affine(first, -factor)
        else:
            difference = Affine(
                tuple(a - b for a, b in zip(first.weights, second.weights, strict=True)), first.offset - second.offset
            )
            self.kinks.append(Kink(factor if term.operator == "max" else -factor, difference))
            self.add_affine(second if term.operator == "max" else first, factor)
        return True

    def add_affine(self, form: Affine, factor: Fraction) -> None:
        self.constant += factor * form.offset
        for axis, weight in enumerate(form.weights):
            if weight:
                self.add_power(self.unit(axis), 1, factor * weight)

    def add_power(self, direction: Vector, power: int, coefficient: Fraction) -> None:
        coefficients = self.polynomials.setdefault(direction, [])
        coefficients.extend([Fraction(0)] * (power + 1 - len(coefficients)))
        coefficients[power] += coefficient

    def add_profile(self, direction: Vector, profile: Expression, factor: Fraction) -> None:
        polynomial = as_polynomial(profile, (ARGUMENT.name,))
        if polynomial is None:
            self.others.setdefault(direction, []).append(profile if factor == 1 else lift(factor) * profile)
        else:
            for (power,), coefficient in polynomial.items():
                self.add_power(direction, power, factor * coefficient)

    def add_polynomial(self, polynomial: Polynomial, factor: Fraction) -> None:
        """Polarisation: v_1 ... v_k = sum over signs e_2..e_k of (prod e) (v_1 + sum e_i v_i)^k / (2^(k-1) k!)."""
        for exponents, coefficient in polynomial.items():
            axes = [axis for axis, power in enumerate(exponents) for _ in range(power)]
            degree = len(axes)
            if degree == 0:
                self.constant += factor * coefficient
                continue
            if len(set(axes)) == 1:
                self.add_power(self.unit(axes[0]), degree, factor * coefficient)
                continue
            share = factor * coefficient / (2 ** (degree - 1) * math.factorial(degree))
            for signs in itertools.product((1, -1), repeat=degree - 1):
                weights = Counter({axes[0]: 1})
                for axis, sign in zip(axes[1:], signs, strict=True):
                    weights[axis] += sign
                vector = tuple(Fraction(weights[axis]) for axis in range(len(self.names)))
                if any(vector):
                    direction, scale = normalise(vector)
                    self.add_power(direction, degree, share * math.prod(signs) * scale**degree)

    def as_ridge(self, term: Expression) -> tuple[Vector, Expression] | None:
        """``(direction, profile)`` if the term depends on one affine form only."""
        directions: set[Vector] = set()

        def rewrite(part: Expression) -> Expression:
            form = self.affine(part)
            if form is not None and any(form.weights):
                direction, scale = normalise(form.weights)
                directions.add(direction)
                return lift(scale) * ARGUMENT + form.offset
            if isinstance(part, Call):
                return Call(part.operator, tuple(rewrite(argument) for argument in part.arguments))
            return part

        profile = rewrite(term)
        return (next(iter(directions or {self.unit(0)})), profile) if len(directions) <= 1 else None

    def affine(self, term: Expression) -> Affine | None:
        polynomial = as_polynomial(term, self.names, 1)
        if polynomial is None:
            return None
        weights = [polynomial.get(_exponents(axis, len(self.names)), Fraction(0)) for axis in range(len(self.names))]
        return Affine(tuple(weights), polynomial.get((0,) * len(self.names), Fraction(0)))

    def number(self, term: Expression) -> Fraction | None:
        form = self.affine(term)
        return form.offset if form is not None and not any(form.weights) else None

    def unit(self, axis: int) -> Vector:
        return tuple(Fraction(power) for power in _exponents(axis, len(self.names)))

    def result(self) -> RidgeSum:
        """Directions whose profile is affine go into the affine part."""
        weights = [Fraction(0)] * len(self.names)
        ridges = []
        for direction in dict.fromkeys((*self.polynomials, *self.others)):
            polynomial = self.polynomials.get(direction, [])
            others = tuple(self.others.get(direction, ()))
            if others or any(polynomial[2:]):
                ridges.append(Ridge(direction, tuple(polynomial), others))
                continue
            self.constant += polynomial[0]
            for axis, entry in enumerate(direction):
                weights[axis] += entry * (polynomial[1] if len(polynomial) > 1 else 0)
        return RidgeSum(Affine(tuple(weights), self.constant), tuple(self.kinks), tuple(ridges))


def as_polynomial(term: Expression, names: Sequence[str], most: int = MAX_DEGREE) -> Polynomial | None:
    """The expression as a polynomial of degree at most ``most`` in ``names``; None if it is not visibly one."""
    zero = (0,) * len(names)
    if isinstance(term, Number):
        return {zero: term.value}
    if isinstance(term, Variable):
        return {_exponents(names.index(term.name), len(names)): Fraction(1)}
    assert isinstance(term, Call)
    if term.operator == "^":
        base, power = as_polynomial(term.arguments[0], names, most), evaluate(term.arguments[1], {}, RATIONAL)
        if base is None or power < 0:
            return _rational_constant(term, zero)
        result: Polynomial | None = {zero: Fraction(1)}
        for _ in range(int(power)):
            result = result and _product(result, base, most)
        return result
    parts = [as_polynomial(part, names, most) for part in term.arguments]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or term.operator not in ("+", "-", "*", "/"):
        return _rational_constant(term, zero)
    if term.operator == "*":
        product: Polynomial | None = known[0]
        for part in known[1:]:
            product = product and _product(product, part, most)
        return product
    if term.operator == "/":
        bottom = known[1]
        return {key: value / bottom[zero] for key, value in known[0].items()} if _is_nonzero_constant(bottom) else None
    total: Polynomial = {}
    for index, part in enumerate(known):
        sign = -1 if term.operator == "-" and index == len(known) - 1 else 1
        for key, value in part.items():
            total[key] = total.get(key, Fraction(0)) + sign * value
    return {key: value for key, value in total.items() if value} or {zero: Fraction(0)}


def _product(a: Mapping[tuple[int, ...], Fraction], b: Polynomial, most: int) -> Polynomial | None:
    result: Polynomial = {}
    for (left, x), (right, y) in itertools.product(a.items(), b.items()):
        key = tuple(i + j for i, j in zip(left, right, strict=True))
        result[key] = result.get(key, Fraction(0)) + x * y
    result = {key: value for key, value in result.items() if value} or {tuple(0 for _ in next(iter(a))): Fraction(0)}
    return result if all(sum(key) <= most for key in result) else None


def _rational_constant(term: Expression, zero: tuple[int, ...]) -> Polynomial | None:
    """A term without variables whose value is rational, such as 2^-3 or min(1, 2)."""
    try:
        return {zero: evaluate(term, {}, RATIONAL)}
    except (InvalidInput, InexactOperation, ZeroDivisionError):
        return None


def _is_nonzero_constant(polynomial: Polynomial) -> bool:
    return all(not any(key) for key in polynomial) and any(polynomial.values())


def _exponents(axis: int, count: int) -> tuple[int, ...]:
    return tuple(int(index == axis) for index in range(count))


def normalise(vector: Vector) -> tuple[Vector, Fraction]:
    """``vector = scale * direction`` with the first non-zero entry of the direction equal to 1."""
    scale = next(entry for entry in vector if entry)
    return tuple(entry / scale for entry in vector), scale
