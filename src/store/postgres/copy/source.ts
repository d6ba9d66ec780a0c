/** A database as the source of a copy. All reads between two refreshes see the same state. */
import type { CopySource } from "../../core/copy/contents.ts";
import {
  type CommandConnections,
  openCommandConnections,
  withStartErrors,
} from "../connection/connections.ts";
import { openSnapshot, type Snapshot } from "../connection/transaction.ts";
import { prepareDatabase } from "../tables/prepare.ts";
import { PostgresContents } from "./contents.ts";

/** Opens the store in the database at `url` as the source of a copy. This and all methods throw StartError. */
export function openPostgresSource(url: string): Promise<CopySource> {
  return open(url, PostgresSource);
}

/** The same for a single moment: a refresh does not show later changes. */
export function openPostgresMoment(url: string): Promise<CopySource> {
  return open(url, PostgresMoment);
}

async function open(url: string, Source: typeof PostgresSource): Promise<CopySource> {
  const command = openCommandConnections(url);
  try {
    await withStartErrors(prepareDatabase(command.connections, { mustExist: true }));
    const source = new Source(command, await withStartErrors(openSnapshot(command.connections)));
    await source.reloadCatalogue();
    return source;
  } catch (error) {
    await command.close();
    throw error;
  }
}

class PostgresSource extends PostgresContents implements CopySource {
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

class PostgresMoment extends PostgresSource {
  override async refresh(): Promise<void> {}
}
