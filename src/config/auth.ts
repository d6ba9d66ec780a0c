/** Reads the options of `auth` together. */
import { resolve } from "node:path";
import type { AuthSettings, JwksPlace } from "../access/settings.ts";
import { StartError } from "../errors.ts";
import type { FileContent, Get } from "./values.ts";

/** Where credentials come from, `undefined` without `auth`. Throws StartError where `auth` names no source. */
export function authOf(content: FileContent, get: Get, cwd: string): AuthSettings | undefined {
  if (content.auth === undefined) return undefined;
  const keys = get("auth.keys");
  const jwt = get("auth.jwt");
  if (!keys && jwt === undefined) {
    throw new StartError(
      "auth names no source of credentials, so no caller could authenticate. Add keys: true or jwt, or remove auth.",
    );
  }
  return { keys, jwt: jwt === undefined ? undefined : { ...jwt, jwks: fromFolder(jwt.jwks, cwd) } };
}

function fromFolder(place: JwksPlace, cwd: string): JwksPlace {
  return place.kind === "file" ? { kind: "file", path: resolve(cwd, place.path) } : place;
}
