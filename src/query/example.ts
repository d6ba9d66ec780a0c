/** Examples of what to write instead, made of what the client wrote. */

const maxValue = 40;

/** `name=value` as it is written in a query string. A long value is left out. */
export function parameter(name: string, value: string): string {
  const text = value.length > maxValue ? "…" : value;
  return `${encode(name).replaceAll("=", "%3D")}=${encode(text)}`;
}

/** Only what a query string would read otherwise: people are to read the example. */
function encode(text: string): string {
  return text.replaceAll(/[%&+#]/g, encodeURIComponent).replaceAll(" ", "+");
}
