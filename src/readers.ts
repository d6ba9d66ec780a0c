/**
 * Readers of options. Each returns the checked value, or throws an Error whose message says what is right. The message
 * continues a sentence that begins with the name of the option.
 */
import { isIP } from "node:net";
import { isKeyRole } from "./access/api-key.ts";
import { isLoopback } from "./http/protocol/hosts.ts";
import type { Rate, TlsFiles } from "./http/settings.ts";
import { isObject } from "./json/values.ts";
import type { Reader } from "./option.ts";
import { defaultHistory, type History } from "./store/port/options.ts";

/** A string that is not empty. */
export const text: Reader<string> = (value) => {
  if (typeof value === "string" && value !== "") return value;
  throw new Error("must be a non-empty string");
};

/** True or false. */
export const truth: Reader<boolean> = (value) => {
  if (typeof value === "boolean") return value;
  throw new Error("must be true or false");
};

/** True or false. Flags and environment variables give it as text. */
export const truthOrText: Reader<boolean> = (value) =>
  truth(value === "true" ? true : value === "false" ? false : value);

/** A list of strings that are not empty. */
export const texts: Reader<readonly string[]> = (value) => {
  if (Array.isArray(value) && value.every((item) => typeof item === "string" && item !== "")) return value;
  throw new Error("must be a list of non-empty strings");
};

/** A whole number. Flags and environment variables give it as text. */
export const wholeNumber =
  (least: number, most: number): Reader<number> =>
  (value) => {
    const number = typeof value === "string" && /^[0-9]+$/.test(value) ? Number(value) : value;
    if (typeof number === "number" && Number.isInteger(number) && number >= least && number <= most)
      return number;
    throw new Error(`must be a whole number from ${least} to ${most}`);
  };

/** The most threads that answer requests. */
export const mostThreads = 16;

/** How many threads answer requests. */
export const threads: Reader<number | "auto"> = (value) => {
  if (value === "auto") return value;
  try {
    return wholeNumber(1, mostThreads)(value);
  } catch {
    throw new Error(`must be "auto" or a whole number from 1 to ${mostThreads}`);
  }
};

/** A number of requests in a number of seconds. */
export const rate: Reader<Rate, { requests: number; perSeconds: number }> = (value) => {
  const isWhole = (number: unknown) => Number.isSafeInteger(number) && Number(number) >= 1;
  const { requests, perSeconds, ...others } = membersOf(value);
  if (isWhole(requests) && isWhole(perSeconds) && Number(perSeconds) <= 86_400 && isEmpty(others))
    return { requests: Number(requests), perSeconds: Number(perSeconds) };
  throw new Error(
    "must be an object such as { requests: 600, perSeconds: 60 }, with whole numbers and at most 86400 seconds",
  );
};

const byteUnits: Record<string, number> = { "": 1, b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };

/** A size in bytes, as a number or as text with a unit. */
export const bytes: Reader<number, number | string> = (value) => {
  const match = /^([0-9]+(?:\.[0-9]+)?) *([kmg]?b|)$/i.exec(String(value));
  const size = Math.floor(Number(match?.[1]) * (byteUnits[(match?.[2] ?? "").toLowerCase()] ?? Number.NaN));
  if (match !== null && size >= 1 && size <= 256 * 1024 ** 2) return size;
  throw new Error('must be a size up to 256mb, such as 65536 or "1mb"');
};

/** Origins as browsers send them, `*` for all origins, and `loopback` for all origins of this machine. */
export const origins: Reader<readonly string[]> = (value) => {
  // No browser sends another spelling, such as an explicit default port.
  const isOrigin = (item: string) =>
    item === "*" ||
    item === "loopback" ||
    (/^https?:\/\/[^*]+$/.test(item) && URL.canParse(item) && new URL(item).origin === item);
  const list = texts(value);
  if (list.every(isOrigin)) return list;
  throw new Error(
    'must be a list of origins such as "https://app.example.org" (in lower case, without a path), "*" or "loopback"',
  );
};

/** Whether nobody on the network can change what this URL gives: it is https, or http on this machine. */
export function isSafeUrl({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname.replace(/^\[|\]$/g, "")));
}

/** Whether a text is such a URL, and an origin as browsers send it. */
export function isSafeOrigin(text: string): boolean {
  if (!URL.canParse(text) || text.includes("*")) return false;
  const url = new URL(text);
  return url.origin === text && isSafeUrl(url);
}

/** The URL of the service. */
export const publicUrl: Reader<string> = (value) => {
  if (typeof value === "string" && isSafeOrigin(value)) return value;
  throw new Error(
    "must be an origin such as https://shop.example (in lower case, without a path; http only for this machine)",
  );
};

const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A time such as 90d, 12h or 30m, in milliseconds; `undefined` for any other text. */
export function durationOf(text: string): number | undefined {
  const [, number, unit] = /^(\d{1,5})([smhd])$/.exec(text) ?? [];
  return number === undefined ? undefined : Number(number) * units[unit as keyof typeof units];
}

/** IP addresses and networks of proxies. A network of all addresses would let every client forge its address. */
export const proxies: Reader<readonly string[]> = (value) => {
  const isProxy = (item: unknown) => {
    if (typeof item !== "string") return false;
    const [address = "", bits, ...rest] = item.split("/");
    const most = isIP(address) === 4 ? 32 : 128;
    const isNetwork = bits === undefined || (/^[1-9][0-9]*$/.test(bits) && Number(bits) <= most);
    return isIP(address) !== 0 && isNetwork && rest.length === 0;
  };
  if (Array.isArray(value) && value.every(isProxy)) return value;
  throw new Error('must be a list of IP addresses or networks such as ["10.0.0.1", "fd00::/8"]');
};

/** The paths of a certificate and its key. */
export const tlsFiles: Reader<TlsFiles, { cert: string; key: string }> = (value) => {
  const { cert, key, ...others } = membersOf(value);
  const isPath = (path: unknown) => typeof path === "string" && path !== "" && !path.includes("-----BEGIN");
  if (isPath(cert) && isPath(key) && isEmpty(others)) return { cert, key } as TlsFiles;
  throw new Error('must be an object with two file paths: { cert: "server.pem", key: "server.key" }');
};

/** Names and addresses of hosts. */
export const hostNames: Reader<readonly string[]> = (value) => {
  const list = texts(value);
  if (list.every((item) => /^[a-z0-9._-]+$/i.test(item) || /^[0-9a-f:]+$/i.test(item))) return list;
  throw new Error('must be a list of host names such as "api.example.org", without scheme and port');
};

/** Names of roles. */
export const roleNames: Reader<readonly string[]> = (value) => {
  const list = texts(value);
  if (list.every(isKeyRole)) return [...new Set(list)];
  throw new Error('must be a list of roles such as ["editor"], each of 1 to 100 characters without spaces');
};

/** What to log. */
export const logged: Reader<string, "requests" | "problems"> = (value) => {
  if (value === "requests" || value === "problems") return value;
  throw new Error('must be "requests" or "problems"');
};

/** The names at the root that the service uses itself, now or in a later release. */
export const ownRootNames: readonly string[] = [
  "livez",
  "readyz",
  "healthz",
  "problems",
  "metrics",
  "openapi.json",
  "openapi-3.2.json",
  "asyncapi.json",
  ".well-known",
  "docs",
  "_console",
  "_sign-in",
];

/** The path before the names of collections; empty for the root. */
export const prefix: Reader<string> = (value) => {
  const path = text(value).replace(/\/$/, "");
  const [, first = ""] = path.split("/");
  if (ownRootNames.includes(first))
    throw new Error(`must not begin with /${first}, which the service uses itself`);
  const isPlain = /^(\/(?!\.{1,2}(\/|$))[A-Za-z0-9._~-]+)+$/.test(path); // clients remove dot segments
  if (path === "" || isPlain) return path;
  throw new Error('must be "/" or a path of plain segments, such as "/api/v1"');
};

/** The option `history`. */
export interface HistoryOption {
  keep: History;
  showPrincipal: boolean;
}

type GivenHistory =
  | { keepDays?: number; keepChanges?: number; keepBytes?: number; showPrincipal?: boolean }
  | { keep: "forever"; showPrincipal?: boolean }
  | "forever"
  | "none";

/** How long to keep changes, and whether all readers see who made them. */
export const history: Reader<HistoryOption, GivenHistory> = (value) => {
  if (value === "forever" || value === "none") return { keep: value, showPrincipal: false };
  const members = Object.entries(membersOf(value));
  if (members.length === 0 || !members.every(isHistoryMember)) throw new Error(historyHint);
  const { keep, showPrincipal = false, ...numbers } = value as Partial<HistoryOption>;
  if (keep !== undefined && !isEmpty(numbers)) throw new Error(historyHint);
  return { keep: keep ?? (isEmpty(numbers) ? defaultHistory : historyOf(numbers)), showPrincipal };
};

/** What `Strict-Transport-Security` says besides the time. */
export interface Hsts {
  includeSubDomains: boolean;
}

export const hsts: Reader<Hsts> = (value) => {
  const { includeSubDomains, ...others } = membersOf(value);
  if (typeof includeSubDomains === "boolean" && isEmpty(others)) return { includeSubDomains };
  throw new Error("must be { includeSubDomains: true } or { includeSubDomains: false }");
};

/** With `keepBytes` alone, the history keeps all changes up to that size. */
function historyOf(numbers: Record<string, number>): History {
  const hasOtherLimit = numbers.keepDays !== undefined || numbers.keepChanges !== undefined;
  return { keepDays: hasOtherLimit ? 0 : Number.POSITIVE_INFINITY, keepChanges: 0, ...numbers };
}

function isHistoryMember([name, value]: [string, unknown]): boolean {
  if (name === "keep") return value === "forever";
  if (name === "showPrincipal") return typeof value === "boolean";
  const isNumber = ["keepDays", "keepChanges", "keepBytes"].includes(name);
  return isNumber && Number.isSafeInteger(value) && Number(value) >= 0;
}

const historyHint =
  'must be "forever", "none", or an object such as { keepDays: 30, keepChanges: 1000000, keepBytes: 1000000000 } or { keep: "forever", showPrincipal: true }';

/** The members of an object; no members for any other value. */
function membersOf(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

function isEmpty(members: object): boolean {
  return Object.keys(members).length === 0;
}
