/** API keys in a store's file: through the store that is open, or beside the service that has it open. */
import type { ApiKey, KeyEnd, Keys, OpenKeys } from "../keys.ts";
import { takeLock } from "./file/lock.ts";
import {
  isMade,
  openError,
  openForKeys,
  prepareFile,
  requireSoundSqlite,
  requireWritablePlace,
} from "./file/open-file.ts";
import { type KeyChange, KeyTable } from "./key-table.ts";

/** How keys get at their table. */
interface Access {
  read<T>(read: (table: KeyTable) => T): Promise<T>;
  /** Gives whether there was something to change. */
  write(change: KeyChange): Promise<boolean>;
}

/** Keys through a store that is open. */
export class SqliteKeys implements Keys {
  readonly #access: Access;

  constructor(access: Access) {
    this.#access = access;
  }

  find(prefix: string): Promise<ApiKey | undefined> {
    return this.#access.read((table) => table.find(prefix));
  }

  all(): Promise<readonly ApiKey[]> {
    return this.#access.read((table) => table.all());
  }

  add(key: ApiKey): Promise<boolean> {
    return this.#access.write({ kind: "add", key });
  }

  async end(prefix: string, end: KeyEnd): Promise<void> {
    await this.#access.write({ kind: "end", prefix, end });
  }

  async noteUse(prefix: string, at: number): Promise<void> {
    await this.#access.write({ kind: "use", prefix, at });
  }
}

/**
 * Opens the keys of the store at `path`, whether or not a service has it open, and creates the store if there is no file, or an empty one.
 * Each change is a short transaction of its own. Throws StartError, also from each method.
 */
export function openSqliteKeys(path: string): OpenKeys {
  requireSoundSqlite();
  requireWritablePlace(path);
  if (!isMade(path)) createFile(path);
  const database = openForKeys(path);
  const withStartErrors = async <T>(work: () => T): Promise<T> => {
    try {
      return work();
    } catch (error) {
      throw openError(path, error);
    }
  };
  const table = new KeyTable(database);
  const keys = new SqliteKeys({
    read: (read) => withStartErrors(() => read(table)),
    write: (change) => withStartErrors(() => table.change(change)),
  });
  return Object.assign(keys, { close: async () => database.close() });
}

/** Two who make it at once would be in each other's way. */
function createFile(path: string): void {
  const lock = takeLock(path);
  try {
    prepareFile(path);
  } finally {
    lock.release();
  }
}
