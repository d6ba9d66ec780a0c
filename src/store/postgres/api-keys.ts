/** API keys in the database. */
import type { ApiKey, KeyEnd, Keys } from "../keys.ts";
import type { Outcome, Row, Statement } from "./connection/connections.ts";
import { onceMore } from "./connection/retry.ts";
import * as statements from "./statements.ts";
import { isKeepable } from "./tables/id-keys.ts";

/** Keys by statements of their own: each change is on the disk when it is answered. */
export class PostgresKeys implements Keys {
  readonly #run: (statement: Statement) => Promise<Outcome>;

  constructor(run: (statement: Statement) => Promise<Outcome>) {
    this.#run = run;
  }

  async find(prefix: string): Promise<ApiKey | undefined> {
    if (!isKeepable(prefix)) return undefined;
    const { rows } = await onceMore(() => this.#run(statements.selectKey(prefix)));
    return rows[0] === undefined ? undefined : toKey(rows[0]);
  }

  async all(): Promise<readonly ApiKey[]> {
    const { rows } = await onceMore(() => this.#run(statements.selectAllKeys));
    return rows.map(toKey);
  }

  async add(key: ApiKey): Promise<boolean> {
    const { count } = await this.#run(statements.insertKey(key));
    return count > 0;
  }

  async end(prefix: string, end: KeyEnd): Promise<void> {
    await this.#run(statements.bringKeyForward(prefix, end));
  }

  async noteUse(prefix: string, at: number): Promise<void> {
    await this.#run(statements.noteKeyUse(prefix, at));
  }
}

function toKey(row: Row): ApiKey {
  const [prefix, hash, name, subject, roles, scopes, createdAt, expiresAt, revokedAt, lastUsedAt] = row;
  return {
    prefix: String(prefix),
    hash: String(hash),
    name: String(name),
    subject: String(subject),
    roles: JSON.parse(String(roles)),
    scopes: scopes == null ? undefined : JSON.parse(scopes),
    createdAt: Number(createdAt),
    expiresAt: timeOf(expiresAt),
    revokedAt: timeOf(revokedAt),
    lastUsedAt: timeOf(lastUsedAt),
  };
}

function timeOf(value: string | null | undefined): number | undefined {
  return value == null ? undefined : Number(value);
}
