/** A database as the source of a copy. All reads between two refreshes see the same state. */
import type { CopySource } from "../../core/copy/contents.ts";
import { StoredContents } from "../../core/copy/stored-contents.ts";
import { openCommandConnections, withStartErrors } from "../connection/connections.ts";
import { openSnapshot } from "../connection/transaction.ts";
import { prepareDatabase } from "../tables/prepare.ts";
import { postgresContents } from "./contents.ts";

/** Opens the store in the database at `url` as the source of a copy. This and all methods throw StartError. */
export async function openPostgresSource(url: string): Promise<CopySource> {
  const { connections, close } = openCommandConnections(url);
  try {
    await withStartErrors(prepareDatabase(connections, { mustExist: true }));
    let snapshot = await withStartErrors(openSnapshot(connections));
    const contents = new StoredContents(
      postgresContents((statement) => withStartErrors(snapshot.run(statement))),
    );
    return Object.assign(contents, {
      async refresh() {
        await snapshot.end();
        snapshot = await withStartErrors(openSnapshot(connections));
      },
      async close() {
        await snapshot.end();
        await close();
      },
    });
  } catch (error) {
    await close();
    throw error;
  }
}
