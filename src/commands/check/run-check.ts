import type { Collection } from "../../collection/collection.ts";
import { readFiles } from "../../config/files.ts";
import type { Config } from "../../config.ts";
import { StartError } from "../../errors.ts";
import {
  type CheckName,
  checkNames,
  describeViolations,
  findMisfits,
  type Misfits,
} from "../../fit/misfits.ts";
import { shownAddress } from "../../store/address.ts";
import { mayExist, openReader, type StoreReader } from "../../store/open.ts";
import { configOf, type Environment } from "../options.ts";
import { counted, excerpt } from "../words.ts";
import { keyWarningsOf, warningsOf } from "./warnings.ts";

const shownMisfits = 50;

/** Checks configuration and store. Throws StartError when either is not as it should be. */
export async function runCheck(flags: Record<string, unknown>, env: Environment): Promise<void> {
  const config = await configOf(flags, env, { reportsFiles: true });
  await readFiles({ auth: () => config.auth, tls: () => config.http.tls }, Date.now());
  print(`configuration: ${config.file ?? "none (open mode: clients create collections by using them)"}`);
  printWarnings(warningsOf(config));
  if (!mayExist(config.store)) {
    print(`store: ${shownAddress(config.store)} does not exist yet`);
    return;
  }
  print(`store: ${shownAddress(config.store)}`);
  const reader = await openReader(config.store);
  try {
    printWarnings(await keyWarningsOf(config, Date.now())); // the store is there, and need not be made for them
    const misfits = await checkStore(reader, config);
    if (misfits > 0)
      throw new StartError(
        `the store does not fit the configuration: ${counted(misfits, "problem")}, listed above`,
      );
  } finally {
    await reader.close();
  }
  print("everything fits");
}

/** How many things do not fit; each has been printed, or counted where there are many. */
async function checkStore(reader: StoreReader, config: Config): Promise<number> {
  const known = reader.collections();
  let misfits = 0;
  for (const collection of config.collections.values()) {
    const record = known.get(collection.name);
    if (record === undefined) {
      print(`${collection.name}: nothing stored yet`);
      continue;
    }
    if (record.idKind !== collection.idKind && reader.count(collection.name) > 0) {
      misfits++;
      print(
        `${collection.name}: the configuration declares id "${collection.idKind}", but the ids in the store are "${record.idKind}"`,
      );
    }
    misfits += await checkResources(reader, collection);
  }
  if (!config.openCollections) nameUndeclared(reader, config);
  return misfits;
}

/** Prints what does not fit the declaration, and gives its number. */
async function checkResources(reader: StoreReader, collection: Collection): Promise<number> {
  const found = await findMisfits(reader, collection, { names: checkNames, shown: shownMisfits });
  for (const [check, misfits] of found) {
    if (check === "schema" || misfits.count > 0) print(`${collection.name}: ${summaries[check](misfits)}`);
    printMisfits(misfits);
  }
  return [...found.values()].reduce((sum, { count }) => sum + count, 0);
}

const summaries: Record<CheckName, (misfits: Misfits) => string> = {
  schema: ({ checked, count }) =>
    `${counted(checked, "resource")}, ${count === 0 ? "all fit" : `${count} ${count === 1 ? "does" : "do"} not fit`}`,
  unique: ({ count }) =>
    `${counted(count, "resource")} ${count === 1 ? "repeats" : "repeat"} the value of another in a unique attribute`,
  references: ({ count }) =>
    `${counted(count, "resource")} ${count === 1 ? "refers" : "refer"} to a resource that does not exist`,
};

function printMisfits({ count, first }: Pick<Misfits, "count" | "first">): void {
  for (const { id, violations } of first) print(`  ${excerpt(id)}: ${describeViolations(violations)}`);
  if (count > first.length) print(`  and ${(count - first.length).toLocaleString("en")} more`);
}

/** They are kept, and that is all that is wrong with them. */
function nameUndeclared(reader: StoreReader, { collections }: Config): void {
  for (const name of reader.collections().keys()) {
    if (collections.has(name)) continue;
    print(
      `${name}: not declared; the store keeps its ${counted(reader.count(name), "resource")}, but clients cannot reach them`,
    );
  }
}

function printWarnings(warnings: readonly string[]): void {
  for (const warning of warnings) print(`warning: ${warning}`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
