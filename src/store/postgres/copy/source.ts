/** A store's database that is copied: each run reads what was committed at one moment. */
import type { Source } from "../../copy/whole.ts";
import {
  type CommandConnections,
  openCommandConnections,
  withStartErrors,
} from "../connection/command-connections.ts";
import { openSnapshot, type Snapshot } from "../connection/snapshot.ts";
import { prepareDatabase } from "../tables/prepare.ts";
import { PostgresContents } from "./contents.ts";

/** Opens the store that the database at `url` holds to be copied. Throws StartError, also from each method. */
export async function openPostgresSource(url: string): Promise<Source> {
  const command = openCommandConnections(url);
  try {
    await withStartErrors(prepareDatabase(command.connections, { isThere: true }));
    const source = new PostgresSource(command, await withStartErrors(openSnapshot(command.connections)));
    await source.look();
    return source;
  } catch (error) {
    await command.close();
    throw error;
  }
}

class PostgresSource extends PostgresContents implements Source {
  readonly #command: CommandConnections;
  #snapshot: Snapshot;

  constructor(command: CommandConnections, snapshot: Snapshot) {
    super((statement) => this.#snapshot.run(statement));
    this.#command = command;
    this.#snapshot = snapshot;
  }

  async refresh(): Promise<void> {
    await this.#snapshot.end();
    this.#snapshot = await withStartErrors(openSnapshot(this.#command.connections));
  }

  async close(): Promise<void> {
    await this.#snapshot.end();
    await this.#command.close();
  }
}
