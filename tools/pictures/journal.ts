/** The service that the pictures show: a journal about the sea, with authors, articles and comments. */
import { claimsAt, createPair, settingsFor, tokenOf } from "../../test/access/issuer.ts";
import { type Service, startService } from "../../test/http/service.ts";

const text = { type: "string" };

const articleSchema = {
  title: "Article",
  description: "What the journal has published since 1951.",
  type: "object",
  required: ["title", "status", "authorId"],
  properties: {
    title: { ...text, minLength: 1, maxLength: 200 },
    status: { enum: ["draft", "review", "published"], default: "draft" },
    authorId: text,
    views: { type: "integer", minimum: 0 },
    tags: { type: "array", items: text },
    publishedOn: { ...text, format: "date" },
    summary: { ...text, maxLength: 2_000 },
  },
  additionalProperties: false,
};

const isPublished = { role: "author", where: { status: "published" } };
const isOwn = { where: { authorId: "$subject" } };
const editors = { role: "editor" };

const collections = {
  articles: {
    schema: articleSchema,
    timestamps: true,
    search: ["title", "summary"],
    references: { authorId: { collection: "authors" } },
    access: { read: [isPublished, isOwn, editors], update: [isOwn, editors], write: editors },
  },
  authors: {
    schema: { type: "object", required: ["name"], properties: { name: text, born: { type: "integer" } } },
    access: { read: "authenticated", write: editors },
  },
  comments: {
    schema: { type: "object", properties: { text, articleId: text } },
    references: { articleId: { collection: "articles" } },
    access: { read: "authenticated", write: "authenticated" },
  },
  issues: { access: { read: "authenticated", write: editors } },
} as const;

const authors = [
  { id: "ada", name: "Ada Byron", born: 1815 },
  { id: "grace", name: "Grace Darling", born: 1815 },
  { id: "mary", name: "Mary Somerville", born: 1780 },
  { id: "rachel", name: "Rachel Carson", born: 1907 },
];

const titles = [
  "The sea around us",
  "How tides are predicted",
  "A field guide to kelp forests",
  "Notes on the analytical engine",
  "Letters from the lighthouse",
  "On the connexion of the physical sciences",
  "Salt, stone and storm",
  "What the anchor remembers",
  "Charts of the northern passage",
  "The bottom of the North Sea",
  "A short history of knots",
  "Weather signals and what they mean",
  "Harbours that moved",
];
const tags = ["sea", "biology", "computing", "letters", "maths", "maps", "craft"];
const statuses = ["published", "draft", "published", "review"];

const articleCount = 260;

const articles = Array.from({ length: articleCount }, (_, n) => {
  const status = statuses[n % statuses.length];
  return {
    title: titleOf(n),
    status,
    authorId: authors[(n + Math.floor(n / 4)) % authors.length]?.id,
    ...(status !== "draft" && { views: (n * 7_919) % 9_000 }),
    tags: [0, 1, 2].slice(n % 3).map((step) => tags[(n + step * 2) % tags.length]),
    ...(status === "published" && { publishedOn: `${1951 + (n % 70)}-0${1 + (n % 9)}-1${n % 10}` }),
    summary: "The sea lies all about us. The commerce of all lands must cross it.",
  };
});

function titleOf(n: number): string {
  const part = Math.floor(n / titles.length);
  return `${titles[n % titles.length]}${part === 0 ? "" : `, part ${part + 1}`}`;
}

/** The article whose history and whose conflict the pictures show. */
export const mainTitle = "The winter sea";

/** A running journal. */
export interface Journal {
  service: Service;
  /** The id of the main article. */
  id: string;
  /** A token of a person: Grace is the editor, and administers the service. */
  token(subject: string): string;
  /** Changes the main article. */
  patch(subject: string, attributes: object): Promise<void>;
  stop(): Promise<void>;
}

const hourMs = 3_600_000;

/** Starts a journal that was filled over the last five days. */
export async function startJournal(): Promise<Journal> {
  const pair = createPair("EdDSA");
  // The clock of the service is late while it is filled.
  let lateMs = 120 * hourMs;
  const now = () => Date.now() - lateMs;
  const token = (sub: string) =>
    tokenOf(pair, claimsAt(now(), { sub, roles: [sub === "grace" ? "editor" : "author"] }));
  const service = await startService({
    collections,
    seeds: { authors },
    console: true,
    showPrincipal: true,
    now,
    isWatched: false,
    auth: { keys: false, jwt: settingsFor([pair]), administrators: [{ role: "editor" }] },
    probe: { standstillMs: Number.POSITIVE_INFINITY },
  });
  const send = async (subject: string, method: string, path: string, content: object, type = "json") => {
    const headers = { Authorization: `Bearer ${token(subject)}`, "Content-Type": `application/${type}` };
    const answer = await service.send({ method, path: `/api/v1/${path}`, headers, content });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.json as { id: string };
  };
  for (const article of articles) await send("grace", "POST", "articles", article);
  const main = { title: "The winter see", status: "draft", authorId: "rachel", tags: ["sea"] };
  const { id } = await send("grace", "POST", "articles", main);
  const patch = async (subject: string, attributes: object) => {
    await send(subject, "PATCH", `articles/${id}`, attributes, "merge-patch+json");
  };
  for (const words of ["Read in one evening.", "The map on page 4 is missing."])
    await send("grace", "POST", "comments", { text: words, articleId: id });
  lateMs = 50 * hourMs;
  await patch("rachel", { title: mainTitle, summary: "In winter the sea is grey and never still." });
  lateMs = 26 * hourMs;
  await patch("rachel", {
    summary: "In winter the sea is grey, and it is never still.",
    tags: ["sea", "weather"],
    views: 0,
  });
  lateMs = 3 * hourMs;
  await patch("grace", { status: "review" });
  lateMs = 0;
  return { service, id, token, patch, stop: () => service.stop() };
}
