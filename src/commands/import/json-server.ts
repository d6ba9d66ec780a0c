/**
 * `holdfast import` of a json-server database, and `holdfast seed`. The database is one JSON object, whose members are lists of
 * resources. Each list goes into the collection with its name.
 */
import { Tokenizer, TokenType } from "@streamparser/json";
import type { Collection } from "../../collection/collection.ts";
import type { Config } from "../../config.ts";
import { StartError } from "../../errors.ts";
import { withoutMark } from "../../import/encoding.ts";
import type { Items } from "../../import/items.ts";
import type { ImportOptionName, ImportTexts } from "../../import/options.ts";
import { readJson } from "../../import/read-json.ts";
import { shownAddress } from "../../store/address.ts";
import { mayExist, openReader } from "../../store/open.ts";
import { withoutInternal } from "../../store/port/record.ts";
import { requireNoStoreFile, withOpen } from "../command-store.ts";
import { configOf, type Environment, type Flags } from "../flags.ts";
import {
  collectionOf,
  effortSince,
  type ImportOptions,
  importFrom,
  importInto,
  localFlags,
  NotEmpty,
  UnreadableSource,
} from "../import-command.ts";
import { print } from "../shell.ts";
import { flagOf, optionsOf, splitFlags } from "./import-flags.ts";
import { refuseObjects, reportDatabase } from "./import-report.ts";

/** Imports every list of a json-server database into the collection with its name. Throws StartError if nothing was imported. */
export async function runDatabaseImport(
  file: string,
  { to, ...given }: Flags,
  env: Environment,
): Promise<void> {
  if (to !== undefined)
    throw new StartError(`With --to, name a collection: npx holdfast import <collection> ${file} --to <url>`);
  const {
    given: texts,
    flags: { format, ...flags },
  } = localFlags(given);
  const { skipInvalid: _, ids: __, delimiter, types, convert, timezone, ...rest } = texts;
  const { dryRun, skipHooks, ...others } = rest;
  const [other] = Object.entries(others) as [ImportOptionName, string][];
  if (other !== undefined)
    throw new StartError(
      `${flagOf(other[0])} is for one collection: npx holdfast import <collection> ${file} ${flagOf(other[0])} ${other[1]}`,
    );
  for (const [name, value] of Object.entries({ dryRun, skipHooks }))
    if (value !== undefined) {
      const flag = flagOf(name as ImportOptionName);
      throw new StartError(`${flag} is for one collection: npx holdfast import <collection> <file> ${flag}`);
    }
  const config = await configOf(flags, env);
  const isForCsv = [delimiter, types, convert, timezone].some((each) => each !== undefined);
  if (format === "csv" || isForCsv) throw new StartError(needsCollection(file));
  await importDatabase(file, config, { given: texts }).catch((error: unknown) => {
    throw error instanceof UnreadableSource
      ? new StartError(`${error.message} ${needsCollection(file)}`)
      : error;
  });
}

/** Imports a json-server database into an empty store. Does nothing if the store is not empty. */
export async function runSeed(file: string, all: Flags, env: Environment): Promise<void> {
  const { given, flags } = splitFlags(all);
  const config = await configOf(flags, env);
  try {
    await requireNoResources(config);
    await importDatabase(file, config, { given, onlyIfEmpty: true });
  } catch (error) {
    if (!(error instanceof NotEmpty)) throw error;
    const names = error.collections.join(", ");
    print(`Nothing was imported: ${shownAddress(config.store)} is not empty (${names}).`);
  }
}

/** Throws NotEmpty if the store has resources. This also works while a service runs, so a script can seed on every start. */
async function requireNoResources({ store }: Config): Promise<void> {
  if (!mayExist(store)) return;
  await withOpen(openReader(store), async (reader) => {
    const filled = withoutInternal(reader.collections().keys()).filter((name) => reader.count(name) > 0);
    if (filled.length > 0) throw new NotEmpty(filled);
  });
}

interface DatabaseOptions extends Pick<ImportOptions, "onlyIfEmpty"> {
  /** The options `skipInvalid` and `ids`. */
  given: ImportTexts;
}

async function importDatabase(
  file: string,
  config: Config,
  { given, onlyIfEmpty = false }: DatabaseOptions,
): Promise<void> {
  const { skipInvalid = false, ids } = optionsOf(given);
  requireNoStoreFile(file, config.store);
  await importFrom(file, async ({ stream }, signal) => {
    const start = performance.now();
    const { lists, ...skipped } = sortMembers(
      readDatabase(Buffer.concat(await stream.toArray()), file),
      config,
    );
    const { invalid, objects } = skipped;
    if (objects.length > 0 && invalid.length === 0 && lists.length === 0) refuseObjects(objects, file);
    const isDryRun = invalid.length > 0 && !skipInvalid;
    for (const { collection } of lists) optionsOf(given, { collection });
    const total = lists.reduce((sum, { text }) => sum + text.length, 0);
    const inputs = lists.map(({ collection, ...list }) => ({
      collection,
      items: () => itemsOf(list, config.http.limits.bodyBytes),
    }));
    const options = { skipInvalid, ids, onlyIfEmpty, isDryRun, signal };
    const results = await importInto(config, inputs, { work: { what: "importing", total }, options });
    reportDatabase(results, skipped, { ...(await effortSince(start, config)), isDryRun });
  });
}

function needsCollection(file: string): string {
  return (
    `With a single argument, import reads a json-server database: npx holdfast import <db.json>. ` +
    `For any other file, name a collection: npx holdfast import <collection> ${file}`
  );
}

/** The lists with their collections, and the members that are not imported. */
function sortMembers(members: readonly Member[], config: Config) {
  const lists: { collection: Collection; line: number; text: Buffer }[] = [];
  const invalid: { line: number; name: string; reason: string }[] = [];
  const objects: { line: number; name: string }[] = [];
  for (const { name, line, kind, text } of members) {
    const collection = collectionOf(config, name);
    if (kind === "object" && config.collections.has(name))
      lists.push({ collection: config.collections.get(name) as Collection, line, text });
    else if (kind === "object") objects.push({ line, name });
    else if (kind === "other")
      invalid.push({ line, name, reason: "is not a list of resources (--skip-invalid skips it)" });
    else if (typeof collection === "string") invalid.push({ line, name, reason: collection });
    else lists.push({ collection, line, text });
  }
  return { lists, invalid, objects };
}

/** The text of a list with one resource. */
function asList(text: Buffer): Buffer {
  return Buffer.concat([Buffer.from("["), text, Buffer.from("]")]);
}

const openBracket = 0x5b;
const chunkBytes = 262_144;

async function* chunks(text: Buffer): AsyncGenerator<Buffer> {
  for (let start = 0; start < text.length; start += chunkBytes)
    yield text.subarray(start, start + chunkBytes);
}

/** The items of a list that starts in a line of the input, or the item of a single object. */
export async function* itemsOf(
  { line, text }: Pick<Member, "line" | "text">,
  maxBytes: number,
): AsyncGenerator<Items> {
  const list = text[0] === openBracket ? text : asList(text);
  for await (const { items, bytesRead } of readJson(chunks(list), { maxBytes })) {
    const moved = items.map((item) => ({
      ...item,
      location: { ...item.location, line: item.location.line + line - 1 },
    }));
    yield { items: moved, bytesRead };
  }
}

/** A member of a database. */
export interface Member {
  name: string;
  /** The line in which the value starts. */
  line: number;
  /** In json-server, an `object` is a single resource. The text of a `list` is not checked. */
  kind: "list" | "object" | "other";
  text: Buffer;
}

/**
 * The members of a database, without `$schema`, which is for editors. Throws StartError if the bytes are not one JSON object
 * or if a name occurs twice. `file` names the database in messages, and `ndjson` says what to do if it is NDJSON.
 */
export function readDatabase(bytes: Buffer, file: string, ndjson = nameCollection(file)): readonly Member[] {
  const members = new MemberReader(withoutMark(bytes), file, ndjson).read();
  const names = members.map(({ name }) => name);
  const seen = new Set<string>();
  const repeated = names.find((name) => {
    if (seen.has(name)) return true;
    seen.add(name);
    return false;
  });
  if (repeated !== undefined)
    throw new StartError(`${file} has the member ${JSON.stringify(repeated)} twice.`);
  return members.filter(({ name, kind }) => name !== "$schema" || kind === "list");
}

function nameCollection(file: string): string {
  return `name its collection: npx holdfast import <collection> ${file}`;
}

/** What must come next between members. */
type Expected = "object" | "name or end" | "name" | "colon" | "value" | "comma or end" | "nothing";

const { LEFT_BRACE, RIGHT_BRACE, LEFT_BRACKET, RIGHT_BRACKET, COLON, COMMA, STRING } = TokenType;
const punctuation: readonly TokenType[] = [RIGHT_BRACE, RIGHT_BRACKET, COLON, COMMA, TokenType.SEPARATOR];

/** What must come after a token; `undefined` if the token is not the expected one. */
const following: Readonly<Record<Expected, (token: TokenType) => Expected | undefined>> = {
  object: (token) => (token === LEFT_BRACE ? "name or end" : undefined),
  "name or end": (token) => (token === RIGHT_BRACE ? "nothing" : following.name(token)),
  name: (token) => (token === STRING ? "colon" : undefined),
  colon: (token) => (token === COLON ? "value" : undefined),
  value: (token) => (punctuation.includes(token) ? undefined : "comma or end"),
  "comma or end": (token) => (token === RIGHT_BRACE ? "nothing" : token === COMMA ? "name" : undefined),
  nothing: () => undefined,
};

class MemberReader {
  readonly #bytes: Buffer;
  readonly #file: string;
  readonly #ndjson: string;
  readonly #members: Member[] = [];
  #expected: Expected = "object";
  /** The nesting depth inside a list or object; 0 between members. */
  #depth = 0;
  #name = "";
  #kind: Member["kind"] = "other";
  #start = 0;
  #lastOffset = 0;
  /** Where the first error is. */
  #fault: string | undefined;
  #line = 1;
  #countedTo = 0;

  constructor(bytes: Buffer, file: string, ndjson: string) {
    this.#bytes = bytes;
    this.#file = file;
    this.#ndjson = ndjson;
  }

  read(): Member[] {
    const tokenizer = new Tokenizer();
    tokenizer.onToken = ({ token, value, offset }) => {
      if (this.#fault === undefined) this.#take(token, String(value), offset);
    };
    tokenizer.onError = () => {
      this.#fault ??= `after line ${this.#lineOf(this.#lastOffset)}`;
    };
    tokenizer.write(this.#bytes);
    if (this.#expected !== "nothing") this.#fault ??= `on line ${this.#lineOf(this.#bytes.length)}`;
    if (this.#fault !== undefined) throw this.#refusal(this.#fault);
    return this.#members;
  }

  #take(token: TokenType, value: string, offset: number): void {
    this.#lastOffset = offset;
    if (this.#depth === 0) {
      const next = following[this.#expected](token);
      if (next === undefined) this.#fault = `on line ${this.#lineOf(offset)}`;
      if (next === "colon") this.#name = value;
      if (next !== "comma or end") {
        this.#expected = next ?? this.#expected;
        return;
      }
      this.#expected = next;
      this.#kind = token === LEFT_BRACKET ? "list" : token === LEFT_BRACE ? "object" : "other";
      this.#start = offset;
    }
    if (token === LEFT_BRACE || token === LEFT_BRACKET) this.#depth++;
    if (token === RIGHT_BRACE || token === RIGHT_BRACKET) this.#depth--;
    if (this.#depth > 0) return;
    const text = this.#bytes.subarray(this.#start, offset + 1);
    this.#members.push({ name: this.#name, line: this.#lineOf(this.#start), kind: this.#kind, text });
  }

  /** The line at an offset. The offsets of the calls must increase. */
  #lineOf(offset: number): number {
    for (
      let at = this.#bytes.indexOf(10, this.#countedTo);
      at !== -1 && at < offset;
      at = this.#bytes.indexOf(10, at + 1)
    ) {
      this.#line++;
      this.#countedTo = at + 1;
    }
    return this.#line;
  }

  #refusal(place: string): StartError {
    if (this.#expected !== "object")
      return new StartError(
        `${this.#file} is not valid JSON: there is an error ${place}. If it is NDJSON, ${this.#ndjson}`,
      );
    return new StartError(
      `${this.#file} is not a json-server database (a JSON object of lists). To import a list of resources, ${nameCollection(this.#file)}`,
    );
  }
}
