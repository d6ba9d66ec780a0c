/** Requests of commands to a running service. */
import { StartError } from "../errors.ts";
import { isObject, tryParse } from "../json/values.ts";
import { type Environment, type Flags, tokenVariable } from "./options.ts";
import { readBase } from "./service-address.ts";
import { reasonOf } from "./types/fetch-document.ts";

/** The time limit of a request, because a delivery can wait for others of its receiver before its own 15 seconds. */
const timeoutMs = 120_000;

/** Where the service is, and who calls it. */
export interface RunningService {
  /** Its address, such as `http://localhost:3000`, with its prefix if that is not `/api/v1`. */
  url: string;
  /** An API key or a JSON Web Token of an administrator. */
  token: string | undefined;
}

/** The response of a service. */
export interface ServiceResponse {
  url: string;
  status: number;
  text: string;
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
  return { url, token: typeof token === "string" ? token : env[tokenVariable] };
}

/** Sends a request to a path below the prefix. Throws StartError if the service does not respond. */
export async function request(
  service: RunningService,
  { method, path, content }: { method: string; path: string; content?: unknown },
): Promise<ServiceResponse> {
  const url = `${readBase(service.url).href.replace(/\/+$/, "")}${path}`;
  const headers = {
    Accept: "application/json",
    ...(content === undefined ? {} : { "Content-Type": "application/json" }),
    ...(service.token === undefined ? {} : { Authorization: `Bearer ${service.token}` }),
  };
  const signal = AbortSignal.timeout(timeoutMs);
  const body = content === undefined ? null : JSON.stringify(content);
  try {
    const response = await fetch(url, { method, headers, body, signal, redirect: "error" });
    return { url, status: response.status, text: await response.text() };
  } catch (error) {
    throw new StartError(
      `${url} cannot be reached: ${reasonOf(error)}. Check the address, and whether the service runs.`,
    );
  }
}

/**
 * The body of a successful response. Throws StartError for any other response. A 404 says that `what` does not exist, or the
 * URL if it is left out.
 */
export function requireSuccess(
  { url, status, text }: ServiceResponse,
  { token }: RunningService,
  what?: string,
): unknown {
  if (status >= 200 && status < 300) return JSON.parse(text);
  if (status === 404) {
    const missing = what === undefined ? `${url} does not exist` : `${what} does not exist at ${url}`;
    const who =
      token === undefined
        ? '. If the service has "auth", give the credential of an administrator with --token or HOLDFAST_TOKEN.'
        : ", and whether the credential belongs to an administrator.";
    throw new StartError(`${missing}. Check the address and its prefix${who}`);
  }
  if (status === 401)
    throw new StartError(
      `${url} requires the credential of an administrator. Give it with --token or HOLDFAST_TOKEN.`,
    );
  throw new StartError(`${url} responded with status ${status}. ${detailOf(text)}`.trimEnd());
}

function detailOf(text: string): string {
  const problem = tryParse(text);
  return isObject(problem) ? String(problem.detail ?? "") : "";
}
