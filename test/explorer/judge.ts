/** Opens an image of the disk with the code of the service, and compares it with the responses that clients received. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { LoggedChange } from "../../src/store/change-log.ts";
import { defaultHistory } from "../../src/store/history.ts";
import { readCatalogue } from "../../src/store/sqlite/file/catalogue.ts";
import { openForReading, prepareFile } from "../../src/store/sqlite/file/open-file.ts";
import { readSecret } from "../../src/store/sqlite/file/secret.ts";
import { HistoryReader } from "../../src/store/sqlite/read/history-reader.ts";
import { Reader } from "../../src/store/sqlite/read/reader.ts";
import { Scans } from "../../src/store/sqlite/read/scan.ts";
import { openWriter } from "../../src/store/sqlite/writer/open-writer.ts";
import type { Writer } from "../../src/store/sqlite/writer/writer.ts";
import type { ClientLog } from "./actor.ts";
import { faultsOfClient } from "./judge-client.ts";
import { type Collection, type Contents, faultsOfContents } from "./judge-contents.ts";
import { storeName } from "./recording.ts";

/** How many requests of each client had been acknowledged when the power failed. */
export type Acknowledged = ReadonlyMap<ClientLog, number>;

/** Judges the images of one session, one after the other. */
export class Judge {
  readonly #folder: string;
  /** The secret of the store, once a client has a response. */
  #secret: string | undefined;
  readonly #texts = new Map<string, Record<string, unknown>>();

  /** Images are written to `folder`, one in the place of the other. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The faults of an image. Empty if it is right. */
  async faultsOf(image: ReadonlyMap<string, Buffer>, acknowledged: Acknowledged): Promise<string[]> {
    rmSync(this.#folder, { recursive: true, force: true });
    mkdirSync(this.#folder, { recursive: true });
    for (const [name, bytes] of image) writeFileSync(join(this.#folder, name), bytes);
    const isUnused = [...acknowledged.values()].every((count) => count === 0);
    if (!image.has(storeName) && isUnused) return [];
    const path = join(this.#folder, storeName);
    try {
      return [...(await this.#faultsOfStore(path, acknowledged)), ...damageOf(path)];
    } catch (error) {
      return [`it cannot be opened: ${error}`.replaceAll(`${this.#folder}/`, "")];
    }
  }

  /** Opens and closes the store as the service does. */
  async #faultsOfStore(path: string, acknowledged: Acknowledged): Promise<string[]> {
    prepareFile(path);
    const writer = openWriter({ path, synchronous: "FULL", groupCommit: true, history: defaultHistory });
    const database = openForReading(path);
    try {
      const contents = { ...(await readContents(path, database, writer)), parse: this.#parse };
      return [
        ...this.#faultsOfSecret(readSecret(database).join(), acknowledged),
        ...faultsOfContents(contents),
        ...[...acknowledged].flatMap(([client, count]) => faultsOfClient(client, count, contents)),
      ];
    } finally {
      database.close();
      writer.perform({ kind: "close" });
    }
  }

  readonly #parse = (text: string) => {
    const parsed = this.#texts.get(text) ?? (JSON.parse(text) as Record<string, unknown>);
    this.#texts.set(text, parsed);
    return parsed;
  };

  #faultsOfSecret(secret: string, acknowledged: Acknowledged): string[] {
    if ([...acknowledged.values()].some((count) => count > 0)) this.#secret ??= secret;
    return this.#secret === undefined || this.#secret === secret ? [] : ["the store has another secret"];
  }
}

async function readContents(
  path: string,
  database: DatabaseSync,
  writer: Writer,
): Promise<Omit<Contents, "parse">> {
  const reader = new Reader(database);
  const history = new HistoryReader(database, reader);
  const scans = new Scans(path);
  const collections: Collection[] = [];
  for (const collection of readCatalogue(database).values()) {
    const { number, idKind } = collection;
    const head = reader.head(collection);
    const reserved =
      idKind === "integer" ? writer.perform({ kind: "reserve", collection: number, n: 1 }) : undefined;
    collections.push({
      ...collection,
      ...head,
      resources: await toArray(scans.scan(collection)),
      changes: allChanges(history, collection),
      nextId: reserved?.kind === "reserved" ? reserved.first : undefined,
      textOf: (id, version) => history.version(collection, id, version)?.text,
      find: (word, limit) => reader.page(collection, { words: [word], limit, count: true }),
    });
  }
  const all = (sql: string) => database.prepare(sql).all();
  return {
    collections,
    // The store's own interface does not list its receipts.
    receipts: all("select key, answer from receipts").map(({ key, answer }) => [String(key), String(answer)]),
    totals: Object.fromEntries(
      all("select name, value from meta").map((row) => [row.name, Number(row.value)]),
    ),
  };
}

async function toArray<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

function damageOf(path: string): string[] {
  const database = new DatabaseSync(path);
  try {
    const rows = database.prepare("pragma integrity_check").all();
    return rows.map(({ integrity_check: text }) => String(text)).filter((text) => text !== "ok");
  } finally {
    database.close();
  }
}

function allChanges(
  history: HistoryReader,
  collection: Parameters<HistoryReader["changesAfter"]>[0],
): LoggedChange[] {
  const all: LoggedChange[] = [];
  for (;;) {
    const after = all.at(-1)?.sequence ?? 0;
    const { changes } = history.changesAfter(collection, after, Number.MAX_SAFE_INTEGER);
    if (changes.length === 0) return all;
    all.push(...changes);
  }
}
