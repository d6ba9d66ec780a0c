/** What the service would do as it is told, and may not be meant. */
import { actions, scopeOf } from "../../access/actions.ts";
import { isEndless } from "../../access/api-key.ts";
import type { Config } from "../../config.ts";
import { isLoopback } from "../../http/hosts.ts";
import { openKeys } from "../../store/open.ts";
import { counted } from "../words.ts";
import { similarRolesIn } from "./similar-roles.ts";
import { slowIn } from "./slow-rules.ts";

const list = new Intl.ListFormat("en");

/** A sentence about each part of the configuration that may be unsafe, misspelled or slow. */
export function warningsOf(config: Config): string[] {
  return [
    ...publicWrites(config),
    ...similarRolesIn(config.roles),
    ...openListener(config),
    ...openToPages(config),
    ...slowLists(config),
  ];
}

/** What may be unsafe about the keys in its store, which is there. */
export async function keyWarningsOf({ auth, store }: Config, now: number): Promise<string[]> {
  if (auth?.keys !== true) return [];
  const keys = await openKeys(store);
  try {
    const endless = (await keys.all()).filter((key) => isEndless(key, now));
    if (endless.length === 0) return [];
    const never = endless.length === 1 ? "never expires" : "never expire";
    const names = endless.slice(0, 5).map(({ name, prefix }) => `"${name}" (${prefix})`);
    const more = endless.length > names.length ? " and others" : "";
    return [`${counted(endless.length, "API key")} ${never}: ${names.join(", ")}${more}`];
  } finally {
    await keys.close();
  }
}

function publicWrites({ access, collections }: Config): string[] {
  if (access === undefined) return []; // then the listener is what matters
  return [...collections.keys()].flatMap((name) => {
    const permit = access.permit(name, undefined);
    const open = actions.filter((action) => scopeOf(action) === "write" && permit.may(action) !== "nothing");
    return open.length === 0 ? [] : [`${name}: anyone can ${list.format(open)} without a credential`];
  });
}

function openListener({ host, http: { tls, trustProxy } }: Config): string[] {
  if (isLoopback(host) || tls !== undefined || trustProxy.length > 0) return [];
  return [`host: traffic to ${host} is not encrypted, because neither tls nor trustProxy is configured`];
}

function openToPages({ auth, http: { corsOrigins } }: Config): string[] {
  if (auth !== undefined || !corsOrigins.includes("*")) return [];
  return [
    'cors.origins: with "*" and without auth, every web page that a user of this machine opens can read and change everything',
  ];
}

function slowLists({ access, collections }: Config): string[] {
  if (access === undefined) return [];
  return [...collections.values()].flatMap((collection) =>
    slowIn(access, collection).map(
      (attribute) =>
        `${collection.name}: a rule filters lists by "${attribute}", but no index begins with it, so every list reads the whole collection`,
    ),
  );
}
