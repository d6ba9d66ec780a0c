/** The input for the description of one collection: its names, examples and rules. This file describes nothing itself. */
import type { Collection } from "../../collection/collection.ts";
import { actionsOf } from "../caller/permission.ts";
import type { Described, OpenApiVersion, Part } from "./described.ts";
import type { Examples } from "./examples.ts";
import type { Names } from "./names.ts";
import type { OperationPlan } from "./operations.ts";

/** A collection in a document: a declared one, or any collection of open mode. */
export interface About {
  described: Described;
  version: OpenApiVersion;
  collection: Collection;
  names: Names;
  /** The tag of its operations. */
  tag: string;
  /** The parameters of its path. */
  path: readonly Part[];
  /** Resources as examples; `undefined` if none could be made. */
  examples: Examples | undefined;
  /** Whether a method of a kind of route needs a credential. */
  credentialFor(kind: keyof typeof actionsOf, method: string): OperationPlan["credential"];
}

/** Makes `About.credentialFor` from the rules of a collection. */
export function credentialFor({ access }: Described, collection: string): About["credentialFor"] {
  const anonymous = access?.permit(collection, undefined);
  return (kind, method) => {
    const actions = actionsOf[kind][method] ?? [];
    return actions.some((action) => anonymous !== undefined && anonymous.may(action) !== "nothing")
      ? "optional"
      : "required";
  };
}

/** One resource of the collection in words: `an article`. */
export function asOne({ names }: About): string {
  const words = inWords(names.one);
  return `${/^[aeiou]/.test(words) ? "an" : "a"} ${words}`;
}

/** The resources of the collection in words: `articles`. */
export function asMany({ names }: About): string {
  return inWords(names.many);
}

function inWords(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, " ").toLowerCase();
}
