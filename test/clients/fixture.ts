/** The service against which each client is tested: with topics and comments, in declared and in open mode. */
import { after, before } from "node:test";
import type { CollectionDeclaration } from "../../src/collection/declaration.ts";
import { type Service, startService } from "../http/service.ts";

/** The modes of the service. Clients work in the same way in both. */
export const modes = ["declared", "open"] as const;

const string = { type: "string" };

const collections: Readonly<Record<string, CollectionDeclaration>> = {
  topics: {
    schema: {
      type: "object",
      required: ["title"],
      properties: {
        title: string,
        views: { type: "integer" },
        published: { type: "boolean" },
        author: { type: "object", properties: { name: string, city: string } },
      },
    },
    indexes: ["views"],
    search: ["title"],
  },
  comments: { schema: { type: "object", properties: { topic_id: string, text: string, views: {} } } },
};

/** A resource as clients see it. */
export interface Topic {
  id: string;
  title: string;
  views: number;
  published: boolean;
  author: { name: string; city?: string };
}

/** The state at the start of a test. */
export interface Fixture {
  service: Service;
  /** The address for the client. */
  url: string;
  /** Twelve topics in the order of their ids, with the titles `Topic a` to `Topic l` and 0 to 110 views. */
  topics: readonly Topic[];
  /** Three comments on the first topic. */
  comments: readonly Record<string, unknown>[];
}

/** Starts the service before the tests of this suite, and stops it afterwards. */
export function useFixture(mode: (typeof modes)[number]): Fixture {
  const fixture: Partial<Fixture> = {};
  before(async () => {
    const service = await startService(mode === "declared" ? { collections } : {});
    fixture.service = service;
    fixture.url = `${service.origin}/api/v1`;
    const create = async (collection: string, attributes: object) =>
      (await service.create(collection, { ...attributes })).body;
    const topics: Record<string, unknown>[] = [];
    for (const [n, letter] of [..."abcdefghijkl"].entries())
      topics.push(await create("topics", attributesOf(n, letter)));
    fixture.topics = topics as unknown as Topic[];
    const comments: Record<string, unknown>[] = [];
    for (const text of ["first", "second", "third"])
      comments.push(await create("comments", { topic_id: topics[0]?.id, text }));
    await create("comments", { topic_id: topics[1]?.id, text: "of another topic" });
    fixture.comments = comments;
  });
  after(() => fixture.service?.stop());
  return fixture as Fixture;
}

function attributesOf(n: number, letter: string): Omit<Topic, "id"> {
  return {
    title: `Topic ${letter}`,
    views: n * 10,
    published: n % 2 === 0,
    author: { name: `Author ${n % 3}` },
  };
}

/** Texts that something between a client and the store may take for something else. */
export const trickyTexts = [
  "",
  " ",
  "5",
  "1e3",
  "true",
  "null",
  "undefined",
  "a,b",
  "[1,2]",
  '{"gte":1}',
  "a&b=c",
  "a+b c",
  "100%",
  "%41",
  "_",
  "it's",
  'say "hi"',
  "back\\slash",
  "#?/;:@",
  "Łódź, 東京, 👩‍👩‍👧",
  "e\u0301",
] as const;

/** A topic of the test's own, which it may change and delete. */
export async function ownTopic({ service }: Fixture, attributes: object = {}): Promise<Topic> {
  const topic = { title: "Own", views: 1000, published: false, author: { name: "Me", city: "Łódź" } };
  return (await service.create("topics", { ...topic, ...attributes })).body as unknown as Topic;
}

/** The current resource with the id; `undefined` if it does not exist. */
export async function kept({ service }: Fixture, id: string): Promise<unknown> {
  const answer = await service.send({ path: `/api/v1/topics/${id}` });
  return answer.status === 404 ? undefined : answer.json;
}
