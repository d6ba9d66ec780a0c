/** Two instances with two threads each: a session that has ended is refused everywhere within a second, and its streams end. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { type TestContext, test } from "node:test";
import { serve } from "../../commands/cli.ts";
import { makeFolder } from "../../folder.ts";
import { follow, type OpenStream } from "../../http/follow.ts";
import { databaseFor } from "../../postgres/databases.ts";
import { generator } from "../../seed.ts";
import { type Answer, type Client, clientOf } from "../../threads/served.ts";
import { pause, until } from "../../until.ts";
import { readable, startMailServer } from "./mail-server.ts";

/** A short form. `npm run prove -- users` makes 1,000 races. */
const races = Number(process.env.HOLDFAST_TEST_RACES ?? 40);

/** What a session that has ended can still be used for after the end was confirmed, in milliseconds. */
const graceMs = 1_000;

const password = "correct horse battery staple";

/** How sessions end. Each has a user of its own, because the last way ends all sessions of the user. */
const ways = ["sign-out", "by another session", "confirmation", "new password"] as const;
type Way = (typeof ways)[number];

/** The sessions of each user that are used and ended at the same time. */
const atOnce = 5;

/** A connection to one thread of one instance. */
interface Place extends Client {
  name: string;
  port: number;
}

interface Owned {
  id: string;
  token: string;
}

/** A user, with the session that ends the others. */
interface User {
  email: string;
  password: string;
  main: Owned;
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const random = generator();
const anyOf = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;

function sessionIn({ status, text }: Answer): Owned {
  assert.equal(status, 200, text);
  const { session, token } = JSON.parse(text) as { session: { id: string }; token: string };
  return { id: session.id, token };
}

/** Sends again what was refused because too many passwords of this network are being checked. */
async function send(place: Place, path: string, content: object, token?: string): Promise<Answer> {
  const headers = token === undefined ? {} : bearer(token);
  let answer = await place.send("POST", `_auth/${path}`, { content, headers });
  await until("the password is checked", async () => {
    if (answer.status !== 429) return true;
    assert.match(answer.text, /are being checked/);
    answer = await place.send("POST", `_auth/${path}`, { content, headers });
    return answer.status !== 429;
  });
  return answer;
}

/** Starts an instance, and opens two connections to each of its threads. */
async function startInstance(
  t: TestContext,
  name: string,
  content: object,
  secret: string,
): Promise<Place[]> {
  const cwd = makeFolder({ "holdfast.config.json": JSON.stringify(content) });
  const { origin } = await serve(t, ["--threads", "2"], { cwd, env: { HOLDFAST_SECRET: secret } });
  const found = new Map<string, Place[]>();
  while (found.size < 2 || [...found.values()].some(({ length }) => length < 2)) {
    const client = clientOf(t, origin);
    const { headers } = await client.send("GET", "_auth");
    const thread = String(headers["x-request-id"]).slice(0, 23); // each thread has its own start of ids
    const places = found.get(thread) ?? [];
    found.set(thread, places);
    if (places.length === 2) client.close();
    else
      places.push({ ...client, name: `${name}, thread ${found.size}`, port: Number(new URL(origin).port) });
  }
  return [...found.values()].flat();
}

/** Two instances on one database, and a user for each way. */
async function start(t: TestContext): Promise<{ places: Place[]; users: Map<Way, User> }> {
  const url = await databaseFor(t);
  const server = await startMailServer();
  t.after(() => server.close());
  const content = {
    store: url,
    drainDelayMs: 0,
    collections: {
      users: { id: "uuid", access: { read: "public" } },
      notes: { access: { read: "authenticated", write: "authenticated" } },
    },
    auth: {
      administrators: { role: "ops" },
      users: { collection: "users", signUp: { domains: ["example.org"], roles: [] } },
    },
    mail: { from: "Shop <noreply@shop.example>", smtp: `smtp://127.0.0.1:${server.port}` },
  };
  const secret = randomBytes(32).toString("base64");
  const first = await startInstance(t, "first", content, secret);
  const places = [...first, ...(await startInstance(t, "second", content, secret))];
  const users = new Map<Way, User>();
  for (const [n, way] of ways.entries()) {
    const email = `user${n}@example.org`;
    const asked = await send(anyOf(places), "sign-up", { email, password });
    assert.equal(asked.status, 202, asked.text);
    const mail = () => server.taken.find(({ to }) => to[0] === email)?.raw;
    await until(`a mail to ${email}`, () => mail() !== undefined);
    const [, code] = /#code=([\w-]{9})/.exec(readable(mail() ?? "")) ?? [];
    const { ticket } = JSON.parse(asked.text) as { ticket: string };
    users.set(way, {
      email,
      password,
      main: sessionIn(await send(anyOf(places), "sign-in", { ticket, code })),
    });
  }
  return { places, users };
}

/** One use of a session: when it began, and whether it was accepted. */
interface Use {
  place: string;
  begun: number;
  isAccepted: boolean;
}

/** A session that is used everywhere until more than a second after its end. */
class Race {
  readonly uses: Use[] = [];
  /** When the end was confirmed. */
  endedAt = Number.POSITIVE_INFINITY;
  readonly session: Owned;
  readonly #places: readonly Place[];

  constructor(session: Owned, places: readonly Place[]) {
    this.session = session;
    this.#places = places;
  }

  /** Uses it at one place until a use has begun after the grace. */
  async useAt(place: Place): Promise<void> {
    const headers = bearer(this.session.token);
    for (let n = 0; ; n++) {
      const begun = performance.now();
      const { status, text } = await (n % 4 === 3
        ? place.send("POST", "notes", { content: { n }, headers })
        : place.send("GET", "notes?limit=1", { headers }));
      assert.ok([200, 201, 401].includes(status), text);
      this.uses.push({ place: place.name, begun, isAccepted: status !== 401 });
      if (begun > this.endedAt + graceMs) return;
      await pause(50 + random() * 100);
    }
  }

  use(): Promise<unknown> {
    return Promise.all(this.#places.map((place) => this.useAt(place)));
  }

  /** Whether every place has accepted it. */
  get isKnown(): boolean {
    return this.#places.every(({ name }) => this.uses.some((use) => use.place === name && use.isAccepted));
  }

  /** How long after the end the last accepted use has begun, in milliseconds. */
  get acceptedMs(): number {
    const begun = this.uses.filter(({ isAccepted }) => isAccepted).map((use) => use.begun);
    return Math.max(...begun) - this.endedAt;
  }
}

/** Ends sessions of a user. Each race gets the time at which its end was confirmed. */
async function end(way: Way, user: User, own: readonly Race[], places: readonly Place[]): Promise<void> {
  if (way === "new password") {
    await pause(random() * graceMs);
    user.password = `${password} ${random()}`;
    const content = { password: user.password };
    user.main = sessionIn(await send(anyOf(places), "password", content, user.main.token));
    for (const race of own) race.endedAt = performance.now();
    return;
  }
  await Promise.all(
    own.map(async (race) => {
      await pause(random() * graceMs);
      const place = anyOf(places);
      const { id, token } = race.session;
      if (way === "confirmation") sessionIn(await send(place, "confirm", { password: user.password }, token));
      else {
        const answer =
          way === "sign-out"
            ? await send(place, "sign-out", {}, token)
            : await place.send("DELETE", `_auth/sessions/${id}`, { headers: bearer(user.main.token) });
        assert.ok([204, 205].includes(answer.status), answer.text);
      }
      race.endedAt = performance.now();
    }),
  );
}

test(`in ${races} races, a session that has ended is refused by every thread of two instances after a second`, async (t) => {
  const { places, users } = await start(t);
  const signIn = async ({ email, password }: User, token?: string) =>
    sessionIn(await send(anyOf(places), "sign-in", { email, password }, token));
  const longest = { accepted: Number.NEGATIVE_INFINITY, stream: 0 };
  let uses = 0;
  for (let done = 0; done < races; done += ways.length * atOnce) {
    await Promise.all(
      ways.map(async (way) => {
        const user = users.get(way) as User;
        user.main = await signIn(user, user.main.token); // it is confirmed again
        const own: Race[] = [];
        const streams: { race: Race; stream: OpenStream }[] = [];
        for (let n = 0; n < atOnce; n++) {
          const race = new Race(await signIn(user), places);
          own.push(race);
          const stream = await follow(anyOf(places), "/api/v1/notes/_events", bearer(race.session.token));
          t.after(() => stream.close());
          assert.equal(stream.status, 200);
          streams.push({ race, stream });
        }
        const used = own.map((race) => race.use());
        await until("every thread knows the sessions", () => own.every(({ isKnown }) => isKnown));
        await end(way, user, own, places);
        const ended = streams.map(async ({ race, stream }) => {
          await stream.untilEnded();
          longest.stream = Math.max(longest.stream, performance.now() - race.endedAt);
        });
        await Promise.all([...used, ...ended]);
        for (const race of own) {
          uses += race.uses.length;
          longest.accepted = Math.max(longest.accepted, race.acceptedMs);
          const late = race.uses.filter(
            ({ begun, isAccepted }) => isAccepted && begun > race.endedAt + graceMs,
          );
          assert.deepEqual(late, [], way);
        }
      }),
    );
  }
  t.diagnostic(
    `${uses} uses; the last accepted one began ${longest.accepted.toFixed()} ms after the end, and the last stream ended after ${longest.stream.toFixed()} ms`,
  );
});
