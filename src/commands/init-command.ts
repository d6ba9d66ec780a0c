/** `holdfast init`: writes a configuration that declares what files or a store contain. */
import { existsSync } from "node:fs";
import { open, rm, stat, writeFile } from "node:fs/promises";
import { basename, extname, relative, resolve } from "node:path";
import { collectionName, openCollection } from "../collection/collection.ts";
import type { IdKind } from "../collection/ids.ts";
import { possibleFiles } from "../config/file.ts";
import { options } from "../config/options.ts";
import { StartError } from "../errors.ts";
import { defaultLimits } from "../http/settings.ts";
import { type InputFormat, readInput } from "../import/input.ts";
import { configurationText, notesOnIds, type Surveyed } from "../init/configuration.ts";
import { type FoundReferences, findReferences } from "../init/find-references.ts";
import { IdTable } from "../init/id-table.ts";
import { orderUnits, type Unit } from "../init/import-order.ts";
import { Survey } from "../init/survey.ts";
import { isObject, tryParse } from "../json/values.ts";
import { isPostgresUrl, readAddress, type StoreAddress, shownAddress } from "../store/address.ts";
import { mayExist, openReader } from "../store/open.ts";
import type { CollectionRecord } from "../store/port/record.ts";
import { withoutInternal } from "../store/port/record.ts";
import { withOpen } from "./command-store.ts";
import type { Environment, Flags } from "./flags.ts";
import { optionAdvice, optionsOf, splitFlags } from "./import/import-flags.ts";
import { itemsOf, type Member, readDatabase } from "./import/json-server.ts";
import { formatOf, importFrom, isCsvFile } from "./import-command.ts";
import { startProgress } from "./progress-display.ts";
import { cannotWrite, isSystemError, print, say, shell } from "./shell.ts";
import { counted, shellWord, withCommand } from "./wording.ts";

/** Writes a configuration. Throws StartError if one exists, if a source cannot be read, or if it contains no collection. */
export async function runInit(
  sources: readonly string[],
  { output, config, ...flags }: Flags,
  env: Environment,
): Promise<void> {
  if (config !== undefined)
    throw new StartError("init writes a configuration: name the file with --output instead of --config.");
  const target = targetOf(output);
  const table = new IdTable();
  try {
    const found = await surveyAll(sources, table, flags);
    const written = describe(found, table);
    await write(target.path, target.shown, configurationText({ ...written, from: fromOf(sources) }));
    print(reportOf(written, target.shown, { found, flags }).map(withCommand));
    await noteOtherData(written, { flags, env });
  } finally {
    table.close();
  }
}

/** The file to write. Throws StartError if a configuration exists. */
function targetOf(output: unknown): { path: string; shown: string } {
  const cwd = shell().cwd();
  const shown = typeof output === "string" ? output : "holdfast.config.ts";
  if (![".ts", ".js", ".mjs"].includes(extname(shown)))
    throw new StartError(`--output must end with .ts, .js or .mjs, not ${JSON.stringify(shown)}.`);
  const known = typeof output === "string" ? [resolve(cwd, output)] : possibleFiles(cwd, undefined);
  const existing = known.find((file) => existsSync(file));
  if (existing !== undefined)
    throw new StartError(
      `${basename(existing)} exists, and init never overwrites a configuration. Write to another file with --output, and take over what you need.`,
    );
  return { path: resolve(cwd, shown), shown };
}

async function write(path: string, shown: string, text: string): Promise<void> {
  await writeFile(path, text, { flag: "wx" }).catch(async (error: unknown) => {
    if (!isSystemError(error)) throw error;
    if (error.syscall === "write") await rm(path, { force: true }); // it is incomplete
    throw cannotWrite(shown, error);
  });
}

/** The sources for a comment: a store without its password. */
function fromOf(sources: readonly string[]): string {
  return sources
    .map((source) => (isAddress(source) ? shownSource(addressOf(source)) : basename(source)))
    .join(", ");
}

function shownSource(address: StoreAddress): string {
  return address.kind === "sqlite" ? basename(address.path) : shownAddress(address);
}

/** The store of the next commands, unless it is the usual one. */
function storeOf({ store }: Found): string | undefined {
  if (store === undefined) return undefined;
  const usual = addressOf(options.store.fallback);
  const isUsual = store.kind === "sqlite" && usual.kind === "sqlite" && store.path === usual.path;
  if (isUsual) return undefined;
  return store.kind === "sqlite" ? relative(shell().cwd(), store.path) : shownAddress(store);
}

/** What the sources contain. */
interface Found {
  store?: StoreAddress;
  surveys: Survey[];
  /** The commands that import files. Empty for a store. */
  units: ImportUnit[];
  /** The kinds of ids and comments of the collections in a store, by name. */
  records: ReadonlyMap<string, CollectionRecord>;
  /** The collections that were single objects. */
  single: Set<string>;
  /** Members of files that cannot be collections. */
  notes: string[];
}

interface ImportUnit extends Unit {
  file: string;
  /** What a single collection is imported with. @default all collections of a json-server database */
  single?: { place?: string; delimiter?: unknown };
  skipInvalid?: boolean;
}

async function surveyAll(sources: readonly string[], table: IdTable, flags: Flags): Promise<Found> {
  const found: Found = { surveys: [], units: [], records: new Map(), single: new Set(), notes: [] };
  for (const source of sources) {
    const form = await formOfSource(source, flags);
    if (form !== "store") await surveyFile(source, form, { found, table, flags });
    else if (sources.length > 1)
      throw new StartError(`${source} is a store: give it alone, without other sources.`);
    else await surveyStore(addressOf(source), found, table);
  }
  if (found.surveys.length === 0)
    throw new StartError(
      `${sources.join(", ")} contains no collection: a list of objects, or an object with a name.`,
    );
  return found;
}

function isAddress(source: string): boolean {
  return isPostgresUrl(source) || source.startsWith("sqlite:");
}

function addressOf(source: string): StoreAddress {
  return readAddress(source, { cwd: shell().cwd(), as: "The store" });
}

/** How a source is read: an input of `readInput`, the members of a database, or a store. */
type SourceForm = InputFormat | "database" | "store";

/** The most bytes of a first line that decides. */
const startBytes = 1_048_576;

const storeStart = "SQLite format 3\0";

async function formOfSource(source: string, { at, delimiter }: Flags): Promise<SourceForm> {
  if (isAddress(source)) return "store";
  const isCsv = isCsvFile(source);
  const { given } = splitFlags(isCsv ? { at, delimiter } : { at });
  const format = formatOf(source, { ...optionsOf(given, { isCsv }), isCsv });
  if (isCsv) return format;
  const start = await startOf(source);
  if (start.startsWith(storeStart)) return "store";
  if (delimiter !== undefined)
    throw new StartError("--delimiter is for CSV files, whose names end with .csv or .tsv.");
  if (format.at !== undefined) return format;
  if (/\.(?:ndjson|jsonl)$/i.test(source)) return { form: "lines" };
  const [line = "", ...rest] = start
    .replace(/^\ufeff/, "")
    .trimStart()
    .split("\n");
  if (!line.startsWith("{")) return {};
  const isLine = isObject(tryParse(line)) && rest.some((each) => each.trim() !== "");
  return isLine ? { form: "lines" } : "database";
}

/** The first characters of a file. Throws StartError if it is not a file: a source is read twice. */
async function startOf(source: string): Promise<string> {
  const path = resolve(shell().cwd(), source);
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return ""; // the reader of the file says why
  if (!found.isFile() && !found.isDirectory())
    throw new StartError(`${source} is not a regular file. Write its content to a file first.`);
  if (found.isDirectory()) return "";
  const handle = await open(path).catch(() => undefined);
  if (handle === undefined) return "";
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(Math.min(startBytes, found.size)));
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await handle.close();
  }
}

const interrupted = "interrupted; nothing was written";

interface Reading {
  found: Found;
  table: IdTable;
  flags: Flags;
}

async function surveyFile(
  file: string,
  form: Exclude<SourceForm, "store">,
  { found, table, flags: { delimiter } }: Reading,
): Promise<void> {
  const maxBytes = defaultLimits.bodyBytes;
  await importFrom(
    file,
    async ({ stream, size }, signal) => {
      if (form === "database") {
        const bytes = Buffer.concat(await stream.toArray());
        await surveyDatabase(file, readDatabase(bytes, file, "let its name end with .ndjson"), {
          found,
          table,
        });
        return;
      }
      const name = nameOfFile(file);
      requireNew(name, file, found);
      const isText = form.form === "csv";
      const survey = new Survey(name, table, { isText });
      const rules = { collection: openCollection(name), maxBytes, advice: optionAdvice };
      const progress = await startProgress({ what: `reading ${file}`, total: size });
      try {
        for await (const { items, bytesRead } of readInput(stream, form, rules)) {
          for (const item of items) survey.take(item);
          progress.update(bytesRead, survey.count);
          signal.throwIfAborted();
        }
      } finally {
        progress.stop();
      }
      found.surveys.push(survey);
      const place = form.at === undefined ? {} : { place: form.at };
      found.units.push({ file, names: [name], single: { ...place, ...(isText && { delimiter }) } });
    },
    interrupted,
  );
}

/** The collection that a file is named after. Throws StartError if it cannot have the name. */
function nameOfFile(file: string): string {
  const name = basename(file).replace(/\..*$/, "");
  if (collectionName.test(name)) return name;
  throw new StartError(
    `${file} cannot name a collection: a name is a letter followed by up to 62 letters, digits, "_" or "-". Rename the file, for example to topics${extname(file)}.`,
  );
}

function requireNew(name: string, file: string, { surveys }: Found): void {
  if (surveys.some((survey) => survey.name === name))
    throw new StartError(`${file}: an earlier file already has the collection "${name}".`);
}

async function surveyDatabase(
  file: string,
  members: readonly Member[],
  { found, table }: Pick<Reading, "found" | "table">,
): Promise<void> {
  const names: string[] = [];
  let skipInvalid = false;
  for (const member of members) {
    const { name, kind } = member;
    requireNew(name, file, found);
    const survey = new Survey(name, table);
    if (kind !== "other")
      for await (const { items } of itemsOf(member, defaultLimits.bodyBytes))
        for (const item of items) survey.take(item);
    const fault = faultOfMember(member, survey);
    if (fault === undefined) {
      found.surveys.push(survey);
      names.push(name);
      if (kind === "object") found.single.add(name);
    } else {
      skipInvalid = true;
      found.notes.push(`${JSON.stringify(name)} in ${basename(file)} ${fault}, so it is left out.`);
    }
  }
  if (names.length > 0) found.units.push({ file, names, skipInvalid });
}

function faultOfMember({ name, kind }: Member, { count, invalid }: Survey): string | undefined {
  if (!collectionName.test(name)) return "cannot be the name of a collection";
  if (kind === "other" || (count === 0 && invalid.count > 0)) return "is not a list of objects";
  return undefined;
}

async function surveyStore(address: StoreAddress, found: Found, table: IdTable): Promise<void> {
  await withOpen(openReader(address), async (reader) => {
    const names = withoutInternal(reader.collections().keys()).toSorted();
    const total = names.reduce((sum, name) => sum + reader.count(name), 0);
    const surveys = names.map(
      (name) =>
        new Survey(name, table, { idKind: (reader.collections().get(name) as CollectionRecord).idKind }),
    );
    const progress = await startProgress({ what: `reading ${shownSource(address)}`, total });
    let survey = surveys[0];
    let done = 0;
    try {
      const begin = (place: number) => {
        survey = surveys[place];
      };
      for await (const { text } of reader.scanEach(names, begin)) {
        survey?.add(JSON.parse(text) as Record<string, unknown>, "the store");
        done++;
        progress.update(done, done);
      }
    } finally {
      progress.stop();
    }
    found.surveys.push(...surveys);
    found.records = new Map(reader.collections());
    found.store = address;
  });
}

/** What the configuration declares, and the imports in their order. */
interface Described {
  collections: readonly Surveyed[];
  units: readonly ImportUnit[];
  notes: readonly string[];
}

function describe({ surveys, units, records, single, notes }: Found, table: IdTable): Described {
  const usual: IdKind = surveys.some(({ idKind }) => idKind === "uuid") ? "uuid" : "integer";
  const references = findReferences(surveys, table);
  const ofSurvey = ({ name }: Survey) => references.get(name) as FoundReferences;
  const separate = units.flatMap((unit) => separated(unit, surveys));
  const order = orderUnits(separate, (name) =>
    (references.get(name)?.references ?? []).map(({ collection }) => collection),
  );
  const collections = surveys.map((survey) => ({
    survey,
    idKind: survey.idKind ?? (single.has(survey.name) ? "integer" : usual),
    found: units.length === 0 ? ofSurvey(survey) : withoutLate(survey.name, ofSurvey(survey), order.late),
    notes: [
      ...(single.has(survey.name) ? [notesOnObject(survey)] : []),
      ...notesOnIds(survey),
      ...notesOnItems(survey),
      ...notesOnRecord(records.get(survey.name)),
    ],
  }));
  return { collections, units: order.units, notes };
}

/** A database is imported as a whole, unless an option is needed that only single collections can have. */
function separated(unit: ImportUnit, surveys: readonly Survey[]): ImportUnit[] {
  const needsOption = surveys.some(
    ({ name, idMember }) => idMember !== undefined && unit.names.includes(name),
  );
  if (unit.single !== undefined || !needsOption) return [unit];
  return unit.names.map((name) => ({ file: unit.file, names: [name], single: { place: name } }));
}

function withoutLate(
  name: string,
  { references, notes }: FoundReferences,
  late: readonly { from: string; to: string }[],
): FoundReferences {
  const isLate = (to: string) => late.some((each) => each.from === name && each.to === to);
  const added = references
    .filter(({ collection }) => isLate(collection))
    .map(
      ({ attribute, collection }) =>
        `"${attribute}" refers to "${collection}", which is imported later because it refers to "${name}" itself. Declare the reference after both imports.`,
    );
  return {
    references: references.filter(({ collection }) => !isLate(collection)),
    notes: [...notes, ...added],
  };
}

/** The import gives a single object the first id, if it has none. */
function notesOnObject({ name, idKind }: Survey): string {
  const path = idKind === undefined ? `, with the path ${name}/1` : "";
  return `"${name}" is a single object in the data, and the only resource of its collection here${path}.`;
}

function notesOnItems({ invalid }: Survey): string[] {
  if (invalid.count === 0) return [];
  return [`${counted(invalid.count, "item")} cannot be imported. The first is in ${invalid.example}`];
}

/** What an earlier configuration declared. It is not in the data. */
function notesOnRecord(record: CollectionRecord | undefined): string[] {
  if (record === undefined) return [];
  const { schema, unique = [], indexes, timestamps } = record;
  const lost = Object.entries({
    "a schema": schema !== undefined,
    "unique attributes": unique.length > 0,
    indexes: indexes.length > 0,
    timestamps: timestamps === true,
  }).flatMap(([name, isDeclared]) => (isDeclared ? [name] : []));
  if (lost.length === 0) return [];
  return [`An earlier configuration declared ${lost.join(", ")} here, which the data does not show.`];
}

function reportOf(
  { collections, units, notes }: Described,
  shown: string,
  { found, flags }: { found: Found; flags: Flags },
): string[] {
  const lines = [`${shown} declares ${counted(collections.length, "collection")}:`];
  for (const { survey, idKind, found: references, notes: own } of collections) {
    const ids = idKind === "integer" ? "integers" : "texts";
    lines.push(`  ${survey.name}: ${counted(survey.count, "resource")}, ids are ${ids}`);
    for (const { attribute, collection } of references.references)
      lines.push(`    "${attribute}" refers to "${collection}"`);
    for (const note of [...own, ...references.notes]) lines.push(`    ${note}`);
  }
  lines.push(...notes.map((note) => `  ${note}`), "Next:");
  const { store: named = units.length === 0 ? storeOf(found) : undefined } = flags;
  const store = named === undefined ? "" : ` --store ${shellWord(String(named))}`;
  const config = shown === "holdfast.config.ts" ? "" : ` --config ${shellWord(shown)}`;
  for (const unit of units) lines.push(`  ${importCommand(unit, found.surveys)}${store}${config}`);
  lines.push(`  npx holdfast serve${store}${config}`);
  return lines;
}

function importCommand({ file, names, single, skipInvalid }: ImportUnit, surveys: readonly Survey[]): string {
  const own = surveys.filter(({ name }) => names.includes(name));
  const words = ["npx holdfast import", ...(single === undefined ? [] : names), shellWord(file)];
  if (single?.place !== undefined) words.push(`--at ${shellWord(single.place)}`);
  if (single?.delimiter !== undefined) words.push(`--delimiter ${shellWord(String(single.delimiter))}`);
  if (own.some(({ idMember }) => idMember !== undefined)) words.push(`--id ${own[0]?.idMember}`);
  if (own.some(({ unfit }) => unfit.count > 0)) words.push("--ids keep-in:oldId");
  if (skipInvalid === true) words.push("--skip-invalid");
  return words.join(" ");
}

/** Says that the store of the next commands has resources already: an import beside them repeats ids, or the kind of ids differs. */
async function noteOtherData(
  { collections, units }: Described,
  { flags, env }: { flags: Flags; env: Environment },
): Promise<void> {
  const address = addressOf(String(flags.store ?? env.HOLDFAST_STORE ?? options.store.fallback));
  if (units.length === 0 || address.kind !== "sqlite" || !mayExist(address)) return;
  const shown = basename(address.path);
  await withOpen(openReader(address), async (reader) => {
    const filled = collections.map(({ survey }) => survey.name).filter((name) => reader.count(name) > 0);
    if (filled.length === 0) return;
    say(
      withCommand(
        `holdfast: ${shown} already has resources in ${filled.join(", ")}. To start again, stop the service, and move ${shown} and ${shown}.lock away. To declare what ${shown} has, run npx holdfast init ${shown} instead.`,
      ),
    );
  });
}
