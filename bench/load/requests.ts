/** An HTTP/1.1 request as text. */
export function requestText(
  method: string,
  path: string,
  body?: string,
  headers: Record<string, string> = {},
): string {
  const lines = [`${method} ${path} HTTP/1.1`, "Host: 127.0.0.1"];
  if (body !== undefined) {
    const type = headers["Content-Type"] ?? "application/json; charset=utf-8";
    lines.push(`Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body)}`);
  }
  for (const [name, value] of Object.entries(headers)) {
    if (name !== "Content-Type") lines.push(`${name}: ${value}`);
  }
  return `${lines.join("\r\n")}\r\n\r\n${body ?? ""}`;
}

/** The parts of such a text, for programs that build requests themselves. */
export function readRequest(text: string): {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
} {
  const end = text.indexOf("\r\n\r\n");
  const [first = "", ...lines] = text.slice(0, end).split("\r\n");
  const [method = "", path = ""] = first.split(" ");
  const headers = Object.fromEntries(lines.map((line) => line.split(": ", 2) as [string, string]));
  return { method, path, headers, body: text.slice(end + 4) };
}
