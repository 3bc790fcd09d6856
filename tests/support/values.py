"""Any value of a type of `openprogram.core`, as a hypothesis strategy: what JSON can carry, small."""

from dataclasses import fields, is_dataclass
from functools import reduce
from operator import or_
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from annotated_types import Interval
from hypothesis import strategies as st

from openprogram.core.jsonio import JsonValue

texts = st.text(max_size=6)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | texts | st.integers(-9, 9),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
_SIMPLE: dict[Any, st.SearchStrategy[Any]] = {
    str: texts,
    bool: st.booleans(),
    int: st.integers(0, 2**40),
    float: st.floats(0, 1e9),
    NoneType: st.none(),
    JsonValue: json_values,
}


def any_of(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a dataclass, union, literal, tuple or dictionary of such."""
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if is_dataclass(kind) and isinstance(kind, type):
        hints = get_type_hints(kind, include_extras=True)
        return st.deferred(lambda: st.builds(kind, **{one.name: any_of(hints[one.name]) for one in fields(kind)}))
    arguments = get_args(kind)
    origin = get_origin(kind)
    if origin is Annotated:
        return _annotated(kind, arguments)
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin in (Union, UnionType):
        return reduce(or_, map(any_of, arguments))
    if origin is tuple:
        return st.lists(any_of(arguments[0]), max_size=3).map(tuple)
    if origin is dict:
        return st.dictionaries(any_of(arguments[0]), any_of(arguments[1]), max_size=3)
    raise TypeError(f"no strategy for {kind}")


def _annotated(kind: Any, arguments: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    if arguments[0] is not int:
        strategy: st.SearchStrategy[Any] = st.from_type(kind)  # texts of bounded length
        return strategy
    bounds = next((extra for extra in arguments[1:] if isinstance(extra, Interval)), None)
    return st.integers(1, 9) if bounds is None else st.integers(bounds.ge, bounds.le)  # type: ignore[arg-type]
