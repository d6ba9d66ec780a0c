/**
 * The cookies of a browser that has signed in. A cookie counts only in requests of pages of the service itself, and of the origins in
 * `auth.users.origins`: the browser says where a request comes from (Fetch Metadata), so no token in forms is needed.
 */
import { parseCookie, stringifySetCookie } from "cookie";
import type { IdentifyingRequest } from "../../access/authenticate.ts";
import { Problem } from "../../errors.ts";
import { deviceMs } from "./devices.ts";
import { ticketMs } from "./tickets.ts";

/** What the cookies depend on. */
export interface CookieParts {
  /** Six characters that name the store, so that services on one host have cookies of their own. */
  identity: () => string;
  /** Where people find the service: an origin. */
  publicUrl: () => string;
  /** Whether only this machine reaches the service, without https. */
  isLocal: boolean;
  /** The other origins whose pages can use the cookie. */
  origins: readonly string[];
  /** How long a session lives at most, in milliseconds. */
  sessionMs: number;
}

/** What the service sets. A cookie can have any other text too, such as one with NUL. */
const secretText = /^[a-z\d_]+$/;

const safeMethods: readonly string[] = ["GET", "HEAD", "OPTIONS", "QUERY"];

/** The cookies of one service. */
export class Cookies {
  readonly #parts: CookieParts;

  constructor(parts: CookieParts) {
    this.#parts = parts;
  }

  /** The token in the cookie of a request; `undefined` if it has none that counts. Throws CROSS_SITE if an unsafe request may not use it. */
  tokenIn(request: IdentifyingRequest): string | undefined {
    const { cookie, authorization } = request.headers;
    if (cookie === undefined || authorization !== undefined) return undefined;
    const token = this.#read(cookie, this.#name);
    if (token === undefined || this.#counts(request)) return token;
    if (safeMethods.includes(request.method)) return undefined;
    throw crossSite();
  }

  /** What the device of a request shows; `undefined` if it has no such cookie. */
  deviceIn({ headers }: IdentifyingRequest): string | undefined {
    return headers.cookie === undefined ? undefined : this.#read(headers.cookie, this.#deviceName);
  }

  /** What names the browser of a request while somebody is at a provider; `undefined` without such a cookie. */
  browserIn({ headers }: IdentifyingRequest): string | undefined {
    return headers.cookie === undefined ? undefined : this.#read(headers.cookie, this.#browserName);
  }

  /** The value of `Set-Cookie` that names a browser, for as long as a ticket works. */
  nameBrowser(browser: string): string {
    return this.#set(this.#browserName, browser, ticketMs);
  }

  /** Throws CROSS_SITE if the response to a request cannot set the cookie. */
  requireOwnPage(request: IdentifyingRequest): void {
    if (!this.#counts(request)) throw crossSite();
  }

  /**
   * Throws CROSS_SITE if another site, or a page of this site that is not listed, has sent the browser, which goes to a provider. A
   * navigation has no `Origin`. Any page can leave `Referer` out, so a page of a listed origin must send it.
   */
  requireOwnDeparture({ headers }: IdentifyingRequest): void {
    const { origins } = this.#parts;
    const site = headers["sec-fetch-site"];
    const from = headers.referer === undefined ? undefined : URL.parse(headers.referer)?.origin;
    const isListed = from !== undefined && origins.includes(from);
    if (site === undefined || site === "same-origin" || site === "none") return;
    if (site === "same-site" && isListed) return;
    throw new Problem(
      "CROSS_SITE",
      'Only a page of the service itself, or of one of the origins in "auth.users.origins", can begin a sign-in at a provider. Open the page for signing in.',
    );
  }

  /** The values of `Set-Cookie` for a session that has begun. */
  ofSession({ token, device }: { token: string; device: string | undefined }): string[] {
    const { sessionMs } = this.#parts;
    const session = this.#set(this.#name, token, sessionMs);
    return device === undefined ? [session] : [session, this.#set(this.#deviceName, device, deviceMs)];
  }

  /** The values of `Set-Cookie` for a session that has ended. The device stays known. */
  end(): string[] {
    return [this.#set(this.#name, "", 0)];
  }

  get #name(): string {
    const { isLocal, publicUrl, identity } = this.#parts;
    return isLocal ? `holdfast-${new URL(publicUrl()).port || 80}` : `__Host-holdfast-${identity()}`;
  }

  get #deviceName(): string {
    return `${this.#name}-device`;
  }

  get #browserName(): string {
    return `${this.#name}-browser`;
  }

  /** Cookies of several sites can have one name, and the first of them is not always the right one: then none counts. */
  #read(cookie: string, name: string): string | undefined {
    const count = cookie.split(";").filter((each) => each.split("=", 1)[0]?.trim() === name).length;
    const value = count === 1 ? (parseCookie(cookie)[name] ?? "") : "";
    return secretText.test(value) ? value : undefined;
  }

  #set(name: string, value: string, ms: number): string {
    const secure = !this.#parts.isLocal;
    const maxAge = ms / 1_000;
    return stringifySetCookie({ name, value, path: "/", httpOnly: true, sameSite: "lax", secure, maxAge });
  }

  #counts({ method, headers }: IdentifyingRequest): boolean {
    const { origins, publicUrl } = this.#parts;
    const { origin } = headers;
    switch (headers["sec-fetch-site"]) {
      case "same-origin":
        return true;
      case "same-site":
        return origin !== undefined && origins.includes(origin);
      case "none":
        return method === "GET" || method === "HEAD";
      case undefined:
        return origin === publicUrl();
      default:
        return false;
    }
  }
}

function crossSite(): Problem {
  return new Problem(
    "CROSS_SITE",
    'A cookie works only for pages of the service itself, and of the origins in "auth.users.origins". From elsewhere, send the token as Authorization: Bearer <token>.',
  );
}
