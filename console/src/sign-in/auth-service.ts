/** The service that the page belongs to. */
import { signInPageTexts as texts } from "./sign-in-page-texts.ts";

function meta(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="holdfast-${name}"]`)?.content ?? "";
}

/** The title of the service. */
export const serviceTitle = meta("title");

/** The other origins to which the page can return. */
export const otherOrigins: readonly string[] = meta("origins").split(" ");

/** The collection of the profiles. */
export const usersName = meta("users");

// Relative to the page, so that it works behind a proxy that adds a path.
const baseUrl = new URL(`.${meta("prefix")}/`, document.baseURI).href;

/** A refusal of the service, or a request that it did not get. */
export class Refusal extends Error {
  readonly code: string;
  /** The status of the response; 0 without one. */
  readonly status: number;
  readonly violations: readonly { pointer?: string; code: string; detail: string }[];

  constructor(message: string, code = "", violations: Refusal["violations"] = [], status = 0) {
    super(message);
    this.code = code;
    this.status = status;
    this.violations = violations;
  }
}

/** Sends a request to the service. Returns the body of the response. Throws Refusal. */
export async function send<T>(method: string, path: string, body?: object): Promise<T> {
  const init: RequestInit =
    body === undefined ? { method } : { method, body: JSON.stringify(body), headers: headersOf(method) };
  const response = await fetch(new URL(path, baseUrl), init).catch(() => {
    throw new Refusal(texts.offline);
  });
  const text = await response.text();
  const content = text === "" ? {} : JSON.parse(text);
  if (response.ok) return content;
  const wait = response.headers.get("Retry-After");
  const message = content.message ?? texts.failed(response.status);
  throw new Refusal(
    wait === null ? message : texts.tryAgain(message, wait),
    content.code,
    content.violations,
    response.status,
  );
}

/** A PATCH is a merge patch of what has changed, so it fits any version. */
function headersOf(method: string): Record<string, string> {
  return method === "PATCH"
    ? { "Content-Type": "application/merge-patch+json", "If-Match": "*" }
    : { "Content-Type": "application/json" };
}

/** What the service says about signing in, and who is signed in. */
export interface Ways {
  methods: readonly string[];
  providers?: readonly Provider[];
  signUp: string;
  user?: { id: string; email: string };
  session?: { mustAddFactor?: boolean };
}

/** Where people can sign in with an account that they have there. */
export interface Provider {
  name: string;
  /** What people see. */
  label: string;
}

/** The address that sends the browser to a provider. */
export function addressOf({ name }: Provider, parameters: Record<string, string>): string {
  const url = new URL(`_auth/providers/${encodeURIComponent(name)}`, baseUrl);
  url.search = new URLSearchParams(parameters).toString();
  return url.href;
}

/** One of the sessions of a user. */
export interface OwnSession {
  id: string;
  usedAt: string;
  network: string;
  agent: string;
  /** The name of a key for a program. */
  name?: string;
  current: boolean;
}
