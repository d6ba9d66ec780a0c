/** A file in which the functions of a configuration note their calls, because they run in another thread. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../../../folder.ts";

/** The calls that functions have noted. */
export interface NotedCalls {
  /** The source of a function `note(value)`, for a configuration. */
  readonly source: string;
  /** The values, in order. */
  read<T = { type: string; id: string; attempt: number }>(): T[];
}

/** Makes the file. */
export function noteCalls(folder = makeFolder()): NotedCalls {
  const file = join(folder, "calls.ndjson");
  return {
    source: `
import { appendFileSync } from "node:fs";
const note = (value) => appendFileSync(${JSON.stringify(file)}, JSON.stringify(value) + "\\n");
const noteEvent = ({ event: { type, subject: id, data }, attempt }) => note({ type, id, attempt, data });
`,
    read: () => {
      if (!existsSync(file)) return [];
      const lines = readFileSync(file, "utf8").split("\n");
      return lines.slice(0, -1).map((line) => JSON.parse(line)); // the last line can be incomplete
    },
  };
}
