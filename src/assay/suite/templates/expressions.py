"""Expressions walked with values: no code is generated and no Python object is in reach.

Every node costs a step. Names are found in the template's own frames, then in the variables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from jinja2 import nodes

from assay.suite.templates.arguments import apply, known, made, whole
from assay.suite.templates.checks import CHECKS
from assay.suite.templates.filters import FILTERS, filtered, weigh
from assay.suite.templates.limits import Meter, Refusal
from assay.suite.templates.lookup import find, refuse_python
from assay.suite.templates.methods import methods_of
from assay.suite.templates.operators import ARITHMETIC, concat, contains, negative
from assay.suite.templates.parsing import Strict
from assay.suite.templates.values import (
    UNDEFINED,
    Value,
    equal,
    is_list,
    kind,
    number,
    order,
    same,
    text,
    truth,
)


class Expressions:
    """Values of expressions under ``variables``; ``env`` is what {{ env.NAME }} reads."""

    def __init__(
        self, variables: Mapping[str, Value], env: Mapping[str, str], meter: Meter
    ) -> None:
        self._variables, self._env, self._meter = variables, env, meter
        self._frames: list[dict[str, Value]] = [{}]
        self._captured = ""

    def value(self, node: nodes.Node | None) -> Value:
        """The value of an expression; UNDEFINED of none. Raises Refusal."""
        if node is None:
            return UNDEFINED
        self._meter.step()
        return _EVALUATE[type(node)](self, node)

    def _found(self, name: str) -> Value:
        for frame in reversed(self._frames):
            if name in frame:
                return frame[name]
        return self._variables.get(name, UNDEFINED)

    def _name(self, node: nodes.Name) -> Value:
        if node.name == "null":
            return None
        value = self._found(node.name)
        if value is UNDEFINED:
            if node.name == "env":
                raise Refusal("'env' is not a value; name one variable: {{ env.NAME }}")
            refuse_python(node.name)
        return value

    def _const(self, node: nodes.Const) -> Value:
        return node.value

    def _list(self, node: nodes.List | nodes.Tuple) -> list[Value]:
        self._meter.make_items(len(node.items) + 1)
        return made(map(self.value, node.items))

    def _dict(self, node: nodes.Dict) -> dict[Value, Value]:
        self._meter.make_items(4 * len(node.items) + 1)
        pairs = ((self._key(pair.key), self.value(pair.value)) for pair in node.items)
        return {key: value for key, value in pairs if value is not UNDEFINED}

    def _key(self, node: nodes.Expr) -> str:
        """A key is text, and a bare name stands for itself: {a: 1}."""
        return node.name if isinstance(node, nodes.Name) else text(self.value(node), self._meter)

    def _either(self, node: nodes.CondExpr) -> Value:
        return self.value(node.expr1 if truth(self.value(node.test)) else node.expr2)

    def _and(self, node: nodes.And) -> Value:
        left = self.value(node.left)
        return self.value(node.right) if truth(left) else left

    def _or(self, node: nodes.Or) -> Value:
        left = self.value(node.left)
        return left if truth(left) else self.value(node.right)

    def _not(self, node: nodes.Not) -> bool:
        return not truth(self.value(node.node))

    def _minus(self, node: nodes.Neg) -> Value:
        return negative(self.value(node.node), self._meter)

    def _plus(self, node: nodes.Pos) -> Value:
        return number(self.value(node.node), self._meter)

    def _binary(self, node: nodes.BinExpr) -> Value:
        operate = ARITHMETIC[node.operator]
        return operate(self.value(node.left), self.value(node.right), self._meter)

    def _concat(self, node: nodes.Concat) -> str:
        return concat(tuple(map(self.value, node.nodes)), self._meter)

    def _compare(self, node: nodes.Compare) -> Value:
        left = self.value(node.expr)
        for operand in node.ops:
            left = self._compared(operand.op, left, self.value(operand.expr))
        return left

    def _compared(self, sign: str, left: Value, right: Value) -> bool:
        if sign in {"in", "notin"}:
            return contains(left, right, self._meter) is (sign == "in")
        if sign in {"eq", "ne"}:
            strict = isinstance(sign, Strict)
            alike = same(left, right, self._meter) if strict else equal(left, right, self._meter)
            return alike is (sign == "eq")
        return order(left, right, self._meter) in _ORDERS[sign]

    def _getattr(self, node: nodes.Getattr) -> Value:
        return self._member(node.node, node.attr)

    def _getitem(self, node: nodes.Getitem) -> Value:
        if isinstance(node.arg, nodes.Slice):
            return self._sliced(self.value(node.node), node.arg)
        return self._member(node.node, self.value(node.arg))

    def _member(self, holder: nodes.Expr, key: Value) -> Value:
        if isinstance(holder, nodes.Name) and holder.name == "env":
            own = self._found("env")
            if own is UNDEFINED:
                return self._environment(text(key, self._meter))
        return find(self.value(holder), key, self._meter)

    def _environment(self, name: str) -> Value:
        value = self._env.get(name, UNDEFINED)
        if value is UNDEFINED:
            refuse_python(name)
        return value

    def _sliced(self, holder: Value, node: nodes.Slice) -> Value:
        parts = [
            None if part is None else whole(self.value(part), self._meter)
            for part in (node.start, node.stop, node.step)
        ]
        if not (isinstance(holder, str) or is_list(holder)):
            return UNDEFINED
        if parts[2] == 0:
            raise Refusal("a slice cannot go by steps of 0")
        weigh(holder, self._meter)
        return holder[slice(*parts)]

    def _filter(self, node: nodes.Filter) -> Value:
        value = self._captured if node.node is None else self.value(node.node)
        function = known("filter", node.name, FILTERS)
        given, named = self._arguments(node)
        return filtered(node.name, function, self._meter, [value, *given], named)

    def _test(self, node: nodes.Test) -> bool:
        check = known("test", node.name, CHECKS)
        value = self.value(node.node)
        given, named = self._arguments(node)
        return truth(apply(f"'is {node.name}'", check, self._meter, [value, *given], named))

    def _arguments(
        self, node: nodes.Filter | nodes.Test | nodes.Call
    ) -> tuple[list[Value], dict[str, Value]]:
        given = [self.value(argument) for argument in node.args]
        named = {str(pair.key): self.value(pair.value) for pair in node.kwargs}
        return given, named

    def _call(self, node: nodes.Call) -> Value:
        callee = node.node
        given, named = self._arguments(node)
        if isinstance(callee, nodes.Name):
            if callee.name != "range":
                raise Refusal(f"{callee.name[:40]!r} is not a function; the only one is range()")
            return apply("range()", _range, self._meter, given, named)
        if not isinstance(callee, (nodes.Getattr, nodes.Getitem)):
            raise Refusal("only methods and range() can be called")
        return self._method(callee, given, named)

    def _method(
        self, callee: nodes.Getattr | nodes.Getitem, given: list[Value], named: dict[str, Value]
    ) -> Value:
        if isinstance(callee, nodes.Getattr):
            name = callee.attr
        else:
            name = text(self.value(callee.arg), self._meter)
        holder = self.value(callee.node)
        refuse_python(name)
        methods = methods_of(holder)
        if not methods:
            raise Refusal(f"{kind(holder)} has no method {name[:40]!r}; a filter may do: x | trim")
        function = known(f"method of {kind(holder)} called", name, methods)
        weigh(holder, self._meter)
        return apply(f"{name}()", function, self._meter, [holder, *given], named)


def check_name(node: nodes.Node) -> None:
    """Raise Refusal for a filter or test that there is none of."""
    if isinstance(node, nodes.Filter):
        known("filter", node.name, FILTERS)
    elif isinstance(node, nodes.Test):
        known("test", node.name, CHECKS)


def _range(meter: Meter, *given: Value) -> list[int]:
    """The numbers of Python's range, as a list."""
    numbers = range(*(whole(value, meter) for value in given))
    meter.make_items((numbers[-1] - numbers[0]) // numbers.step + 1 if numbers else 0)
    return list(numbers)


_ORDERS: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {"lt": (-1,), "lteq": (-1, 0), "gt": (1,), "gteq": (0, 1)}
)
_ARITHMETIC_NODES = (
    nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod, nodes.Pow,
)  # fmt: skip
_EVALUATE: Mapping[type[nodes.Node], Callable[[Any, Any], Value]] = MappingProxyType(
    {
        nodes.And: Expressions._and,
        nodes.Call: Expressions._call,
        nodes.Compare: Expressions._compare,
        nodes.Concat: Expressions._concat,
        nodes.CondExpr: Expressions._either,
        nodes.Const: Expressions._const,
        nodes.Dict: Expressions._dict,
        nodes.Filter: Expressions._filter,
        nodes.Getattr: Expressions._getattr,
        nodes.Getitem: Expressions._getitem,
        nodes.List: Expressions._list,
        nodes.Name: Expressions._name,
        nodes.Neg: Expressions._minus,
        nodes.Not: Expressions._not,
        nodes.Or: Expressions._or,
        nodes.Pos: Expressions._plus,
        nodes.Test: Expressions._test,
        nodes.Tuple: Expressions._list,
        **dict.fromkeys(_ARITHMETIC_NODES, Expressions._binary),
    }
)
