/**
 * The console and the page for signing in: two web pages, and the files that they load. The build writes them to `dist/console/`, with a list of their names.
 * They are read on first use, and then kept in memory: about three megabytes.
 */
import { randomBytes } from "node:crypto";
import { readBuiltFile } from "../../program.ts";
import type { Document } from "../operations/result.ts";
import { acceptedCodings } from "../protocol/codings.ts";
import type { Coding, HttpRequest } from "../protocol/message.ts";
import type { Surface } from "../service.ts";
import { escapeHtml } from "./html-page.ts";

/** The types of the files. A text has two compressed forms beside it. */
const types: Readonly<Record<string, { type: string; isText: boolean }>> = {
  css: { type: "text/css; charset=utf-8", isText: true },
  js: { type: "text/javascript; charset=utf-8", isText: true },
  woff2: { type: "font/woff2", isText: false },
};

/** The names contain a hash of the content, so the content behind a name never changes. */
const forever = "public, max-age=31536000, immutable";

/** The console; `undefined` if it was not built. */
export async function consolePage({ settings }: Surface): Promise<Document | undefined> {
  const { prefix, consoleTags } = settings;
  return builtPage("index.html", { prefix, ...consoleTags });
}

/** A page of the build, with these tags; `undefined` if it was not built. */
export async function builtPage(
  name: string,
  tags: Readonly<Record<string, string>>,
): Promise<Document | undefined> {
  const html = (await read(name))?.toString();
  if (html === undefined) return undefined;
  const nonce = randomBytes(18).toString("base64");
  return {
    status: 200,
    type: "text/html; charset=utf-8",
    body: html.replace(prefixTag, () => metaTags({ ...tags, nonce })),
    headers: {
      "content-security-policy": policyOf(nonce),
      "cross-origin-opener-policy": "same-origin",
    },
  };
}

/** The prefix in the page as it is built. */
const prefixTag = /<meta name="holdfast-prefix"[^>]*>/;

function metaTags(contents: Readonly<Record<string, string>>): string {
  return Object.entries(contents)
    .map(([name, content]) => `<meta name="holdfast-${name}" content="${escapeHtml(content)}">`)
    .join("");
}

/**
 * What the page may load, in place of the Content-Security-Policy of other responses: only files and responses of this
 * service. The page makes the styles of its editor and of its theme at run time. They carry the nonce.
 */
function policyOf(nonce: string): string {
  return `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}

/**
 * A file that a page loads, such as `_console/index-1x2y3z.js`; `undefined` if the build has no such file. A service without the
 * console has only the files of the page for signing in.
 */
export async function consoleFile(
  { settings }: Surface,
  path: string,
  request: HttpRequest,
): Promise<Document | undefined> {
  const { type, isText } = types[path.slice(path.lastIndexOf(".") + 1)] ?? {};
  const isServed = settings.console || path.startsWith("_console/sign-in-");
  if (type === undefined || !isServed || !(await names()).includes(path)) return undefined;
  const coding = isText && settings.compression ? codingFor(request) : undefined;
  const body = await read(coding === undefined ? path : `${path}.${coding}`);
  if (body === undefined) return undefined;
  const etag = `"${path.slice(path.indexOf("/") + 1)}"`;
  return { status: 200, type, body, etag, coding, headers: { "cache-control": forever } };
}

function codingFor({ headers }: HttpRequest): Coding | undefined {
  const value = headers["accept-encoding"];
  return value === undefined ? undefined : acceptedCodings(value).preferred;
}

/** The paths of all files that the page can load. No other file is served, whatever a request names. */
async function names(): Promise<readonly string[]> {
  return JSON.parse((await read("files.json"))?.toString() ?? "[]");
}

/** Files that were read before. There are no more than those of the build. */
const loaded = new Map<string, Buffer>();

async function read(path: string): Promise<Buffer | undefined> {
  const file = loaded.get(path) ?? (await readBuiltFile(`console/${path}`));
  if (file !== undefined) loaded.set(path, file);
  return file;
}
