/** Gives changed rows the checksums of their new contents, for tests that change a store below the service. */
import type { IdKind } from "../../src/collection/ids.ts";
import {
  checksumOfChange,
  checksumOfKept,
  checksumOfReceipt,
  checksumOfResource,
} from "../../src/store/core/checksums.ts";
import { idOf } from "../../src/store/postgres/tables/id-keys.ts";
import { type Below, openBelow } from "../http/below.ts";

/** Changes rows of the store in a file with SQL, as if the store had written them. */
export async function changeFile(path: string, sql: string): Promise<void> {
  const below = await openBelow({ kind: "sqlite", path });
  await below.run(sql);
  await mendChecksums(below);
  await below.close();
}

/** Mends all rows of resources, changes and receipts, and the sums in the heads. */
export async function mendChecksums(below: Below): Promise<void> {
  const { keyColumn, table } = below;
  for (const { number, name, id_kind } of await below.all(`select * from ${table("collections")}`)) {
    const resources = table(`resources_${number}`);
    let sums = 0;
    for (const row of await below.all(`select ${keyColumn}, version, updated_at, doc from ${resources}`)) {
      const { [keyColumn]: key, version, updated_at: updatedAt, doc } = row;
      const id = keyColumn === "id" ? String(key) : idOf(id_kind as IdKind, String(key));
      const text = String(doc);
      const sum = checksumOfResource(String(name), {
        id,
        version: Number(version),
        updatedAt: Number(updatedAt),
        text,
      });
      sums = (sums + sum) | 0;
      await below.run(`update ${resources} set checksum = ${sum} where ${keyColumn} = ${literal(key)}`);
    }
    await below.run(`update ${table("heads")} set checksums = ${sums} where number = ${number}`);
    const changes = table(`changes_${number}`);
    for (const row of await below.all(`select * from ${changes}`)) {
      const { sequence, id, version, kind, at, principal, group, superseded } = row;
      const kept = superseded === null ? null : checksumOfKept(String(superseded));
      const sum = checksumOfChange(String(name), {
        sequence: Number(sequence),
        id: String(id),
        version: Number(version),
        kind: String(kind),
        at: Number(at),
        principal: principal === null ? null : String(principal),
        group: group === null ? null : Number(group),
        kept_checksum: kept,
      });
      await below.run(
        `update ${changes} set kept_checksum = ${kept}, checksum = ${sum} where sequence = ${sequence}`,
      );
    }
  }
  for (const row of await below.all(`select * from ${table("receipts")}`)) {
    const [key, fingerprint, answer, brief] = [row.key, row.fingerprint, row.answer, row.brief].map(
      String,
    ) as [string, string, string, string];
    const sum = checksumOfReceipt({ key, fingerprint, answer, brief, expires_at: Number(row.expires_at) });
    await below.run(`update ${table("receipts")} set checksum = ${sum} where key = ${literal(key)}`);
  }
}

function literal(value: unknown): string {
  return typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : String(value);
}
