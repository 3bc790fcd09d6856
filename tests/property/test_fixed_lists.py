"""The offer to follow a preset again, over any lists and presets (spec tools.md section 1)."""

from dataclasses import replace
from types import MappingProxyType

from hypothesis import given
from hypothesis import strategies as st

from openprogram.core.intent import ToolIntent
from openprogram.core.tooling import Preset, Snapshot
from openprogram.session_config.patches import SetPicked, SetToolset, SetWebSearch, apply
from openprogram.tools.fixed_lists import BELONG, COVERED, FEWEST, follow_offer
from openprogram.tools.presets import expand
from openprogram.tools.resolve import resolve
from tests.support.tools import PROFILE, snapshot, spec

SOURCES = ("plugin:a", "plugin:b", "mcp:c")
NAMES = tuple(f"{source[-1]}_{n:02d}" for source in SOURCES for n in range(14))
ALL = snapshot(*((source, [spec(name) for name in NAMES if name[0] == source[-1]]) for source in SOURCES))
some = st.lists(st.sampled_from(NAMES), unique=True, max_size=len(NAMES)).map(tuple)


@st.composite
def worlds(draw: st.DrawFn) -> Snapshot:
    """Any presets of single names and of whole sources."""
    entries = st.lists(st.sampled_from((*NAMES, "@plugin:a", "@plugin:b", "@mcp:c")), max_size=30).map(tuple)
    made = draw(st.lists(entries, min_size=1, max_size=4))
    presets = {f"p{n}": Preset(f"p{n}", "", entries=listed) for n, listed in enumerate(made)}
    return replace(ALL, presets=MappingProxyType({**ALL.presets, **presets}))


def meant(name: str, now: Snapshot) -> set[str]:
    return set(expand(name, now.presets, now.tools).names) - {"web_search"}


@given(worlds(), some, st.data(), st.booleans())
def test_what_is_offered_is_covered_by_the_list_and_nearly_all_of_the_list(
    now: Snapshot, besides: tuple[str, ...], data: st.DataObject, search: bool
) -> None:
    copied = sorted(meant(data.draw(st.sampled_from(sorted(now.presets))), now) & set(NAMES))
    listed = tuple(dict.fromkeys((*copied[data.draw(st.integers(0, 5)) :], *besides[: data.draw(st.integers(0, 6))])))
    offer = follow_offer(ToolIntent(picked=(*listed, "web_search") if search else listed), now)
    if offer is None:
        return
    sources = {name[0] for name in listed}
    then = {name for name in meant(offer.preset, now) if name[0] in sources}
    shared = len(then & set(listed))
    assert shared >= FEWEST
    assert shared >= BELONG * len(listed)
    assert shared >= COVERED * len(then)


@given(worlds(), st.data(), st.booleans())
def test_every_copy_of_a_preset_is_recognised_and_following_it_takes_nothing_away(
    now: Snapshot, data: st.DataObject, search: bool
) -> None:
    copied = data.draw(st.sampled_from(sorted(name for name in now.presets if len(meant(name, now)) >= FEWEST)))
    copy = ToolIntent(picked=(*sorted(meant(copied, now)), *(("web_search",) if search else ())))
    offer = follow_offer(copy, now)
    assert offer is not None
    followed = apply(apply(copy, SetToolset(offer.preset)), SetPicked(None))
    if offer.web_search:
        followed = apply(followed, SetWebSearch(True))
    before = set(resolve(copy, now, PROFILE, "web").names)
    assert before <= set(resolve(followed, now, PROFILE, "web").names)
    assert followed.picked is None  # T1: what is stored is a name


@given(worlds(), some, st.data())
def test_the_offer_does_not_depend_on_the_order_of_the_list(
    now: Snapshot, listed: tuple[str, ...], data: st.DataObject
) -> None:
    turned = tuple(data.draw(st.permutations(listed)))
    assert follow_offer(ToolIntent(picked=listed), now) == follow_offer(ToolIntent(picked=turned), now)


@given(worlds(), st.lists(st.sampled_from(NAMES), unique=True, max_size=FEWEST - 1).map(tuple))
def test_a_short_list_is_a_persons_own(now: Snapshot, listed: tuple[str, ...]) -> None:
    assert follow_offer(ToolIntent(picked=listed), now) is None
