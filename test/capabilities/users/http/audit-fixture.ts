/** A service whose administrator reads the audit. */
import type { TestContext } from "node:test";
import { bearer, bodyOf, startPeople } from "./people.ts";

export const root = "root@root.example";

export interface Entry {
  id: string;
  time: string;
  kind: string;
  result: string;
  subject?: string;
  actor?: string;
  method?: string;
  policy?: string;
  email?: string;
  network?: string;
  agent?: string;
  request?: string;
  before?: object;
  after?: object;
  item?: string;
  count?: number;
}

/** A service with an administrator, who reads the audit. */
export async function start(t: TestContext, options: Parameters<typeof startPeople>[1] = {}) {
  const signUp = { domains: ["root.example"], roles: ["ops"] };
  const users = { signUp, roles: ["ops", "member"], ...options.users };
  const people = await startPeople(t, { ...options, users });
  const signed = await people.join(root);
  const ask = (method: string, path: string, content?: unknown) =>
    people.service.send({
      method,
      path: `/api/v1/${path}`,
      ...(content !== undefined && { content }),
      headers: { ...bearer(signed.token), "user-agent": "Console/1" },
    });
  const audit = async (query = "") =>
    bodyOf<{ entries: Entry[]; next?: string }>(await ask("GET", `_audit${query}`));
  return { ...people, root: signed, ask, audit };
}

/** The parts of entries that a test compares, the first one first. */
export function partsOf(entries: readonly Entry[]): string[] {
  return entries
    .map(({ kind, method, result, count = "" }) => [kind, method, result, count].filter(Boolean).join(" "))
    .reverse();
}
