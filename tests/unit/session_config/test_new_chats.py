import pytest

from openprogram.core.errors import BadField
from openprogram.core.intent import ToolIntent
from openprogram.core.jsonio import JsonValue
from openprogram.session_config.new_chats import NewChats, first_intent, read_new_chats, write_new_chats

SEARCHING = ToolIntent(web_search=True)
LAST = ToolIntent(toolset="coding", disabled=("bash",))


@pytest.mark.parametrize(
    ("setting", "last_used", "intent"),
    [
        (NewChats(), LAST, ToolIntent()),
        (NewChats("last_used"), LAST, LAST),
        (NewChats("last_used"), None, ToolIntent()),
        (NewChats("fixed", SEARCHING), LAST, SEARCHING),
        (NewChats("follow_profile", SEARCHING), LAST, ToolIntent()),
    ],
)
def test_a_new_chat_starts_from_the_users_stated_default(
    setting: NewChats, last_used: ToolIntent | None, intent: ToolIntent
) -> None:  # T7, report 5
    assert first_intent(setting, last_used) == intent


@pytest.mark.parametrize("setting", [NewChats(), NewChats("last_used"), NewChats("fixed", SEARCHING)])
def test_the_setting_survives_save_and_load(setting: NewChats) -> None:
    assert read_new_chats(write_new_chats(setting)) == setting


def test_no_setting_follows_the_profile() -> None:
    assert read_new_chats(None) == NewChats()


@pytest.mark.parametrize(
    "value", ["fixed", {"mode": "always"}, {"mode": 3}, {"intent": {}}, {"mode": "fixed", "intnet": {}}]
)
def test_a_setting_that_cannot_be_read_is_an_error(value: JsonValue) -> None:
    with pytest.raises(BadField, match="new chats"):
        read_new_chats(value)
