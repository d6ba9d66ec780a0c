/** The paths that the service keeps to itself. */
import { StartError } from "../errors.ts";
import { text } from "./readers.ts";

/** What the service answers itself at the root, now or in a later release: nothing else may live there. */
const rootNames = [
  "livez",
  "readyz",
  "healthz",
  "problems",
  "metrics",
  "openapi.json",
  "openapi-3.2.json",
  "asyncapi.json",
  ".well-known",
  "docs",
];

/** Throws StartError for a collection whose path would be one of the service's own. */
export function requireOwnPath(collection: string, prefix: string): void {
  if (prefix !== "" || !rootNames.includes(collection)) return;
  throw new StartError(
    `collections.${collection}: the service uses /${collection} itself. Choose another name, or a prefix other than "/".`,
  );
}

/** The path that the collections live under; empty for the root. */
export const prefix = (value: unknown): string => {
  const path = text(value).replace(/\/$/, "");
  const [, first = ""] = path.split("/");
  if (rootNames.includes(first))
    throw new Error(`must not begin with /${first}, which the service uses itself`);
  const isPlain = /^(\/(?!\.{1,2}(\/|$))[A-Za-z0-9._~-]+)+$/.test(path); // clients take dot segments out
  if (path === "" || isPlain) return path;
  throw new Error('must be "/" or a path of plain segments, such as "/api/v1"');
};
