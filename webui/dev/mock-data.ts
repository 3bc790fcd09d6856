/** What the mock knows: its presets and its tools. */
import type { PresetInfo } from "../src/protocol.gen";

export const descriptions: Record<string, string> = {
  default: "What most chats need",
  full: "Every tool there is",
  coding: "Files, shell and search in code",
  research: "The web, and reading",
  safe: "Reading only: no shell, no changes",
  none: "No tools at all",
};

export const presets: PresetInfo[] = ["default", "full", "coding", "research", "safe", "none"].map((name) => ({
  name,
  title: name[0]!.toUpperCase() + name.slice(1),
  description: descriptions[name] ?? "",
  entries: [],
  includes: [],
  source: "builtin",
}));

export const tools: [string, string, "resident" | "deferred", number, string][] = [
  ["bash", "builtin", "resident", 212, "Run a command in the workspace."], ["read", "builtin", "resident", 148, "Read a file."], ["write", "builtin", "resident", 121, "Write a file."],
  ["edit", "builtin", "resident", 174, "Replace text in a file."], ["glob", "builtin", "resident", 96, "Find files by pattern."], ["grep", "builtin", "resident", 188, "Search in files."],
  ["list", "builtin", "resident", 64, "List a directory."], ["web_fetch", "builtin", "resident", 132, "Read a web page."], ["web_search", "builtin", "resident", 141, "Search the web."],
  ["worktree_create", "plugin:git", "deferred", 210, "Create a git worktree."], ["worktree_remove", "plugin:git", "deferred", 140, "Remove a git worktree."],
  ["issues__search", "mcp:issues", "deferred", 260, "Search issues."], ["issues__comment", "mcp:issues", "deferred", 240, "Comment on an issue."],
]; // prettier-ignore
