/** Resources of an import that wait to be added. A temporary file contains them, so an input of any size needs little memory. */
import { openTemporaryDatabase, writeTemporarily } from "../store/core/temporary-database.ts";
import type { Row } from "./item-reader.ts";

/** The most characters of one batch. The resource that exceeds this is the last one of the batch. */
export const batchLength = 1_048_576;

/** The most resources in one batch. */
export const batchSize = 1_000;

/** The waiting resources of one import. `close` removes the file. */
export class Spool {
  readonly #database = openTemporaryDatabase(
    `create table waiting (id text, text text not null, line integer not null, element integer) strict;
    create table keys (key text primary key) strict, without rowid`,
  );
  readonly #insert = this.#database.prepare("insert into waiting values (?, ?, ?, ?)");
  readonly #insertKey = this.#database.prepare("insert or ignore into keys values (?)");
  #length = 0;
  #count = 0;

  /** The texts and ids of all resources together, in characters. */
  get length(): number {
    return this.#length;
  }

  /** The number of resources. */
  get count(): number {
    return this.#count;
  }

  /** Throws STORAGE_FULL. */
  add({ id, text, location: { line, element } }: Row): void {
    this.#count++;
    this.#length += text.length + (id?.length ?? 0);
    writeTemporarily(() => this.#insert.run(id ?? null, text, line, element ?? null));
  }

  /** Whether no earlier resource of the input has the unique key. Throws STORAGE_FULL. */
  isNewKey(key: string): boolean {
    return writeTemporarily(() => this.#insertKey.run(key).changes === 1);
  }

  /** The resources with an id, or those without, in the order of the input, in batches. */
  *batches({ haveId }: { haveId: boolean }): Generator<readonly Row[]> {
    const select = this.#database.prepare(
      `select id, text, line, element from waiting where id is ${haveId ? "not null" : "null"} order by rowid`,
    );
    let batch: Row[] = [];
    let length = 0;
    for (const { id, text, line, element } of select.iterate()) {
      const location = { line: Number(line), ...(element === null ? {} : { element: Number(element) }) };
      batch.push({ location, id: id === null ? undefined : String(id), text: String(text) });
      length += String(text).length;
      if (batch.length < batchSize && length < batchLength) continue;
      yield batch;
      batch = [];
      length = 0;
    }
    if (batch.length > 0) yield batch;
  }

  close(): void {
    this.#database.close();
  }
}
