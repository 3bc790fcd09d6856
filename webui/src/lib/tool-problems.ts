/** What is wrong with where tools come from, as lines for the top of the panel. */
import type { ToolsAck } from "../protocol.gen";

export interface ToolProblem {
  /** Whose problem it is: a source of tools, a file, `presets`, or `names` for tools that do not exist. */
  readonly source: string;
  readonly text: string;
}

/** One line per problem: names that no tool has first, then source by source; none where all is well. */
export function toolProblems(
  ack: Pick<ToolsAck, "unknown" | "problems">,
  unknown: (names: string) => string,
): ToolProblem[] {
  const names = ack.unknown.length > 0 ? [{ source: "names", text: unknown(ack.unknown.join(", ")) }] : [];
  const rest = Object.entries(ack.problems)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([source, texts]) => texts.map((text) => ({ source, text })));
  return [...names, ...rest];
}
