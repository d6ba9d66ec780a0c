/** Readers of options: each gives the checked value, or throws an Error whose message says what would be right. */
import { isIP } from "node:net";
import type { Rate } from "../http/caller/rate-limit.ts";
import type { TlsFiles } from "../http/wire/tls.ts";
import { defaultHistory, type History } from "../store/history.ts";

/** A text that is not empty. */
export const text = (value: unknown): string => {
  if (typeof value === "string" && value !== "") return value;
  throw new Error("must be a non-empty string");
};

/** True or false. */
export const truth = (value: unknown): boolean => {
  if (typeof value === "boolean") return value;
  throw new Error("must be true or false");
};

/** A list of texts, none of them empty. */
export const texts = (value: unknown): readonly string[] => {
  if (Array.isArray(value) && value.every((item) => typeof item === "string" && item !== "")) return value;
  throw new Error("must be a list of non-empty strings");
};

/** A whole number; from flags and the environment it comes as text. */
export const wholeNumber =
  (least: number, most: number) =>
  (value: unknown): number => {
    const number = typeof value === "string" && /^[0-9]+$/.test(value) ? Number(value) : value;
    if (typeof number === "number" && Number.isInteger(number) && number >= least && number <= most)
      return number;
    throw new Error(`must be a whole number from ${least} to ${most}`);
  };

/** So many requests in so many seconds. */
export const rate = (value: unknown): Rate => {
  const members = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const isWhole = (number: unknown) => Number.isSafeInteger(number) && Number(number) >= 1;
  const { requests, perSeconds } = Object.fromEntries(members);
  if (members.length === 2 && isWhole(requests) && isWhole(perSeconds) && perSeconds <= 86_400)
    return { requests, perSeconds };
  throw new Error(
    "must be an object such as { requests: 600, perSeconds: 60 }, with whole numbers and at most 86400 seconds",
  );
};

const byteUnits: Record<string, number> = { "": 1, b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };

/** A size in bytes, given as a number or with its unit. */
export const bytes = (value: unknown): number => {
  const match = /^([0-9]+(?:\.[0-9]+)?) *([kmg]?b|)$/i.exec(String(value));
  const size = Math.floor(Number(match?.[1]) * (byteUnits[(match?.[2] ?? "").toLowerCase()] ?? Number.NaN));
  if (match !== null && size >= 1 && size <= 256 * 1024 ** 2) return size;
  throw new Error('must be a size up to 256mb, such as 65536 or "1mb"');
};

/** Origins as browsers send them, and the words for all and for those of this machine. */
export const origins = (value: unknown): readonly string[] => {
  // Another spelling, such as a port that is the scheme's own, would be no page's.
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

/** Addresses and networks of proxies. A network of all addresses would let anybody pose as anybody. */
export const proxies = (value: unknown): readonly string[] => {
  const isProxy = (item: string) => {
    const [address = "", bits, ...rest] = item.split("/");
    const family = isIP(address);
    const most = family === 4 ? 32 : 128;
    const isNetwork = bits === undefined || (/^[1-9][0-9]*$/.test(bits) && Number(bits) <= most);
    return family !== 0 && isNetwork && rest.length === 0;
  };
  const problem = 'must be a list of IP addresses or networks such as ["10.0.0.1", "fd00::/8"]';
  if (Array.isArray(value) && value.every((item) => typeof item === "string" && isProxy(item))) return value;
  throw new Error(problem);
};

/** The files of a certificate and its key. */
export const tlsFiles = (value: unknown): TlsFiles => {
  const members = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const { cert, key } = Object.fromEntries(members);
  const isPath = (path: unknown) => typeof path === "string" && path !== "" && !path.includes("-----BEGIN");
  if (members.length === 2 && isPath(cert) && isPath(key)) return { cert, key };
  throw new Error('must be an object with two file paths: { cert: "server.pem", key: "server.key" }');
};

/** Names and addresses of hosts. */
export const hostNames = (value: unknown): readonly string[] => {
  const list = texts(value);
  if (list.every((item) => /^[a-z0-9._-]+$/i.test(item) || /^[0-9a-f:]+$/i.test(item))) return list;
  throw new Error('must be a list of host names such as "api.example.org", without scheme and port');
};

/** What the log is about. */
export const logged = (value: unknown): string => {
  if (value === "requests" || value === "problems") return value;
  throw new Error('must be "requests" or "problems"');
};

/** The option `history`. */
export interface HistoryOption {
  keep: History;
  showPrincipal: boolean;
}

/** Reads how long changes are kept, and who may see who made them. */
export const history = (value: unknown): HistoryOption => {
  if (value === "forever" || value === "none") return { keep: value, showPrincipal: false };
  const members = typeof value === "object" && value !== null ? Object.entries(value) : [];
  if (members.length === 0 || !members.every(isOfHistory)) throw new Error(wantedHistory);
  const { keep, showPrincipal = false, ...numbers } = Object.fromEntries(members);
  const hasNumbers = Object.keys(numbers).length > 0;
  if (keep !== undefined && hasNumbers) throw new Error(wantedHistory);
  const limits = hasNumbers ? historyOf(numbers) : defaultHistory;
  return { keep: keep ?? limits, showPrincipal };
};

/** With `keepBytes` alone, changes are kept until there are too many bytes of them. */
function historyOf(numbers: Record<string, number>): History {
  const isBounded = numbers.keepDays !== undefined || numbers.keepChanges !== undefined;
  return { keepDays: isBounded ? 0 : Number.POSITIVE_INFINITY, keepChanges: 0, ...numbers };
}

function isOfHistory([name, value]: [string, unknown]): boolean {
  if (name === "keep") return value === "forever";
  if (name === "showPrincipal") return typeof value === "boolean";
  const isNumber = ["keepDays", "keepChanges", "keepBytes"].includes(name);
  return isNumber && Number.isSafeInteger(value) && Number(value) >= 0;
}

const wantedHistory =
  'must be "forever", "none", or an object such as { keepDays: 30, keepChanges: 1000000, keepBytes: 1000000000 } or { keep: "forever", showPrincipal: true }';
