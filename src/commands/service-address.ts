/** Reads the address of a running service. */
import { StartError } from "../errors.ts";

/** The prefix of a service, if the address has no path. */
const defaultPrefix = "/api/v1";

/** Reads the address of a service: `http://localhost:3000/api/v1`, or `http://localhost:3000`. Throws StartError. */
export function readBase(address: string): URL {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "")
    throw new StartError(
      `"${address}" is not the URL of a service. Give one such as http://localhost:3000/api/v1.`,
    );
  if (url.username !== "" || url.password !== "")
    throw new StartError(
      "The URL of a service cannot contain a credential. Give an API key or token with --token.",
    );
  if (url.pathname === "/" && !address.endsWith("/")) url.pathname = defaultPrefix;
  return url;
}
