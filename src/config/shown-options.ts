/** The effective options for administrators: each with its value, without secrets, and the place that it comes from. */
import type { AuthSettings } from "../access/settings.ts";
import { type StoreAddress, shownAddress } from "../store/address.ts";
import type { History } from "../store/port/options.ts";
import { type Option, type OptionName, options } from "./options.ts";
import { type FileContent, fromFile, type Get, givenValue, type OutsideFile } from "./values.ts";

/** Where a value comes from. `application`: from the program that the service is part of. */
export type OptionSource = "default" | "file" | "application" | "environment" | "flag";

/** An option as administrators see it. */
export interface ShownOption {
  name: string;
  /** `null` if it is not set and has no default. */
  value: unknown;
  source: OptionSource;
  /** The flag or the environment variable. */
  from?: string;
}

/** The parts of a configuration whose values depend on several options. */
export interface Effective {
  store: StoreAddress;
  openCollections: boolean;
  corsOrigins: readonly string[];
  readOnly: boolean;
  history: History;
  auth: AuthSettings | undefined;
  keyRoles: readonly string[];
}

/** All options, in the order of the table of options. */
export function shownOptions(
  { file, content, outside }: { file: string | undefined; content: FileContent; outside: OutsideFile },
  get: Get,
  effective: Effective,
): readonly ShownOption[] {
  return Object.entries<Option<unknown>>(options).map(([name, option]) => ({
    name,
    value: shownValue(name as OptionName, option, { get, effective }) ?? null,
    ...sourceOf(name, option, { file, content, outside }),
  }));
}

function sourceOf(
  name: string,
  option: Option<unknown>,
  { file, content, outside }: { file: string | undefined; content: FileContent; outside: OutsideFile },
): Pick<ShownOption, "source" | "from"> {
  // This flag takes no value, so the table of options does not have it.
  if (name === "readOnly" && outside.flags.readOnly === true) return { source: "flag", from: "--read-only" };
  const given = givenValue(option, outside);
  if (given !== undefined)
    return { source: given.at.startsWith("--") ? "flag" : "environment", from: given.at };
  if (fromFile(content, name) === undefined) return { source: "default" };
  return { source: file === undefined ? "application" : "file" };
}

/** The value without secrets. The value of a private option is shown only if this function knows how. */
function shownValue(
  name: OptionName,
  { isPrivate }: Option<unknown>,
  { get, effective }: { get: Get; effective: Effective },
): unknown {
  switch (name) {
    case "store":
      return shownAddress(effective.store);
    case "openCollections":
      return effective.openCollections;
    case "readOnly":
      return effective.readOnly;
    case "cors.origins":
      return effective.corsOrigins;
    case "auth.keys":
      return get("auth.keys");
    case "auth.keyRoles":
      return effective.keyRoles;
    case "auth.jwt":
      return effective.auth?.jwt && { ...effective.auth.jwt, jwks: shownKeySet(effective.auth.jwt.jwks) };
    case "tls":
      return get("tls"); // the paths of files
    default:
      return isPrivate === true ? "(hidden)" : get(name);
  }
}

/** The place of a key set. The parameters of a URL can be secret, and the keys are long. */
function shownKeySet(jwks: NonNullable<AuthSettings["jwt"]>["jwks"]): object {
  if (jwks.kind === "inline") return { kind: "inline" };
  if (jwks.kind === "file") return jwks;
  const { origin, pathname } = new URL(jwks.url);
  return { kind: "url", url: `${origin}${pathname}` };
}
