/** Refuses requests that Node's parser accepts although they are not valid. */
import { invalidRequest } from "./hosts.ts";
import type { HttpRequest } from "./message.ts";

/** Throws INVALID_REQUEST unless the request line and the headers that occur once are valid. */
export function requireWellFormed({ version, headers, rawHeaders }: HttpRequest): void {
  if (version === "")
    throw invalidRequest(
      "The request line must be a method, a target and HTTP/1.1, with one space between them.",
    );
  if (version !== "1.1" && version !== "1.0")
    throw invalidRequest(`The service does not support HTTP/${version}. Use HTTP/1.1.`);
  let hosts = 0;
  let contentTypes = 0;
  let authorizations = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
    else if (name.length === 12 && name.toLowerCase() === "content-type") contentTypes++;
    else if (name.length === 13 && name.toLowerCase() === "authorization") authorizations++;
  }
  // RFC 9112 §3.2: a request without Host, or with two, must be refused. Node uses the first one.
  if (hosts !== 1)
    throw invalidRequest(`The request has ${hosts === 0 ? "no" : "more than one"} Host header.`);
  if (contentTypes > 1) throw invalidRequest("The request has more than one Content-Type header.");
  if (authorizations > 1) throw invalidRequest("The request has more than one Authorization header.");
  const coding = headers["transfer-encoding"];
  if (coding === undefined) return;
  if (version === "1.0") throw invalidRequest("HTTP/1.0 does not support Transfer-Encoding."); // RFC 9112 §6.1
  if (coding.toLowerCase() === "chunked") return;
  throw invalidRequest(`Transfer-Encoding "${coding}" is not supported. The service supports only chunked.`);
}
