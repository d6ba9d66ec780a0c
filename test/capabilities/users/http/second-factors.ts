/** What tests of the second factor share. */
import type { TestContext } from "node:test";
import type { UserSettings } from "../../../../src/capabilities/users/user-settings.ts";
import { machineTime, until } from "../../../until.ts";
import { codeAt } from "./authenticator-app.ts";
import { bearer, bodyOf, goodPassword, type People, startPeople } from "./people.ts";

/** The address of the person in these tests. */
export const ada = "ada@example.org";
/** A sign-in of this person with the password. */
export const byPassword = { email: ada, password: goodPassword };

/** The response to a first factor: the second one is missing. */
export interface Step {
  next: string;
  ticket: string;
  factors: string[];
}

/** The response to a new factor. */
export interface Added {
  factor: { id: string; kind: string; name?: string };
  recoveryCodes?: string[];
}

/** A service with a clock that the test sets. */
export async function start(t: TestContext, users: Partial<UserSettings> = {}, auth: object = {}) {
  let now = machineTime();
  const people = await startPeople(t, { now: () => now, users, auth });
  const wait = (ms: number) => {
    now += ms;
  };
  const code = (secret: string) => codeAt(secret, now);
  return { ...people, wait, code };
}

/** Waits for a mail. */
export function mailed({ mails }: People, text: RegExp): Promise<void> {
  return until(`a mail with ${text}`, () => mails.some((mail) => text.test(mail.text)));
}

/** Sets up an authenticator app. */
export async function addApp(
  { post, code }: { post: People["post"]; code(secret: string): string },
  token: string,
) {
  const begun = await post("factors", { kind: "totp" }, bearer(token));
  const { ticket, secret, uri } = bodyOf<{ ticket: string; secret: string; uri: string }>(begun);
  const sent = { ticket, totp: code(secret), name: "phone" };
  return { secret, uri, ticket, ...bodyOf<Added>(await post("factors", sent, bearer(token))) };
}

/** The factors of a user. */
export async function factorsOf({ service }: People, token: string) {
  return bodyOf<{ factors: { id: string; kind: string }[]; recoveryCodes: number; asked: string[] }>(
    await service.send({ path: "/api/v1/_auth/factors", headers: bearer(token) }),
  );
}
