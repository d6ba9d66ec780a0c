/** Reads `after` of the collections, and checks that it fits the rest of the configuration. */
import { fieldsFault, readSelectionFilter } from "../../../changes/consume/selection.ts";
import type { Collection } from "../../../collection/collection.ts";
import { mustBe, shortJson, suggest } from "../../../collection/messages.ts";
import { readMembers, StartFaults } from "../../../errors/start-faults.ts";
import { StartError, toSentence } from "../../../errors.ts";
import { isObject } from "../../../json/values.ts";
import { type MemberReaders, membersOf, simply } from "../../../members.ts";
import { roleNames, texts, truth, wholeNumber } from "../../../readers.ts";
import { type ChangeKind, changeKinds } from "../../../store/port/change-log.ts";
import { readActing } from "../calls/acting.ts";
import { readDeclared, requireFunction } from "../code-options.ts";
import type { ConsumerSettings } from "./consumer-settings.ts";

/** The most consumers of a service. */
const maxConsumers = 100;

const nameShape = /^[A-Za-z][\w-]{0,62}$/;

/** A consumer without what follows from its place. */
type Declared = Omit<ConsumerSettings, "name" | "collection" | "member">;

/** The members of a consumer, as a configuration has them. */
interface Members extends Omit<Declared, "place" | "sees"> {
  run: true;
  roles: readonly string[];
}

/** Reads the consumers of all collections. `declared`: `after` of each collection that has it. Throws StartError. */
export function readConsumers(declared: ReadonlyMap<string, unknown>): readonly ConsumerSettings[] {
  const byCollection = readDeclared(declared, "after", readAfter);
  const all = [...byCollection].flatMap(([collection, consumers]) =>
    consumers.map(([member, each]) => ({ ...each, collection, member, name: `${collection}/${member}` })),
  );
  if (all.length > maxConsumers)
    throw new StartError(
      `collections: ${all.length} consumers are declared in "after". A service can have at most ${maxConsumers}.`,
    );
  return all;
}

function readAfter(value: unknown, place: string): [member: string, consumer: Declared][] {
  const example = "an object of consumers, such as { mail: { run: async ({ event }) => { … } } }";
  if (!isObject(value)) throw mustBe(place, example, value);
  if (Object.keys(value).length === 0)
    throw new StartError(`${place} has no consumer. Add one, or remove it.`);
  return readMembers(value, (consumer, name) => {
    if (nameShape.test(name)) return readConsumer(consumer, `${place}.${name}`);
    throw new StartError(
      `${place}: ${shortJson(name)} cannot be the name of a consumer. A name is a letter followed by up to 62 letters, digits, "_" or "-".`,
    );
  });
}

const readers: MemberReaders<Members> = {
  types: (value, place) => (value === undefined ? undefined : readTypes(value, place)),
  filter: (value, place) => {
    if (value === undefined || isObject(value)) return value;
    throw mustBe(place, 'a filter, such as { status: "paid" }', value);
  },
  fields: (value, place) => (value === undefined ? undefined : readFields(value, place)),
  roles: simply(roleNames),
  as: readActing,
  timeoutMs: simply(wholeNumber(1, 300_000)),
  concurrency: simply(wholeNumber(1, 8)),
  from: (value, place) => {
    if (value === undefined || value === "now" || value === "start") return value;
    throw mustBe(place, '"now" or "start"', value);
  },
  own: simply(truth),
  run: (value, place) => {
    requireFunction(value, place);
    return true;
  },
};

function readConsumer(value: unknown, place: string): Declared {
  const given = membersOf<Members>(value, place, readers, {});
  const { types = changeKinds, filter, fields, as, timeoutMs = 30_000, concurrency = 1 } = given;
  const { from = "now", own = false } = given;
  const sees = given.roles === undefined ? (as ?? "service") : { roles: given.roles };
  return { place: `${place}.run`, types, filter, fields, as, sees, timeoutMs, concurrency, from, own };
}

function readTypes(value: unknown, place: string): readonly ChangeKind[] {
  const expected = `a list with some of ${changeKinds.join(", ")}`;
  if (!Array.isArray(value) || value.length === 0) throw mustBe(place, expected, value);
  const unknown = value.find((each) => !changeKinds.includes(each as ChangeKind));
  if (unknown === undefined) return [...new Set(value as ChangeKind[])];
  throw typeof unknown === "string"
    ? new StartError(`${place}: ${shortJson(unknown)} is no kind of change. ${suggest(unknown, changeKinds)}`)
    : mustBe(place, expected, value);
}

function readFields(value: unknown, place: string): readonly string[] {
  const fields = simply(texts)(value, place) ?? [];
  if (fields.length === 0) throw mustBe(place, "a list of names of attributes", value);
  const fault = fieldsFault(fields);
  if (fault !== undefined) throw new StartError(`${place} ${fault}.`);
  return fields;
}

/** Checks that the consumers fit the rest of the configuration. Throws StartError. */
export function checkConsumers(
  consumers: readonly ConsumerSettings[],
  { collections, hasHistory }: { collections: ReadonlyMap<string, Collection>; hasHistory: boolean },
): void {
  const faults = new StartFaults();
  for (const { collection, member, filter } of consumers) {
    const at = `collections.${collection}.after.${member}`;
    const path = ["collections", collection, "after", member];
    if (!hasHistory)
      faults.add(path, `${at}: a consumer needs the history. Remove history: "none", or the consumer.`);
    const declared = collections.get(collection);
    if (declared !== undefined && filter !== undefined)
      faults.read([...path, "filter"], () =>
        requireFilter(filter, `${at}.filter`, { declared, collections }),
      );
  }
  faults.throwIfAny();
}

/** A filter can look at every attribute, also at those that the consumer does not get. */
function requireFilter(
  filter: unknown,
  at: string,
  { declared, collections }: { declared: Collection; collections: ReadonlyMap<string, Collection> },
): void {
  const collection = { ...declared, visibility: undefined };
  const { violations } = readSelectionFilter(filter, collection, (name) => collections.get(name));
  if (violations.length === 0) return;
  throw new StartError(
    violations.map(({ pointer = "", detail }) => {
      const within = pointer.replace("#/filter", "").replaceAll("/", ".");
      return { path: [], text: `${at}${within} ${toSentence(detail)}` };
    }),
  );
}
