"""Broad exception handlers stand only in named supervisors, and none swallows (design.md, law 10)."""

import ast
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import pytest

from tests.support.tree import Module, dotted_name, enclosing, modules, write_tree

# "path:qualified.function" of each supervisor that may catch everything, because it turns what it caught into
# a log line and an event. Law 10 names them all: session actor, tool call, provider stream, store writer, MCP
# owner, connection, lifespan.
SUPERVISORS: frozenset[str] = frozenset(
    {
        "openprogram/agent/calls.py:_execute",
        "openprogram/app/beside.py:_supervised",  # work of the lifespan
        "openprogram/app/plugins.py:_guarded",  # importing a plug-in runs code of other people
        "openprogram/bus/local.py:LocalBus.publish",  # a subscriber's fault must not reach the publisher
        "openprogram/providers/streaming.py:answer",
        "openprogram/server/connection.py:SocketEndpoint.__call__",
        "openprogram/server/ws_actions/dispatch.py:_perform",  # a connection's supervisor, per action
        "openprogram/sessions/run.py:Run._guarded",
        "openprogram/store/sqlite/group.py:Groups.run",
    }
)

BROAD = frozenset({"Exception", "BaseException", "ExceptionGroup", "BaseExceptionGroup"})


def violations(tree: Sequence[Module], supervisors: Collection[str]) -> list[str]:
    """Broad handlers outside `supervisors`, silent ones anywhere, and supervisors without a broad handler."""
    found, used = [], set()
    for module in tree:
        for line, silent in _broad(module):
            where = f"{module.path}:{enclosing(module, line)}"
            used.add(where)
            if where not in supervisors:
                found.append(f"{where} (line {line}): broad handler outside the supervisors")
            elif silent:
                found.append(f"{where} (line {line}): a supervisor must log and emit, not swallow")
    unused = [name for name in supervisors if name not in used]
    return found + [f"{name}: listed as a supervisor, but has no broad handler" for name in unused]


def _broad(module: Module) -> Iterator[tuple[int, bool]]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ExceptHandler) and _is_broad(node.type):
            yield node.lineno, all(_does_nothing(statement) for statement in node.body)
        elif isinstance(node, ast.Call) and dotted_name(node.func).rpartition(".")[2] == "suppress":
            yield from [(node.lineno, True)] * any(_is_broad(argument) for argument in node.args)


def _is_broad(caught: ast.expr | None) -> bool:
    if isinstance(caught, ast.Tuple):
        return any(_is_broad(element) for element in caught.elts)
    return caught is None or dotted_name(caught).rpartition(".")[2] in BROAD


def _does_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Return):
        return statement.value is None or isinstance(statement.value, ast.Constant)
    is_constant = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return is_constant or isinstance(statement, ast.Pass | ast.Continue | ast.Break)


def test_only_supervisors_catch_everything() -> None:
    assert violations(modules(), SUPERVISORS) == []


@pytest.mark.parametrize(
    "handler",
    [
        "except:",
        "except Exception:",
        "except BaseException as error:",
        "except (OSError, Exception):",
        "except builtins.Exception:",
        "except* Exception:",
    ],
)
def test_a_broad_handler_is_found(tmp_path: Path, handler: str) -> None:
    source = f"class A:\n  def f(self):\n    try:\n      g()\n    {handler}\n      log()\n"
    tree = modules(write_tree(tmp_path, {"openprogram/a.py": source}))
    assert len(violations(tree, ())) == 1
    assert violations(tree, {"openprogram/a.py:A.f"}) == []


def test_a_narrow_handler_is_not_found(tmp_path: Path) -> None:
    source = "try:\n  f()\nexcept (OSError, ValueError):\n  pass\n"
    assert violations(modules(write_tree(tmp_path, {"openprogram/a.py": source})), ()) == []


@pytest.mark.parametrize(
    "source",
    [
        "try:\n    g()\n  except Exception:\n    pass",
        "try:\n    g()\n  except Exception:\n    return None",
        "for x in y:\n    try:\n      g()\n    except Exception:\n      'why'; continue",
        "with suppress(Exception):\n    g()",
        "with contextlib.suppress(OSError, BaseException):\n    g()",
    ],
)
def test_a_supervisor_that_swallows_is_found(tmp_path: Path, source: str) -> None:
    tree = modules(write_tree(tmp_path, {"openprogram/a.py": f"def f():\n  {source}\n"}))
    assert len(violations(tree, {"openprogram/a.py:f"})) == 1


def test_a_supervisor_that_is_gone_is_found(tmp_path: Path) -> None:
    tree = modules(write_tree(tmp_path, {"openprogram/a.py": ""}))
    assert len(violations(tree, {"openprogram/a.py:f"})) == 1
