/**
 * A weekly digest: every Monday at 7:00, each subscriber gets the articles of the last week by mail.
 * Run: npx node examples/digest/mails.ts, then npx holdfast serve --config examples/digest/holdfast.config.ts
 */
import { defineConfig, isProblem, typedCode } from "holdfast";

const mailService = process.env.MAILS ?? "http://127.0.0.1:4000/";

const text = { type: "string", maxLength: 10_000 } as const;
const email = { type: "string", format: "email", maxLength: 200 } as const;
const week = 7 * 24 * 60 * 60 * 1000;

const { job, withConsumers } = typedCode({
  articles: {
    schema: { type: "object", required: ["title"], properties: { title: text } },
    timestamps: true,
    indexes: ["createdAt"],
  },
  subscribers: {
    schema: { type: "object", required: ["email"], properties: { email } },
    unique: ["email"],
  },
  /** The mails, sent or not. The collection and its consumer are a queue. */
  mails: {
    schema: {
      type: "object",
      required: ["to", "subject", "text"],
      properties: { to: email, subject: text, text, sentAt: { type: "string", format: "date-time" } },
    },
  },
});

export default defineConfig({
  store: "sqlite:digest.db",
  collections: withConsumers({
    mails: {
      send: {
        types: ["created"],
        as: "service",
        run: async ({ event, client, signal }) => {
          const { to, subject, text } = event.data;
          // The mail service sends once for a key. If it fails, Holdfast calls this function again later.
          const headers = { "Content-Type": "application/json", "Idempotency-Key": event.subject };
          const body = JSON.stringify({ to, subject, text });
          const sent = await fetch(mailService, { method: "POST", headers, body, signal });
          if (!sent.ok) throw new Error(`The mail service responded with ${sent.status}.`);
          await client.mails.patch(event.subject, { sentAt: new Date().toISOString() });
        },
      },
    },
  }),
  jobs: {
    digest: job({
      cron: "0 7 * * 1",
      timezone: "Europe/Oslo",
      as: "service",
      run: async ({ client, due }) => {
        const since = new Date(due.getTime() - week).toISOString();
        const filter = { createdAt: { gte: since, lt: due.toISOString() } };
        const articles = await client.articles.list({ filter, sort: "createdAt" }).all();
        if (articles.length === 0) return;
        const text = articles.map(({ title }) => `- ${title}`).join("\n");
        for await (const { id, email } of client.subscribers.list({})) {
          const mail = { to: email, subject: `New: ${articles.length}`, text };
          // A run can begin again after a crash. The id makes one mail of one time and one subscriber.
          await client.mails.create(mail, { id: `${due.getTime()}-${id}` }).catch((error) => {
            if (!isProblem(error, "PRECONDITION_FAILED")) throw error;
          });
        }
      },
    }),
  },
});
