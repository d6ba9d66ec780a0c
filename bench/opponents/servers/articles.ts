/** The checks of articles in the services written for the bench. Holdfast has the same schema. */
import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { sampleSchema } from "../../ratios/sample.ts";

/** An article in a request or response. */
export interface Article {
  id: string;
  title: string;
  author: string;
  publishedOn: string;
  rating: number;
  tags: string[];
  summary: string;
}

/** The argument of such a program: its store, or a file to fill the store with instead of serving. */
export interface Task {
  folder: string;
  fill?: string;
}

/** The task in the argument. */
export function readTask(): Task {
  return JSON.parse(process.argv[2] as string) as Task;
}

const ajv = new Ajv2020({ allErrors: true });
addFormats.default(ajv);
const fits = ajv.compile<Omit<Article, "id">>(sampleSchema);

/** What is wrong with the attributes of an article; `undefined` if they are valid. */
export function faultOf(value: unknown): string | undefined {
  return fits(value) ? undefined : ajv.errorsText(fits.errors);
}

/** The article of a request, with the id of the path or a new id. */
export function toArticle(value: unknown, id: string = randomUUID()): Article {
  return { ...(value as Omit<Article, "id">), id };
}

/** Applies a merge patch of one level (RFC 7396). Null removes an attribute. */
export function merge(article: Article, patch: Record<string, unknown>): Article {
  const merged: Record<string, unknown> = { ...article, ...patch };
  for (const [name, value] of Object.entries(patch)) if (value === null) delete merged[name];
  return merged as unknown as Article;
}

/** The articles of a file, an object on each line. */
export async function* readArticles(file: string): AsyncGenerator<Article> {
  for await (const line of createInterface({ input: createReadStream(file) }))
    yield JSON.parse(line) as Article;
}
