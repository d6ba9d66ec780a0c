/** Asks a running service for the description of its interface. */
import { StartError } from "../../errors.ts";
import { isObject } from "../../json/gate.ts";

const timeoutMs = 30_000;

/** The OpenAPI document of the service that runs at a URL. Throws StartError when there is none to be had. */
export async function fetchDescription(given: string, token: string | undefined): Promise<object> {
  const url = documentUrl(given);
  const response = await ask(url, token);
  if (response.status === 401 || response.status === 403) throw new StartError(refusal(url, token));
  if (response.status === 404)
    throw new StartError(
      `${url} does not exist. Either no Holdfast service runs at that address, or it has "docs": false.`,
    );
  if (!response.ok) throw new StartError(`${url} responded with status ${response.status}.`);
  const content = await read(response, url);
  if (isObject(content) && isObject(content.paths) && typeof content.openapi === "string") return content;
  throw new StartError(`${url} is not an OpenAPI document. Check that a Holdfast service runs there.`);
}

/** Services have it at the root, whatever their prefix is; one behind a proxy may have it elsewhere. */
function documentUrl(given: string): URL {
  const url = URL.parse(given);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new StartError(`"${given}" is not the URL of a service. Give one such as http://localhost:3000.`);
  return url.pathname.endsWith(".json") ? url : new URL("/openapi.json", url);
}

async function ask(url: URL, token: string | undefined): Promise<Response> {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  try {
    return await fetch(url, { headers, signal: AbortSignal.timeout(timeoutMs) });
  } catch (error) {
    throw new StartError(`${url} cannot be read: ${reasonOf(error)}.`);
  }
}

async function read(response: Response, url: URL): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw new StartError(`${url} cannot be read: ${reasonOf(error)}.`);
  }
}

function refusal(url: URL, token: string | undefined): string {
  return token === undefined
    ? `${url} requires a credential. Give one with --token.`
    : `${url} refused the credential that --token gives.`;
}

/** Node tells why a fetch failed in the error below the one that it throws. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return `no complete response within ${timeoutMs / 1_000} seconds`;
  const { cause = error } = error;
  if (cause instanceof AggregateError && cause.errors.length > 0) return reasonOf(cause.errors[0]);
  return cause instanceof Error ? cause.message : String(cause);
}
