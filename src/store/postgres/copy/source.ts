/** A store's database that is copied: each run reads what was committed at one moment. */
import type { Source } from "../../copy/whole.ts";
import { beginVisit, inWords, type Visit } from "../connection/command-connections.ts";
import { openSnapshot, type Snapshot } from "../connection/snapshot.ts";
import { prepareDatabase } from "../tables/prepare.ts";
import { PostgresContents } from "./contents.ts";

/** Opens the store that the database at `url` holds to be copied. Throws StartError, also from each method. */
export async function openPostgresSource(url: string): Promise<Source> {
  const visit = beginVisit(url);
  try {
    await inWords(prepareDatabase(visit.connections, { isThere: true }));
    const source = new PostgresSource(visit, await inWords(openSnapshot(visit.connections)));
    await source.look();
    return source;
  } catch (error) {
    await visit.close();
    throw error;
  }
}

class PostgresSource extends PostgresContents implements Source {
  readonly #visit: Visit;
  #snapshot: Snapshot;

  constructor(visit: Visit, snapshot: Snapshot) {
    super((statement) => this.#snapshot.run(statement));
    this.#visit = visit;
    this.#snapshot = snapshot;
  }

  async refresh(): Promise<void> {
    await this.#snapshot.end();
    this.#snapshot = await inWords(openSnapshot(this.#visit.connections));
  }

  async close(): Promise<void> {
    await this.#snapshot.end();
    await this.#visit.close();
  }
}
