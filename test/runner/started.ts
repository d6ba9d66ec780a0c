/** What the tests of a file start: servers and programs. A file whose name has no kind starts neither. */
import { subscribe } from "node:diagnostics_channel";
import { ending, nameOf } from "./names.ts";

const started = new Set<string>();

// Both channels of Node are documented only in part. The test of the runner shows that they report.
subscribe("tracing:net.server.listen:asyncStart", () => void started.add("a server"));
subscribe("child_process", () => void started.add("a program"));

/** What is wrong with the name of a file whose tests have ended. Forgets what they have started. */
export function faultOfName(file: string): string | undefined {
  const all = [...started];
  started.clear();
  if (all.length === 0 || !file.endsWith(ending) || nameOf(file).kind !== undefined) return undefined;
  return `It starts ${all.join(" and ")}, so its name needs a kind, as in create.http.test.ts.`;
}
