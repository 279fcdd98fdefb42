"""Statements walked with an output: for, if, set, filter and what is printed between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from jinja2 import nodes

from assay.suite.templates.expressions import Expressions
from assay.suite.templates.limits import Meter, Output, Refusal
from assay.suite.templates.lookup import find
from assay.suite.templates.parsing import targets
from assay.suite.templates.values import Value, kind, text, truth


class Rendering(Expressions):
    """One template under one set of variables, rendered once."""

    def __init__(
        self, variables: Mapping[str, Value], env: Mapping[str, str], meter: Meter
    ) -> None:
        super().__init__(variables, env, meter)
        self._out = Output(meter.output)

    def render(self, tree: nodes.Template) -> str:
        """What the template prints; raises Refusal, with its line in the meter."""
        self._run(tree.body)
        return self._out.text()

    def _run(self, body: Sequence[nodes.Node]) -> None:
        for node in body:
            self._meter.step()
            self._meter.line = node.lineno
            _RUN[type(node)](self, node)

    def _output(self, node: nodes.Output) -> None:
        for child in node.nodes:
            if isinstance(child, nodes.TemplateData):
                self._meter.step()
                self._out.write(child.data)
            else:
                self._meter.line = child.lineno
                self._out.write(text(self.value(child), self._meter))

    def _if(self, node: nodes.If) -> None:
        for branch in (node, *node.elif_):
            if truth(self.value(branch.test)):
                self._run(branch.body)
                return
        self._run(node.else_)

    def _for(self, node: nodes.For) -> None:
        names = targets(node.target)
        values = self._looped(self.value(node.iter), len(names))
        frame: dict[str, Value] = {}
        self._frames.append(frame)
        for index, value in enumerate(values):
            self._meter.step()
            frame["loop"] = _loop(index, len(values))
            if len(names) == 1:
                frame[names[0]] = value
            else:
                self._meter.step(len(names))
                found = (find(value, place, self._meter) for place in range(len(names)))
                frame.update(zip(names, found, strict=True))
            self._run(node.body)
        self._frames.pop()
        if not values:
            self._run(node.else_)

    def _looped(self, value: Value, names: int) -> Sequence[Value]:
        """What a loop goes over: elements, characters, or pairs of key and value."""
        if isinstance(value, Mapping):
            if names != 2:
                raise Refusal("a mapping has keys and values; write {% for key, value in … %}")
            self._meter.make_items(3 * len(value))
            return list(value.items())
        if isinstance(value, (str, list, tuple)):
            return value
        if truth(value):
            raise Refusal(f"'for' cannot loop over {kind(value)}")
        return ()

    def _set(self, node: nodes.Assign) -> None:
        self._assign(node.target, self.value(node.node))

    def _set_block(self, node: nodes.AssignBlock) -> None:
        self._capture(node.body)
        captured = self._captured
        self._assign(node.target, self.value(node.filter) if node.filter else captured)

    def _filter_block(self, node: nodes.FilterBlock) -> None:
        self._capture(node.body)
        self._out.write(text(self.value(node.filter), self._meter))

    def _capture(self, body: Sequence[nodes.Node]) -> None:
        """Runs ``body`` and keeps what it prints for the block's filters."""
        outer, self._out = self._out, Output(self._meter.output)
        self._run(body)
        self._captured = self._out.captured(self._meter)
        self._out = outer

    def _assign(self, target: nodes.Expr, value: Value) -> None:
        """Sets a name in the nearest frame that has it, else in the innermost."""
        for name in targets(target):
            frames = (frame for frame in reversed(self._frames) if name in frame)
            next(frames, self._frames[-1])[name] = value


def _loop(index: int, length: int) -> dict[str, Value]:
    return {
        "index": index + 1,
        "index0": index,
        "revindex": length - index,
        "revindex0": length - index - 1,
        "first": index == 0,
        "last": index == length - 1,
        "length": length,
    }


_RUN: Mapping[type[nodes.Node], Callable[[Any, Any], None]] = MappingProxyType(
    {
        nodes.Assign: Rendering._set,
        nodes.AssignBlock: Rendering._set_block,
        nodes.FilterBlock: Rendering._filter_block,
        nodes.For: Rendering._for,
        nodes.If: Rendering._if,
        nodes.Output: Rendering._output,
    }
)
