/** Reads the text of a key set from a URL, a file or the configuration. Size and time are limited. */
import { open } from "node:fs/promises";
import { getSystemErrorMessage } from "node:util";
import type { JwksPlace } from "../settings.ts";

const maxBytes = 1_048_576;
const timeoutMs = 5_000;

/** The text of a key set. Throws an Error with the reason if it cannot be read. */
export function readKeys(place: JwksPlace): Promise<string> {
  switch (place.kind) {
    case "url":
      return fetchKeys(place.url);
    case "file":
      return readFile(place.path);
    case "inline":
      return Promise.resolve(JSON.stringify(place.jwks));
  }
}

async function fetchKeys(url: string): Promise<string> {
  const shown = url.replace(/[?#].*$/s, ""); // a query string can contain a secret
  // A redirect could lead to the keys of another issuer.
  const response = await fetch(url, {
    redirect: "error",
    signal: AbortSignal.timeout(timeoutMs),
    headers: { accept: "application/jwk-set+json, application/json" },
  }).catch((error: Error) => {
    throw new Error(`${shown} does not respond (${reasonOf(error)})`);
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`${shown} responded with status ${response.status}`);
  }
  return textOf(response.body ?? [], shown);
}

async function readFile(path: string): Promise<string> {
  const file = await open(path).catch(({ errno = 0 }: NodeJS.ErrnoException) => {
    throw new Error(`${path} cannot be read: ${getSystemErrorMessage(errno)}`);
  });
  return textOf(file.createReadStream(), path);
}

/** Leaving the loop early closes the source. */
async function textOf(source: AsyncIterable<Uint8Array> | Uint8Array[], from: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of source) {
      length += chunk.length;
      if (length > maxBytes) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw new Error(`${from} cannot be read completely (${reasonOf(error as Error)})`);
  }
  if (length > maxBytes) throw new Error(`${from} is larger than ${maxBytes} bytes`);
  return decode(Buffer.concat(chunks), from);
}

function decode(bytes: Uint8Array, from: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error(`${from} is not UTF-8`);
  }
}

/** The error of `fetch` says only "fetch failed". Its cause has the reason. */
function reasonOf(error: Error): string {
  const cause = error.cause instanceof Error ? error.cause : error;
  return "code" in cause && typeof cause.code === "string" ? cause.code : cause.message;
}
