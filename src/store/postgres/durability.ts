/** What an acknowledged write is worth, as the database is set up. */
import type { Connections } from "./connections.ts";

/** Says which setting lets the database lose what it has acknowledged; `undefined` where none does. */
export async function findRelaxed(connections: Connections): Promise<string | undefined> {
  const [commit, fsync] = await Promise.all(
    ["synchronous_commit", "fsync"].map(async (name) => {
      const { rows } = await connections.run({ sql: `show ${name}` });
      return rows[0]?.[0];
    }),
  );
  const off = [...(commit === "off" ? ["synchronous_commit"] : []), ...(fsync === "off" ? ["fsync"] : [])];
  if (off.length === 0) return undefined;
  return `The database has ${off.join(" and ")} off: writes that were answered with success may be lost when the power fails.`;
}
