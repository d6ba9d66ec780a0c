/** Whether what is declared leaves the service's own times to the service. */
import { StartError } from "../errors.ts";
import { isObject } from "../json/values.ts";
import { attributeFacts, type Describing } from "./attributes.ts";
import { parsePath } from "./paths.ts";
import { timestampNames } from "./timestamps.ts";

/**
 * Throws StartError if a collection has timestamps and its schema declares or requires one of them. The message begins
 * with `at`.
 */
export function requireTimesUndeclared(collection: Describing, at: string): void {
  if (!collection.timestamps) return;
  const withoutTimes = { ...collection, timestamps: false };
  refuse(at, (name) => {
    const { isDeclared, isRequired } = attributeFacts(withoutTimes, [name]);
    return isDeclared || isRequired === true;
  });
}

/**
 * Throws StartError if a collection has timestamps and an option such as `unique` names one of them. The option may be
 * unchecked. The message begins with `at`.
 */
export function requireTimesUnnamed(option: unknown, at: string, describing: () => Describing): void {
  const named = namesIn(option);
  const isNamed = (name: string) => named.includes(name);
  if (timestampNames.some(isNamed) && describing().timestamps) refuse(at, isNamed);
}

function refuse(at: string, isClaimed: (name: string) => boolean): void {
  const faults = timestampNames
    .filter(isClaimed)
    .map((name) => `${at}: with timestamps, the service itself sets "${name}". Leave it out here.`);
  if (faults.length > 0) throw new StartError(faults.map((text) => ({ path: [], text })));
}

/** The attributes that an option is about, as far as it is readable. */
function namesIn(option: unknown): (string | undefined)[] {
  const items = Array.isArray(option) ? option : isObject(option) ? Object.keys(option) : [];
  return items.map((item: unknown) => {
    const name = isObject(item) ? item.attribute : item;
    return typeof name === "string" ? parsePath(name)?.[0] : undefined;
  });
}
