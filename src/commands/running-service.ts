/** The running service that a command works on, instead of a store. The typed client sends the requests. */
import { createClient, HoldfastError, NetworkError, ProblemError } from "holdfast-client";
import type { AnyClient } from "../command.ts";
import { StartError, StoreInUse } from "../errors.ts";
import { type Environment, type Flags, tokenVariable } from "./flags.ts";

/** The time limit of a request, because a delivery can wait for others of its receiver before its own 15 seconds. */
const timeoutMs = 120_000;

/** Where the service is, and who calls it. */
export interface RunningService {
  /** The address of its collections. */
  base: URL;
  /** An API key or a JSON Web Token of an administrator. */
  token: string | undefined;
}

/** The running service that the flags name; `undefined` for the store. Throws StartError. */
export function runningOf(
  { url, token, store, config }: Flags,
  env: Environment,
): RunningService | undefined {
  if (typeof url !== "string") {
    if (token === undefined) return undefined;
    throw new StartError("--token is for a running service: give its address with --url.");
  }
  if (store !== undefined || config !== undefined)
    throw new StartError("Give either --url, or --config and --store.");
  return { base: readBase(url), token: tokenOf(token, env) };
}

/** The error of work on a store. If a service has the store open, it advises to give the address of the service. */
export function withUrlAdvice(error: unknown): unknown {
  if (!(error instanceof StoreInUse)) return error;
  return new StartError(
    "The store is in use by another Holdfast program. If it is the service, stop it first. Or give its address, such as --url http://localhost:3000, and the credential of an administrator.",
  );
}

/** The credential in the flag `--token` or in the environment. */
export function tokenOf(flag: unknown, env: Environment): string | undefined {
  return typeof flag === "string" ? flag : env[tokenVariable];
}

/** The prefix of a service, if the address has no path. */
const defaultPrefix = "/api/v1";

/** Reads the address of a service: `http://localhost:3000/api/v1`, or `http://localhost:3000`. Throws StartError. */
export function readBase(address: string): URL {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "")
    throw new StartError(
      `"${address}" is not the URL of a service. Give one such as http://localhost:3000/api/v1.`,
    );
  if (url.username !== "" || url.password !== "")
    throw new StartError(
      "The URL of a service cannot contain a credential. Give an API key or token with --token.",
    );
  if (url.pathname === "/" && !address.endsWith("/")) url.pathname = defaultPrefix;
  return url;
}

/** A client that sends each request once, with `send`. */
export function clientOf({ base, token }: RunningService, send: typeof fetch): AnyClient {
  return createClient({
    baseUrl: base.href,
    token: token ?? "",
    timeoutMs,
    retry: { attempts: 1 },
    fetch: send,
  });
}

/**
 * Calls a running service once, without retries. Throws StartError if it cannot be reached or refuses. After a 404, the message
 * says that `what` does not exist, or the URL without `what`.
 */
export async function callService<T>(
  running: RunningService,
  call: (client: AnyClient) => Promise<T>,
  what?: string,
): Promise<T> {
  let url = running.base.href;
  const client = clientOf(running, (address, request) => {
    url = String(address);
    return fetch(address, { ...request, redirect: "error" });
  });
  try {
    return await call(client);
  } catch (error) {
    if (error instanceof NetworkError)
      throw new StartError(
        `${url} cannot be reached: ${reasonOf(error)}. Check the address, and whether the service runs.`,
      );
    if (error instanceof ProblemError)
      throw new StartError(refusalOf(error, { url, token: running.token, what }));
    throw error instanceof HoldfastError ? new StartError(error.message) : error;
  }
}

function refusalOf(
  { status, problem }: ProblemError,
  { url, token, what }: { url: string; token: string | undefined; what: string | undefined },
): string {
  if (status === 404) {
    const missing = what === undefined ? `${url} does not exist` : `${what} does not exist at ${url}`;
    const who =
      token === undefined
        ? '. If the service has "auth", give the credential of an administrator with --token or HOLDFAST_TOKEN.'
        : ", and whether the credential belongs to an administrator.";
    return `${missing}. Check the address and its prefix${who}`;
  }
  if (status === 401)
    return `${url} requires the credential of an administrator. Give it with --token or HOLDFAST_TOKEN.`;
  return `${url} responded with status ${status}. ${problem.detail ?? ""}`.trimEnd();
}

/** Whether the response to a request was not JSON. */
export function isNotJson(error: unknown): boolean {
  return error instanceof NetworkError && error.cause instanceof SyntaxError;
}

/** Why a request got no response. Node and the client put the reason into the cause of an error. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return "no complete response in time";
  if (error instanceof SyntaxError) return "the response is not JSON";
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return error.cause === undefined ? error.message : reasonOf(error.cause);
}
