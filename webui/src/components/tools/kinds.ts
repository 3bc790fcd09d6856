/** How each tool is shown: its picture, its verbs, and the argument that tells one call from another. */
import BookOpen from "@lucide/svelte/icons/book-open";
import FilePen from "@lucide/svelte/icons/file-pen";
import FilePlus from "@lucide/svelte/icons/file-plus-2";
import FileSearch from "@lucide/svelte/icons/file-search";
import FileText from "@lucide/svelte/icons/file-text";
import Folder from "@lucide/svelte/icons/folder";
import Globe from "@lucide/svelte/icons/globe";
import MessageCircleQuestionMark from "@lucide/svelte/icons/message-circle-question-mark";
import Image from "@lucide/svelte/icons/image";
import PackageSearch from "@lucide/svelte/icons/package-search";
import MessagesSquare from "@lucide/svelte/icons/messages-square";
import Search from "@lucide/svelte/icons/search";
import Terminal from "@lucide/svelte/icons/terminal";
import SendToChat from "@lucide/svelte/icons/send";
import AppWindow from "@lucide/svelte/icons/app-window";
import Wrench from "@lucide/svelte/icons/wrench";
import type { Key } from "../../i18n/index.svelte";
import type { CallRow } from "../../lib/state/rows";

type Icon = typeof Wrench;
/** The stem of a kind's words: `.now` while it runs, `.do` for what it would do. */
type Verb = Extract<Key, `tool.${string}.now`> extends `${infer Stem}.now` ? Stem : never;

export interface Kind {
  readonly icon: Icon;
  readonly verb: Verb;
  /** The argument to show on the card's line, the first that is there. */
  readonly main: readonly string[];
  readonly body: "command" | "diff" | "search" | "fetch" | "text" | "call";
}

const kinds: Readonly<Record<string, Kind>> = {
  bash: { icon: Terminal, verb: "tool.bash", main: ["command"], body: "command" },
  read: { icon: FileText, verb: "tool.read", main: ["path", "file_path"], body: "text" },
  write: { icon: FilePlus, verb: "tool.write", main: ["path", "file_path"], body: "diff" },
  edit: { icon: FilePen, verb: "tool.edit", main: ["path", "file_path"], body: "diff" },
  apply_patch: { icon: FilePen, verb: "tool.edit", main: [], body: "diff" },
  memory_write: { icon: FilePen, verb: "tool.edit", main: ["note"], body: "diff" },
  image_view: { icon: Image, verb: "tool.read", main: ["path"], body: "text" },
  pdf_read: { icon: FileText, verb: "tool.read", main: ["path"], body: "text" },
  glob: { icon: FileSearch, verb: "tool.glob", main: ["pattern"], body: "text" },
  grep: { icon: Search, verb: "tool.grep", main: ["pattern"], body: "text" },
  list: { icon: Folder, verb: "tool.list", main: ["path"], body: "text" },
  web_search: { icon: Globe, verb: "tool.search", main: ["query"], body: "search" },
  web_fetch: { icon: BookOpen, verb: "tool.fetch", main: ["url"], body: "fetch" },
  ask_user: { icon: MessageCircleQuestionMark, verb: "tool.ask", main: ["question"], body: "text" },
  job_output: { icon: Terminal, verb: "tool.jobOutput", main: ["job"], body: "text" },
  job_stop: { icon: Terminal, verb: "tool.jobStop", main: ["job"], body: "text" },
  list_sessions: { icon: MessagesSquare, verb: "tool.chats", main: [], body: "text" },
  send_message: { icon: SendToChat, verb: "tool.sendMessage", main: ["text"], body: "call" },
  playwright_browser: { icon: AppWindow, verb: "tool.browser", main: ["action"], body: "call" },
  tool_search: { icon: PackageSearch, verb: "tool.find", main: ["query"], body: "text" },
};

const other: Kind = { icon: Wrench, verb: "tool.other", main: [], body: "call" };

export function kindOf(name: string): Kind {
  return kinds[name] ?? other;
}

/** Whether the tool itself began to run, as far as is known. */
export function began(row: CallRow): boolean {
  return row.durationMs !== 0;
}

export interface Words {
  readonly verb: Verb | `${Verb}.now` | `${Verb}.do`;
  /** What the verb is put into; null where it stands alone. */
  readonly frame: Extract<Key, `tool.say.${string}`> | null;
}

/** What is true of a call: its main argument follows these words. */
export function wordsOf(row: CallRow): Words {
  const { verb } = kindOf(row.name);
  switch (row.status) {
    case "ok":
      return { verb, frame: null };
    case "running":
      return { verb: `${verb}.now`, frame: null };
    case "writing":
    case "approval":
    case "held":
    case "error":
      return { verb: `${verb}.do`, frame: `tool.say.${row.status}` };
    case "denied":
      return { verb: `${verb}.do`, frame: "tool.say.not" };
    case "stopped":
    case "interrupted":
      return { verb: `${verb}.do`, frame: began(row) ? "tool.say.begun" : "tool.say.not" };
  }
}

/** The main argument of a call, also while its JSON is still being written. */
export function mainArgument(row: CallRow): string {
  const kind = kindOf(row.name);
  if (kind === other) return row.name;
  for (const key of kind.main) {
    const value = row.arguments === null ? partial(row.argumentsText, key) : row.arguments[key];
    if (typeof value === "string" && value !== "") return value;
  }
  return row.name === "list" && row.arguments !== null ? "." : "";
}

/** The value of a string member of JSON text that may end anywhere. */
export function partial(json: string, key: string): string {
  const match = new RegExp(`"${key}"\\s*:\\s*"((?:[^"\\\\]|\\\\.)*)`).exec(json);
  if (match === null) return "";
  try {
    return JSON.parse(`"${match[1]!}"`) as string;
  } catch {
    return match[1]!; // ends inside an escape
  }
}
