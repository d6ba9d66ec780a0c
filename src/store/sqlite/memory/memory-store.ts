/**
 * A store in memory, in one thread: the same tables, statements and writer as those of a file, on one connection. It is for tests of a
 * configuration. It has no thread and no file: long lists delay the thread, nothing checks for damage, and no other program can read it.
 */
import { DatabaseSync } from "node:sqlite";
import { Damage } from "../../core/checksums.ts";
import { HotPages } from "../../core/hot-pages.ts";
import { ExpectedEnd } from "../../core/loads.ts";
import type { ResolvedStoreOptions } from "../../port/options.ts";
import { createTables, requireSafeSqlite } from "../file/open-file.ts";
import { createMarksMemory, damageIn, expectedEndIn, Marks } from "../marks.ts";
import { SqliteDriver } from "../sqlite-driver.ts";
import { Health } from "../upkeep/health.ts";
import { createWriter } from "../writer/writer.ts";
import { MemoryReaders } from "./memory-readers.ts";
import { QueriesHere } from "./queries-here.ts";
import { WriterHere } from "./writer-here.ts";

/** Opens an empty store in memory. Closing it removes its content. Throws StartError. */
export function openInMemory(options: ResolvedStoreOptions): SqliteDriver {
  requireSafeSqlite();
  if (options.readOnly) throw new Error("A store in memory is empty at first, so it cannot be read-only.");
  const memory = createMarksMemory();
  const database = new DatabaseSync(":memory:", { limits: { attach: 0 } });
  createTables(database);
  const readers = new MemoryReaders(database, new HotPages({ keepsFirst: true }));
  const health = new Health(options.onFailure, new Damage(damageIn(memory)));
  let store: SqliteDriver | undefined;
  const writer = new WriterHere(createWriter(database, { ...options, marks: memory }, options.meter), {
    onFailure: (reason) => health.fail(reason),
    onChanged: (collections) => store?.noteChanged(collections),
    beforeLoad: () => readers.copy(),
    afterLoad: () => readers.dropCopy(),
  });
  store = new SqliteDriver(
    {
      ...options,
      path: undefined,
      memory,
      database,
      readers,
      connect: () => readers.openCopy(),
      createQueries: (parts) => new QueriesHere(readers, parts),
      lock: undefined,
      hasUpkeep: true,
      health,
      expectedEnd: new ExpectedEnd(expectedEndIn(memory)),
      marks: new Marks(memory),
    },
    writer,
  );
  return store;
}
