/** The sizes of collections. The server that has a table asks the file system for the lengths of its files, so this reads no data. */
import { unfinished } from "../../core/slow-reads.ts";
import { maxSizesWaitMs } from "../../port/statistics.ts";
import type { SlowStatements } from "../list/slow-statements.ts";
import type { NumberedCollection } from "../tables/catalogue.ts";
import { isCluster } from "../tables/cluster.ts";
import { selectSizes } from "../tables/statements.ts";
import { tablesOf } from "../tables/tables.ts";
import type { Run } from "./reads.ts";

/**
 * The sizes of collections in bytes, by name. They are all missing if the statement takes too long, for example because
 * another session has locked one of the tables.
 */
export async function readSizes(
  slow: SlowStatements,
  collections: readonly NumberedCollection[],
): Promise<ReadonlyMap<string, number>> {
  const signal = AbortSignal.timeout(maxSizesWaitMs);
  try {
    const client = { caller: "", signal };
    const tables = collections.flatMap(({ number }) => tablesOf(number));
    const read = async (run: Run) => (await run(selectSizes(tables, await isCluster(run)))).rows;
    const rows = await slow.inSnapshot(read, client);
    if (rows === unfinished) return new Map();
    const byTable = new Map(rows.map(([table, bytes]) => [table, Number(bytes)]));
    const sizeOf = ({ number }: NumberedCollection) =>
      tablesOf(number).reduce((sum, table) => sum + (byTable.get(table) ?? 0), 0);
    return new Map(collections.map((each) => [each.name, sizeOf(each)]));
  } catch (error) {
    if (signal.aborted) return new Map();
    throw error;
  }
}
