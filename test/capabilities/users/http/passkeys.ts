/** What tests of passkeys share. */
import type { TestContext } from "node:test";
import type { UserSettings } from "../../../../src/capabilities/users/user-settings.ts";
import { machineTime } from "../../../until.ts";
import { bearer, bodyOf, type People, startPeople } from "./people.ts";
import { SoftwarePasskey, type Wrong } from "./software-passkey.ts";

/** The address of the person in these tests. */
export const ada = "ada@example.org";

/** What a device signs. */
export interface Begun {
  ticket: string;
  options: { challenge: string; rpId: string; allowCredentials?: unknown };
}

/** A service with a clock that the test sets. */
export async function start(t: TestContext, users: Partial<UserSettings> = {}) {
  let now = machineTime();
  const methods = ["password", "email", "passkey"] as const;
  const people = await startPeople(t, { now: () => now, users: { methods, ...users } });
  const wait = (ms: number) => {
    now += ms;
  };
  // A local service is found under the name of this machine.
  const page = `http://localhost:${new URL(people.service.origin).port}`;
  return { ...people, wait, now: () => now, device: () => new SoftwarePasskey(page) };
}

/** Adds a passkey of a new device. */
export async function addPasskey(
  all: People & { device(): SoftwarePasskey },
  token: string,
  wrong: Wrong = {},
) {
  const device = all.device();
  const { ticket, options } = bodyOf<Begun>(await all.post("factors", { kind: "passkey" }, bearer(token)));
  const sent = { ticket, passkey: device.create(options, wrong), name: "laptop" };
  return { device, sent, answer: await all.post("factors", sent, bearer(token)) };
}

/** Signs in with a passkey alone. */
export async function signIn({ post }: People, device: SoftwarePasskey, wrong: Wrong = {}) {
  const { ticket, options } = bodyOf<Begun>(await post("passkey", {}));
  const proof = { ticket, passkey: device.get(options, wrong) };
  return { proof, answer: await post("sign-in", proof) };
}
