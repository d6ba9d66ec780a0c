/** Fetches the OpenAPI document of a running service. */
import { StartError } from "../../errors.ts";
import { isObject } from "../../json/values.ts";

const timeoutMs = 30_000;

/** The OpenAPI document of the service at a URL. Throws StartError if the service does not return one. */
export async function fetchDocument(address: string, token: string | undefined): Promise<object> {
  const url = documentUrl(address);
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(timeoutMs) }).catch(
    (error: unknown) => {
      throw cannotRead(url, error);
    },
  );
  if (response.status === 401 || response.status === 403)
    throw new StartError(
      token === undefined
        ? `${url} requires a credential. Give one with --token or HOLDFAST_TOKEN.`
        : `${url} refused the credential.`,
    );
  if (response.status === 404)
    throw new StartError(
      `${url} does not exist. Either no Holdfast service runs at that address, or it has "docs": false.`,
    );
  if (!response.ok) throw new StartError(`${url} responded with status ${response.status}.`);
  const document: unknown = await response.json().catch((error: unknown) => {
    if (!(error instanceof SyntaxError)) throw cannotRead(url, error);
  });
  if (isObject(document) && isObject(document.paths) && typeof document.openapi === "string") return document;
  throw new StartError(`${url} is not an OpenAPI document. Check that a Holdfast service runs there.`);
}

/** Every service has its document at the root, whatever its prefix is. A proxy can serve it at another `.json` path. */
function documentUrl(address: string): URL {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new StartError(`"${address}" is not the URL of a service. Give one such as http://localhost:3000.`);
  return url.pathname.endsWith(".json") ? url : new URL("/openapi.json", url);
}

function cannotRead(url: URL, error: unknown): StartError {
  return new StartError(`${url} cannot be read: ${reasonOf(error)}.`);
}

/** Why a fetch failed. Node puts the reason into the cause of the error. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return "no complete response in time";
  const { cause = error } = error;
  if (cause instanceof AggregateError && cause.errors.length > 0) return reasonOf(cause.errors[0]);
  return cause instanceof Error ? cause.message : String(cause);
}
