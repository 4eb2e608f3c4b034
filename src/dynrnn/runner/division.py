"""Python 2's `/`: the floor of two integers, `__div__` of the operands' classes, true division for the rest.

Here are the two operations and the pass that calls them from a translated program. `from __future__ import division`
turns the pass off; that is decided in `python2`.
"""

import ast
import operator
from typing import Any

DIVIDE = "__divide__"  # two underscores at both ends: a name inside a class is not mangled
DIVIDE_IN_PLACE = "__divide_in_place__"
_BASE = "__divide_base__"
_KEY = "__divide_key__"


def divide(left: Any, right: Any) -> Any:
    """`left / right` as Python 2 has it: integers, numpy's scalars and arrays among them, give the floor.

    A class that defines Python 2's `__div__` or `__rdiv__`, as TF1's tensors do, is asked first.

    Example:
        >>> divide(7, 2), divide(-7, 2), divide(7.0, 2)
        (3, -4, 3.5)
    """
    if _is_integer(left) and _is_integer(right):
        return left // right
    for method, owner, other in (("__div__", left, right), ("__rdiv__", right, left)):
        result = _ask(method, owner, other)
        if result is not NotImplemented:
            return result
    return left / right


def divide_in_place(left: Any, right: Any) -> Any:
    """What `left /= right` leaves under the left name; an array is changed in place, as Python 2 does.

    Example:
        >>> divide_in_place(7, 2)
        3
    """
    if _is_integer(left) and _is_integer(right):
        return operator.ifloordiv(left, right)
    result = _ask("__idiv__", left, right)
    if result is not NotImplemented:
        return result
    return operator.itruediv(left, right) if hasattr(type(left), "__itruediv__") else divide(left, right)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) or getattr(getattr(value, "dtype", None), "kind", None) in ("b", "i", "u")


def _ask(method: str, owner: Any, other: Any) -> Any:
    function = getattr(type(owner), method, None)
    return NotImplemented if function is None else function(owner, other)


class Python2Division(ast.NodeTransformer):
    """Makes every `/` and `/=` of a tree a call of `DIVIDE` or `DIVIDE_IN_PLACE`; each operand is evaluated once."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Div):
            return node
        return _placed(_call(DIVIDE, node.left, node.right), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.AST]:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Div):
            return node
        statements, load, store = _split_target(node.target)
        statements.append(ast.Assign([store], _call(DIVIDE_IN_PLACE, load, node.value)))
        return [_placed(statement, node) for statement in statements]


def _split_target(target: ast.expr) -> tuple[list[ast.stmt], ast.expr, ast.expr]:
    """Statements that evaluate the parts of a target once, and the target in these parts, to read and to write."""
    base = ast.Name(_BASE, ast.Load())
    if isinstance(target, ast.Attribute):
        load, store = ast.Attribute(base, target.attr, ast.Load()), ast.Attribute(base, target.attr, ast.Store())
        return [_assign(_BASE, target.value)], load, store
    if isinstance(target, ast.Subscript):
        key = ast.Name(_KEY, ast.Load())
        load, store = ast.Subscript(base, key, ast.Load()), ast.Subscript(base, key, ast.Store())
        return [_assign(_BASE, target.value), _assign(_KEY, _as_value(target.slice))], load, store
    assert isinstance(target, ast.Name)
    return [], ast.Name(target.id, ast.Load()), ast.Name(target.id, ast.Store())


def _as_value(index: ast.expr) -> ast.expr:
    """An index as an expression of its own: `a:b` becomes `slice(a, b, None)`."""
    if isinstance(index, ast.Slice):
        return _call("slice", *(part or ast.Constant(None) for part in (index.lower, index.upper, index.step)))
    if isinstance(index, ast.Tuple):
        return ast.Tuple([_as_value(part) for part in index.elts], ast.Load())
    return index


def _assign(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _call(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(args), [])


def _placed(new: ast.AST, old: ast.AST) -> ast.AST:
    return ast.fix_missing_locations(ast.copy_location(new, old))
