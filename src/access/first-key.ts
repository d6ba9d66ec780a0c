/** The first API key of a service: who prints the link of the start can create it in a browser, once. */
import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { Problem } from "../errors.ts";
import type { Keys } from "../store/port/keys.ts";
import { addKey, type KeyProperties, type NewKey } from "./api-key.ts";
import { invalidToken } from "./challenges.ts";
import type { AdministratorRule } from "./roles.ts";

/** How long the link works, in milliseconds. */
export const firstKeyMs = 600_000;

/** The name of the first key. */
const name = "first-key";

/** The most roles that a key can have. */
const maxRoles = 100;

/** What the first key is, and whether it administers the service. */
export interface FirstKeyPlan {
  properties: KeyProperties;
  administers: boolean;
}

/**
 * Plans the first key. Who can start the service can create any key with the command line, so the first key gets the role of
 * administrators, and the roles that they can give to keys. Without such a role, it gets the subject of an administrator.
 */
export function planFirstKey(
  administrators: readonly AdministratorRule[] = [],
  keyRoles: readonly string[],
): FirstKeyPlan {
  const own = administrators.flatMap((rule) => ("role" in rule ? [rule.role] : [])).slice(0, 1);
  const [named] = administrators.flatMap((rule) => ("subject" in rule ? [rule.subject] : []));
  const roles = [...new Set([...own, ...keyRoles])].slice(0, maxRoles);
  const subject = own.length === 0 && named !== undefined ? named : name;
  return {
    properties: { name, subject, roles, scopes: undefined, expiresAt: undefined },
    administers: administrators.length > 0,
  };
}

/** A token that can be exchanged for the first key, as data that threads share. */
export interface FirstKeyOffer {
  token: string;
  plan: FirstKeyPlan;
  /** Until when it works, in milliseconds of the clock `elapsed` of all threads. */
  until: number;
  /** One number: 1 after the token was spent, in whichever thread. */
  spent: SharedArrayBuffer;
}

/** Offers a new token: 256 random bits as text. `now` is the time of the clock `elapsed`. */
export function offerFirstKey(plan: FirstKeyPlan, now: number): FirstKeyOffer {
  const token = randomBytes(32).toString("base64url");
  const spent = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  return { token, plan, until: now + firstKeyMs, spent };
}

interface FirstKeyParts {
  keys: Pick<Keys, "all" | "add">;
  /** Unix time in milliseconds. */
  now: () => number;
  /** A clock in milliseconds that never goes back, and is the same in all threads. */
  elapsed: () => number;
}

/** The one token that can be exchanged for the first key, in one thread. Only its hash is kept, in memory. */
export class FirstKey {
  readonly #parts: FirstKeyParts;
  readonly #plan: FirstKeyPlan;
  readonly #hash: Buffer;
  readonly #until: number;
  readonly #spent: Int32Array;

  constructor(parts: FirstKeyParts, { token, plan, until, spent }: FirstKeyOffer) {
    this.#parts = parts;
    this.#plan = plan;
    this.#hash = hashOf(token);
    this.#until = until;
    this.#spent = new Int32Array(spent);
  }

  /** Whether the token can still be spent. */
  isOpen(): boolean {
    return Atomics.load(this.#spent, 0) === 0 && this.#parts.elapsed() < this.#until;
  }

  /** Creates the key. Throws INVALID_TOKEN for a wrong token, KEY_UNAVAILABLE, and the errors of the store. */
  async spend(token: string): Promise<NewKey & { administers: boolean }> {
    if (!this.isOpen() || !timingSafeEqual(this.#hash, hashOf(token)) || !this.#take())
      throw invalidToken("The token of the link is wrong. Open the link that the latest start printed.");
    const { properties, administers } = this.#plan;
    try {
      const { keys, now } = this.#parts;
      if ((await keys.all()).length > 0) throw exists();
      return { ...(await addKey(keys, properties, now())), administers };
    } catch (error) {
      // The store did not create the key, so the link still works.
      if (!(error instanceof Problem && error.code === "KEY_UNAVAILABLE")) Atomics.store(this.#spent, 0, 0);
      throw error;
    }
  }

  /** Returns false if another request, in this thread or in another one, has taken the token. */
  #take(): boolean {
    return Atomics.compareExchange(this.#spent, 0, 0, 1) === 0;
  }
}

function exists(): Problem {
  return new Problem(
    "KEY_UNAVAILABLE",
    "The service has an API key already, so the link no longer works. Sign in with that key.",
  );
}

function hashOf(token: string): Buffer {
  return hash("sha256", token, "buffer");
}
