/** Whether what is declared leaves the service's own times to the service. */
import { StartError } from "../errors.ts";
import { isObject } from "../json/gate.ts";
import { attributeFacts } from "./attributes.ts";
import type { Collection } from "./collection.ts";
import { parsePath } from "./paths.ts";
import { timestampNames } from "./timestamps.ts";

/** What may name attributes beside the schema. None of it has been checked yet. */
type Claims = Partial<Readonly<Record<(typeof claiming)[number], unknown>>>;

const claiming = ["unique", "references", "defaults"] as const;

/** Throws StartError where what is declared beside `timestamps` lays claim to one of them. */
export function requireUnclaimed(declaration: Claims, at: string, collection: Collection): void {
  for (const name of timestampNames) {
    const facts = attributeFacts({ ...collection, timestamps: false }, [name]);
    const isInSchema = facts.isDeclared || facts.isRequired === true;
    const claim = isInSchema
      ? "schema"
      : claiming.find((option) => namesIn(declaration[option]).includes(name));
    if (claim === undefined) continue;
    throw new StartError(
      `${at}.${claim}: with timestamps the service looks after "${name}" itself: leave it out here.`,
    );
  }
}

/** The attributes that an option is about, as far as it is readable. */
function namesIn(option: unknown): (string | undefined)[] {
  const items = Array.isArray(option) ? option : isObject(option) ? Object.keys(option) : [];
  return items.map((item: unknown) => {
    const name = isObject(item) ? item.attribute : item;
    return typeof name === "string" ? parsePath(name)?.[0] : undefined;
  });
}
