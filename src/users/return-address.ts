/** Where a browser goes after a sign-in. A wrong check here would send people to any site. */

/**
 * The whole address for a path of the service, or for an address of one of the origins; `undefined` for everything else, such as
 * `//evil.example`, `/\evil.example` and `javascript:`.
 */
export function returnAddress(
  text: string,
  { publicUrl, origins }: { publicUrl: string; origins: readonly string[] },
): string | undefined {
  // Browsers read a backslash as a slash, and leave out control characters.
  if (/[\\\p{Cc}\s]/u.test(text) || text.length > 2_000) return undefined;
  const isPath = text.startsWith("/") && !text.startsWith("//");
  const origin = isPath ? publicUrl : origins.find((each) => text === each || text.startsWith(`${each}/`));
  if (origin === undefined) return undefined;
  const url = URL.parse(text, origin);
  return url?.origin === origin ? url.href : undefined;
}
