/** What the operations of one collection are built from. */
import type { Collection } from "../../collection/collection.ts";
import { actionsOf } from "../caller/permission.ts";
import type { Described, OpenApiVersion, Part } from "./described.ts";
import type { Examples } from "./examples.ts";
import type { Names } from "./names.ts";
import type { OperationPlan } from "./operations.ts";

/** A collection, declared or any other, in a document. */
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
  /** Who may call a method of a kind of route. */
  callersOf(kind: keyof typeof actionsOf, method: string): OperationPlan["callers"];
}

/** Who may call, by the rules of a collection. */
export function callersOf({ access }: Described, collection: string): About["callersOf"] {
  const anybody = access?.permit(collection, undefined);
  return (kind, method) => {
    const asked = actionsOf[kind][method] ?? [];
    return asked.some((action) => anybody !== undefined && anybody.may(action) !== "nothing")
      ? "anybody too"
      : "known";
  };
}

/** One of its resources in words: `an article`. */
export function asOne({ names }: About): string {
  const words = inWords(names.one);
  return `${/^[aeiou]/.test(words) ? "an" : "a"} ${words}`;
}

/** Its resources in words: `articles`. */
export function asMany({ names }: About): string {
  return inWords(names.many);
}

function inWords(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, " ").toLowerCase();
}
