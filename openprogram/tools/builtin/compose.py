"""All built-in tools from one value of configuration."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from openprogram.core.tooling import ToolSpec
from openprogram.tools.builtin.apply_patch import apply_patch_tool
from openprogram.tools.builtin.ask_user import ask_user
from openprogram.tools.builtin.bash import ShellConfig, bash_tool
from openprogram.tools.builtin.browser_config import BrowserConfig, browser_availability
from openprogram.tools.builtin.chats import list_sessions, send_message
from openprogram.tools.builtin.edit import edit
from openprogram.tools.builtin.git_read import git_read
from openprogram.tools.builtin.git_run import git_path
from openprogram.tools.builtin.glob import glob_tool
from openprogram.tools.builtin.grep import grep_tool
from openprogram.tools.builtin.image_view import image_view
from openprogram.tools.builtin.job_tools import job_tools
from openprogram.tools.builtin.jobs import Jobs
from openprogram.tools.builtin.listing import list_folder
from openprogram.tools.builtin.memory import memory_search, memory_write
from openprogram.tools.builtin.pdf_read import pdf_read
from openprogram.tools.builtin.playwright_browser import Browsers, playwright_browser_tool
from openprogram.tools.builtin.read import read_tool
from openprogram.tools.builtin.ripgrep import find_ripgrep
from openprogram.tools.builtin.search_config import SearchConfig, availability
from openprogram.tools.builtin.todo import todo
from openprogram.tools.builtin.web_fetch import FetchConfig, web_fetch_tool
from openprogram.tools.builtin.web_search import web_search_tool
from openprogram.tools.builtin.worktrees import worktree_create, worktree_list, worktree_remove
from openprogram.tools.builtin.write import write

_NO_RIPGREP: Final = "ripgrep is not installed: `rg` was found neither beside this program nor on the PATH."

_NO_GIT: Final = "git is not installed: it was not found on the PATH."


@dataclass(frozen=True, slots=True)
class BuiltinConfig:
    """What the built-in tools need from outside.

    `output_dir` takes the output of commands, one directory per chat; `jobs` the commands in the background;
    `journals` takes changes of several files while they are made; `browsers` is the browser that pages are used in.
    """

    output_dir: Path
    jobs: Jobs
    journals: Path | None = None
    browsers: Browsers = field(default_factory=lambda: Browsers(BrowserConfig()))
    shell: ShellConfig = field(default_factory=ShellConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    fetch: FetchConfig = field(default_factory=FetchConfig)
    ripgrep: Path | None = field(default_factory=find_ripgrep)
    git: str | None = field(default_factory=git_path)


def builtin_tools(config: BuiltinConfig) -> tuple[ToolSpec, ...]:
    """Every built-in tool, available or not, in a fixed order."""
    ripgrep = config.ripgrep or Path("rg")
    return (
        apply_patch_tool(config.journals),
        ask_user,
        bash_tool(config.shell, config.output_dir, config.jobs),
        edit,
        git_read,
        glob_tool(ripgrep),
        grep_tool(ripgrep),
        image_view,
        *job_tools(config.jobs),
        list_folder,
        list_sessions,
        memory_search,
        memory_write,
        pdf_read,
        playwright_browser_tool(config.browsers),
        read_tool(config.output_dir),
        send_message,
        todo,
        web_fetch_tool(config.fetch),
        web_search_tool(config.search),
        worktree_create,
        worktree_list,
        worktree_remove,
        write,
    )


def unavailable_tools(config: BuiltinConfig) -> Mapping[str, str]:
    """The built-in tools that cannot be offered now, each with the reason for people."""
    reasons: dict[str, str] = {}
    if config.ripgrep is None:
        reasons |= {"glob": _NO_RIPGREP, "grep": _NO_RIPGREP}
    if config.git is None:
        reasons |= {tool.name: _NO_GIT for tool in (git_read, worktree_create, worktree_list, worktree_remove)}
    if (reason := browser_availability(config.browsers.config)) is not None:
        reasons["playwright_browser"] = reason
    if (reason := availability(config.search)) is not None:
        reasons["web_search"] = reason
    return reasons
