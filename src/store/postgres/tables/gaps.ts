/** Gaps in the change logs: which logs lack changes, because history was off. */
import type { Connections } from "../connection/connections.ts";
import type { Catalogue } from "./catalogue.ts";
import { noteGaps, selectGapsAtEnd } from "./statements.ts";

/** Notes a gap in each log that lacks its last change: history was off when the change was made. */
export async function noteGapsAtEnd(connections: Connections, { byNumber }: Catalogue): Promise<void> {
  if (byNumber.size === 0) return;
  const { rows } = await connections.run(selectGapsAtEnd([...byNumber.keys()]));
  for (const [number] of rows) await connections.run(noteGaps(Number(number)));
}
