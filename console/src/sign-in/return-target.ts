/** Where the page goes after a sign-in. */

/**
 * The address that `return` names: a path of the service, or an address of one of its other origins; `undefined` for everything else,
 * so that no link to this page leads to a foreign one. The result is what the browser made of the text, so both read it alike.
 */
export function returnTarget(
  text: string | null,
  own: string,
  origins: readonly string[],
): string | undefined {
  if (text === null || text === "" || !URL.canParse(text, own)) return undefined;
  const { protocol, origin, username, password, pathname, href } = new URL(text, own);
  const isWeb = protocol === "http:" || protocol === "https:";
  const isOurs = origin === own || origins.includes(origin);
  const isPlain = username === "" && password === "" && !pathname.startsWith("//");
  return isWeb && isOurs && isPlain ? href : undefined;
}
