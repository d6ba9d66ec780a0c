/** A service with users, and people who sign in to it. Its mails are kept, as in every local service without a mail server. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { UserSettings } from "../../../../src/capabilities/users/user-settings.ts";
import {
  type Answer,
  type Request,
  type Service,
  type ServiceOptions,
  startFor,
} from "../../../http/service.ts";
import { until } from "../../../until.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** The settings of the tests: everybody can sign up. */
export const openToAll: UserSettings = {
  collection: "users",
  mirror: {},
  signUp: "open",
  methods: ["password", "email"],
  secondFactor: "optional",
  sessions: {
    idle: 14 * dayMs,
    absolute: 90 * dayMs,
    administrators: { idle: hourMs, absolute: dayMs },
  },
  password: { words: [], breached: false },
  roles: undefined,
  origins: [],
  providers: [],
  audit: { keepDays: 365, keepBytes: 1e9 },
};

/** A password that nobody refuses. */
export const goodPassword = "correct horse battery staple";

/** A code in a mail. An address in a mail can have the same shape inside a longer word, which is no code. */
export const codeShape = /(?<![\w-])[0-9A-Z]{4}-[0-9A-Z]{4}(?![\w-])/;

/** The session of somebody who has signed in. */
export interface Signed {
  session: { id: string; expiresAt: string; confirmedUntil: string };
  user: { id: string; email: string; roles: string[]; claims: Record<string, unknown> };
  token: string;
  device?: string;
}

/** What a test does as a person. */
export interface People {
  service: Service;
  /** The mails so far. */
  mails: { to: string; subject: string; text: string }[];
  post(path: string, content: unknown, headers?: Request["headers"]): Promise<Answer>;
  /** The code in the next mail to an address, after `before` mails to it. */
  codeFor(email: string, before?: number): Promise<string>;
  /** Signs somebody up, and returns the first session. */
  join(email: string, more?: { password?: string; profile?: Record<string, unknown> }): Promise<Signed>;
}

/** The header of a caller with a token. */
export function bearer(token: string): { authorization: string } {
  return { authorization: `Bearer ${token}` };
}

/** The body of a successful response. */
export function bodyOf<T>(answer: Answer, status = 200): T {
  assert.equal(answer.status, status, answer.text);
  return answer.json as T;
}

/** The code of a problem, with its status. */
export function problemOf(answer: Answer): string {
  return `${answer.status} ${(answer.json as { code: string }).code}`;
}

/** Starts a service with a collection of profiles, and one of articles that belong to them. */
export async function startPeople(
  t: TestContext,
  {
    users = {},
    ...options
  }: Omit<ServiceOptions, "auth"> & { users?: Partial<UserSettings>; auth?: object } = {},
): Promise<People> {
  const mails: People["mails"] = [];
  const service = await startFor(t, {
    collections: {
      users: {
        schema: {
          type: "object",
          properties: { name: { type: "string", minLength: 1 }, about: { type: "string" } },
          additionalProperties: false,
        },
        access: {
          read: "public",
          update: { where: { id: "$subject" } },
          delete: { where: { id: "$subject" } },
        },
      },
      articles: {
        references: { authorId: { collection: "users", onDelete: "cascade" } },
        access: { read: "public", write: { where: { authorId: "$subject" } } },
      },
    },
    ...options,
    auth: {
      keys: false,
      jwt: undefined,
      administrators: [{ role: "ops" }],
      ...options.auth,
      users: { ...openToAll, ...users },
    },
    onLocalMail: (mail) => mails.push(mail),
  });
  const post: People["post"] = (path, content, headers = {}) =>
    service.send({ method: "POST", path: `/api/v1/_auth/${path}`, content, headers });
  const codeFor: People["codeFor"] = async (email, before = 0) => {
    const own = () => mails.filter(({ to }) => to === email);
    await until(`a mail to ${email}`, () => own().length > before);
    const [code] = codeShape.exec(own().at(-1)?.text ?? "") ?? [];
    assert.ok(code !== undefined, "the mail has a code");
    return code;
  };
  return {
    service,
    mails,
    post,
    codeFor,
    join: async (email, { password = goodPassword, profile = {} } = {}) => {
      const before = mails.filter(({ to }) => to === email).length;
      const asked = await post("sign-up", { email, password, profile });
      const { ticket } = bodyOf<{ ticket: string }>(asked, 202);
      return bodyOf<Signed>(await post("sign-in", { ticket, code: await codeFor(email, before) }));
    },
  };
}
