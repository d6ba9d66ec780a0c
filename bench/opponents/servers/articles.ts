/** What the services written for the bench hold articles to: the schema that Holdfast is given too. */
import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { sampleSchema } from "../../ratios/sample.ts";

/** An article as it is sent. */
export interface Article {
  id: string;
  title: string;
  author: string;
  publishedOn: string;
  rating: number;
  tags: string[];
  summary: string;
}

/** What such a program is given: where its store is, and a file to fill it with instead of serving. */
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

/** Says what is wrong with the attributes of an article; undefined where nothing is. */
export function faultOf(value: unknown): string | undefined {
  return fits(value) ? undefined : ajv.errorsText(fits.errors);
}

/** An article of what a client sent, with the id of the path or a new one. */
export function toArticle(value: unknown, id: string = randomUUID()): Article {
  return { ...(value as Omit<Article, "id">), id };
}

/** Changes some attributes, those that are null by taking them away (RFC 7396, one level deep). */
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
