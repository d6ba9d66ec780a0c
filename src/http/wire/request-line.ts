/**
 * Checks the request line. Node's parser also accepts several spaces between its parts (RFC 9112 §3 allows only one), and RTSP
 * in place of HTTP. It reports neither.
 */
import type { IncomingMessage } from "node:http";
import type { Connection } from "./connections.ts";

/** The bytes of a connection when its latest request arrived. */
const bytesBefore = Symbol("bytes before");

type Watched = Connection & { [bytesBefore]?: number; parser?: { getCurrentBuffer?(): Buffer } | null };

/**
 * The version of HTTP in the request line; empty if the line is malformed. Call it at once when the request arrives. If the line
 * is not at the start of the packet with the end of the headers, it is not checked: the text before it can be anything.
 */
export function versionOf(message: IncomingMessage): string {
  const { method = "", url = "", httpVersion } = message;
  const connection = message.socket as Watched;
  const { bytesRead } = connection;
  const bytes = bytesRead - (connection[bytesBefore] ?? 0);
  connection[bytesBefore] = bytesRead;
  if (bytes === 0) return httpVersion; // another request is at the start of this packet
  // Most requests have as many bytes as one in the usual form. For all others, Node must copy the bytes. RTSP has no version 1.1.
  if (httpVersion === "1.1" && bytes === usualBytes(message)) return httpVersion;
  const received = connection.parser?.getCurrentBuffer?.().toString("latin1") ?? "";
  const [line = ""] = received.replace(/^(?:\r\n)+/, "").split("\r\n", 1);
  const start = `${method} ${url} `;
  const isMalformed = line !== `${start}HTTP/${httpVersion}` && line.replace(/ +/g, " ").startsWith(start);
  return isMalformed ? "" : httpVersion;
}

/** The bytes of a request whose line and headers have single spaces; NaN if the length of its content is not a number. */
function usualBytes({ method = "", url = "", rawHeaders, headers }: IncomingMessage): number {
  let bytes = method.length + url.length + "  HTTP/1.1\r\n\r\n".length + 2 * rawHeaders.length;
  bytes += Number(headers["content-length"] ?? 0);
  for (let i = 0; i < rawHeaders.length; i++) bytes += (rawHeaders[i] as string).length;
  return bytes;
}
