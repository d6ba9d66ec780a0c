/** The client that a function of the user gets: `holdfast-client`, whose requests stay in the process. */
import { createClient } from "holdfast-client";
import type { AnyClient } from "../../../command.ts";
import type { InsideFetch } from "../../../http/inside.ts";
import { CallerRefusals } from "./caller-refusals.ts";

/** The use of all clients of one call. It ends with the call. */
export class ClientUse {
  /** What the service has refused to `client`. */
  readonly refusals = new CallerRefusals();
  readonly #place: string;
  readonly #most: number;
  #sent = 0;
  #end: string | undefined;

  /** `place`: that of the function. `most`: how many requests the clients can send. */
  constructor(place: string, most: number) {
    this.#place = place;
    this.#most = most;
  }

  /** From now on, the clients send nothing. `why` begins the sentence that says so. */
  end(why: string): void {
    this.#end ??= why;
  }

  /** Throws an Error if the clients can send no further request. */
  requireOpen(): void {
    if (this.#end !== undefined) throw new Error(`${this.#end} The function can send no more requests.`);
    if (this.#sent < this.#most) return;
    throw new Error(
      `One call of ${this.#place} can send ${this.#most} requests. Send several operations in one request with $batch.`,
    );
  }

  /** Counts a request. Throws an Error if it cannot be sent. */
  count(): void {
    this.requireOpen();
    this.#sent++;
  }
}

/** A host that no request reaches. Error messages of the client contain it. */
const origin = "http://holdfast";

/** A client of a call: the name of its member in the argument, and the prefix of the service. */
interface ClientOf {
  readonly name: string;
  readonly prefix: string;
}

/** Makes a client. */
export function createUserClient(send: InsideFetch, use: ClientUse, { name, prefix }: ClientOf): AnyClient {
  return createClient({
    baseUrl: origin + prefix,
    // Read before each attempt, and its error reaches the code as it is. The caller does not change by signing in.
    auth: { store: { get: () => void use.requireOpen(), set: () => {} }, cookie: false },
    retry: { attempts: 2 }, // the time of a call is short
    fetch: async (address, init = {}) => {
      use.count();
      const answer = await send(
        {
          method: init.method ?? "GET",
          target: String(address).slice(origin.length),
          headers: Object.fromEntries(new Headers(init.headers)),
          body: init.body == null ? undefined : textOf(await new Response(init.body).arrayBuffer()),
        },
        init.signal ?? undefined,
      );
      const { status, headers, body } = answer;
      const response = new Response(hasNoBody(status) ? null : (body ?? null), { status, headers });
      if (name === "client") use.refusals.note(response.headers, answer);
      return response;
    },
  });
}

/** Requests travel as text, so other bytes would change. */
function textOf(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new Error("A client in a function can only send text in UTF-8, and these bytes are not.", {
      cause,
    });
  }
}

/** `Response` refuses a body with these statuses. */
function hasNoBody(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}
