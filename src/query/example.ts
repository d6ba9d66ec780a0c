/** Makes examples of what to write instead, from what the client wrote. */

const maxValue = 40;

/** `name=value` for a query string. Writes `…` instead of a long value. */
export function parameter(name: string, value: string): string {
  const text = value.length > maxValue ? "…" : value;
  return `${encode(name).replaceAll("=", "%3D")}=${encode(text)}`;
}

/** Encodes only what has a meaning in a query string, so that people can read the example. */
function encode(text: string): string {
  return text.replaceAll(/[%&+#]/g, encodeURIComponent).replaceAll(" ", "+");
}
