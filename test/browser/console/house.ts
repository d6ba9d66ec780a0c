/** A service in which every screen of the console has something to show, and the caller who can open all of them. */
import assert from "node:assert/strict";
import { claimsAt, createPair, settingsFor, tokenOf } from "../../access/issuer.ts";
import { type Receiver, startReceiver } from "../../capabilities/webhooks/http/receiver.ts";
import type { Service } from "../../http/service.ts";
import { machineTime, until } from "../../until.ts";
import { seeds, startShop } from "./console-page.ts";

/** The service, and how its administrator uses it. */
export interface House {
  service: Service;
  /** The token of an administrator who can do everything. */
  token: string;
  receiver: Receiver;
  /** Sends a request as the administrator. Fails if the service refuses it. */
  send(
    method: string,
    path: string,
    content?: object,
    more?: Record<string, string>,
  ): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

const text = { type: "string" };
const access = { read: { role: "ops" }, write: { role: "ops" } } as const;

/** Attributes of every kind. */
const properties = {
  title: { type: "string", minLength: 1, maxLength: 40, description: "What readers see first." },
  status: { enum: ["draft", "published"] },
  views: { type: "integer", minimum: 0 },
  author: text,
  editors: { type: "array", items: text },
  rating: { type: ["number", "null"] },
  open: { type: "boolean" },
  day: { type: "string", format: "date" },
  time: { type: "string", format: "date-time" },
  tags: { type: "array", items: text },
  body: { type: "string", maxLength: 2_000 },
  size: { type: "object" },
};

/** The attributes that some articles have beside those of `seeds`. */
const more = {
  editors: ["ada", "bob"],
  rating: null,
  open: true,
  day: "2026-05-04",
  time: "2026-05-04T10:20:30.000Z",
  tags: ["sea", "coast", "tide", "harbour"],
  body: "One line.\nAnd another one.",
  size: { pages: 12 },
};

/** Opens the house. The test must close it. */
export async function openHouse(): Promise<House> {
  const pair = createPair("EdDSA");
  const { authors = [], articles = [] } = seeds(5);
  const service = await startShop({
    auth: { keys: true, jwt: settingsFor([pair]), administrators: [{ role: "ops" }], keyRoles: ["reader"] },
    metrics: "administrators",
    collections: {
      authors: { access, schema: { type: "object", properties: { name: text } }, search: ["name"] },
      articles: {
        access,
        search: ["title"],
        unique: [["title", "day"]],
        references: {
          author: { collection: "authors", inverse: "written" },
          editors: { collection: "authors", inverse: "edited" },
        },
        schema: { type: "object", required: ["title"], properties },
      },
      notes: { access },
    },
    seeds: { authors, articles: articles.map((each, n) => (n % 2 === 0 ? { ...each, ...more } : each)) },
  });
  const receiver = await startReceiver((_, response) => void response.writeHead(503).end("Closed for lunch"));
  const token = tokenOf(pair, claimsAt(machineTime(), { sub: "olga", roles: ["ops"] }));
  const send: House["send"] = async (method, path, content, more) => {
    const patch = method === "PATCH" && { "Content-Type": "application/merge-patch+json", "If-Match": "*" };
    const headers = { Authorization: `Bearer ${token}`, ...patch, ...more };
    const answer = await service.send({ method, path: `/api/v1/${path}`, headers, content });
    assert.ok(answer.status < 300, answer.text);
    return answer.text === "" ? {} : (answer.json as Record<string, unknown>);
  };
  const close = async () => {
    await receiver.close();
    await service.stop();
  };
  await fill(send, receiver).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return { service, token, receiver, send, close };
}

async function fill(send: House["send"], receiver: Receiver): Promise<void> {
  await send("POST", "_keys", { name: "site", roles: ["reader"], scopes: ["articles:read"] });
  const { prefix } = await send("POST", "_keys", { name: "old", expiresAt: "2100-01-01T00:00:00Z" });
  await send("POST", `_keys/${prefix}/_revoke`);
  const { id } = await send("POST", "_webhooks", {
    url: receiver.url,
    collections: ["articles"],
    description: "The search",
  });
  await send("PATCH", "articles/a002", {
    title: "Second",
    tags: ["sea"],
    body: "One line.\nAnd a third one.",
    rating: 3,
  });
  await send("PATCH", "articles/a002", { open: null });
  const note = await send("POST", "notes", { text: "Gone" });
  await send("DELETE", `notes/${note.id}`, undefined, { "If-Match": "*" });
  const invalid = [{ title: "Lost", status: "lost" }, { title: "" }];
  await send("POST", "articles/_import?skipInvalid=true", invalid, { Prefer: "respond-async" });
  const update = { update: { tags: { $set: ["sea"] } }, filter: { id: "a003" }, max: 10 };
  const { id: task } = await send("POST", "articles/_bulk", update, { Prefer: "respond-async" });
  await until("the task is done", async () => (await send("GET", `_tasks/${task}`)).state === "done");
  await until("the webhook has a delivery that failed", async () => {
    const deliveries = (await send("GET", `_webhooks/${id}/_deliveries`)) as unknown as unknown[];
    return deliveries.length > 0;
  });
}
