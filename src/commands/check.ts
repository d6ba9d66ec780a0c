/** `holdfast check`: reports faults of the configuration, warnings about it, damage in the store, and resources that do not fit. */
import { type Collection, openCollection } from "../collection/collection.ts";
import { describeViolations } from "../collection/messages.ts";
import { readFilesOf } from "../config/files.ts";
import type { Config } from "../config.ts";
import { StartError } from "../errors.ts";
import { type AnyCheckName, checkNames, findMisfits, type Misfits } from "../fit/misfits.ts";
import { shownAddress } from "../store/address.ts";
import { mayExist, openReader, type StoreReader } from "../store/open.ts";
import { withoutInternal } from "../store/port/record.ts";
import { keyWarningsOf, warningsOf } from "./check/warnings.ts";
import { configOf, type Environment, type Flags } from "./options.ts";
import { shell } from "./shell.ts";
import { withOpen } from "./store.ts";
import { counted, excerpt } from "./words.ts";

const maxPrinted = 50;

/** Checks configuration and store. Throws StartError if the configuration has faults or the store does not fit it. */
export async function runCheck(flags: Flags, env: Environment): Promise<void> {
  const config = await configOf(flags, env, { reportsFiles: true });
  await readFilesOf(config, Date.now());
  print(`configuration: ${config.file ?? "none (open mode: clients create collections by using them)"}`);
  printWarnings(warningsOf(config));
  if (!mayExist(config.store)) {
    print(`store: ${shownAddress(config.store)} does not exist yet`);
    return;
  }
  print(`store: ${shownAddress(config.store)}`);
  await withOpen(openReader(config.store), async (reader) => {
    if (await reader.findDamage(print)) throw new StartError("the store is damaged, as listed above");
    printWarnings(await keyWarningsOf(config, Date.now())); // the reader shows that the store exists
    const problems = await checkStore(reader, config);
    if (problems > 0)
      throw new StartError(
        `the store does not fit the configuration: ${counted(problems, "problem")}, listed above`,
      );
  });
  print("everything fits");
}

/** Prints what does not fit the configuration, and returns the number of these problems. */
async function checkStore(reader: StoreReader, config: Config): Promise<number> {
  const known = reader.collections();
  let problems = 0;
  for (const collection of config.collections.values()) {
    const record = known.get(collection.name);
    if (record === undefined) {
      print(`${collection.name}: nothing stored yet`);
      continue;
    }
    if (record.idKind !== collection.idKind && reader.count(collection.name) > 0) {
      problems++;
      print(
        `${collection.name}: the configuration declares id "${collection.idKind}", but the ids in the store are "${record.idKind}"`,
      );
    }
    problems += await checkResources(reader, collection, [...checkNames, "ids"]);
  }
  const undeclared = withoutInternal(known.keys()).filter((name) => !config.collections.has(name));
  if (!config.openCollections) printUndeclared(reader, undeclared);
  else for (const name of undeclared) problems += await checkResources(reader, openCollection(name), ["ids"]);
  return problems;
}

async function checkResources(
  reader: StoreReader,
  collection: Collection,
  names: readonly AnyCheckName[],
): Promise<number> {
  const found = await findMisfits(reader, collection, { names, maxListed: maxPrinted });
  for (const [check, misfits] of found) {
    if (check === "schema" || misfits.count > 0) print(`${collection.name}: ${summaries[check](misfits)}`);
    printMisfits(misfits);
  }
  return [...found.values()].reduce((sum, { count }) => sum + count, 0);
}

const summaries: Record<AnyCheckName, (misfits: Misfits) => string> = {
  schema: ({ checked, count }) =>
    `${counted(checked, "resource")}, ${count === 0 ? "all fit" : `${count} ${count === 1 ? "does" : "do"} not fit`}`,
  unique: ({ count }) =>
    `${counted(count, "resource")} ${count === 1 ? "repeats" : "repeat"} the value of another in a unique attribute`,
  references: ({ count }) =>
    `${counted(count, "resource")} ${count === 1 ? "refers" : "refer"} to a resource that does not exist`,
  ids: ({ count }) =>
    `${counted(count, "resource")} ${count === 1 ? "has a reserved id, so clients cannot reach it" : "have a reserved id, so clients cannot reach them"}`,
};

function printMisfits({ count, first }: Misfits): void {
  for (const { id, violations } of first) print(`  ${excerpt(id)}: ${describeViolations(violations)}`);
  if (count > first.length) print(`  and ${(count - first.length).toLocaleString("en")} more`);
}

/** Undeclared collections are not a problem, because the store keeps their resources. */
function printUndeclared(reader: StoreReader, names: readonly string[]): void {
  for (const name of names) {
    print(
      `${name}: not declared; the store keeps its ${counted(reader.count(name), "resource")}, but clients cannot reach them`,
    );
  }
}

function printWarnings(warnings: readonly string[]): void {
  for (const warning of warnings) print(`warning: ${warning}`);
}

function print(text: string): void {
  shell().stdout.write(`${text}\n`);
}
