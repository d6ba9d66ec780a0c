/** Reads the members of nested options, such as those of `auth.users`. */
import { mustBe, shortJson, withKnownMembers } from "./collection/messages.ts";
import { StartFaults } from "./errors/start-faults.ts";
import { StartError } from "./errors.ts";
import { isObject } from "./json/values.ts";
import type { Reader } from "./option.ts";

/** Reads the value at a place; `undefined` if the member is missing. Throws StartError. */
export type MemberReader<Value> = (value: unknown, place: string) => Value | undefined;

export type MemberReaders<Members> = { [Name in keyof Members]-?: MemberReader<Members[Name]> };

/** The reader of a member that can be missing. */
export function simply<Value>(read: Reader<Value>): MemberReader<Value> {
  return (value, place) => {
    if (value === undefined) return undefined;
    try {
      return read(value);
    } catch (error) {
      throw new StartError(`${place} ${(error as Error).message}, not ${shortJson(value)}.`);
    }
  };
}

/** Members that would keep a secret in the file, and the variables for them. */
type SecretMembers = Readonly<Record<string, string>>;

/** Reads the members of an object. A member of `secrets` is a fault. Throws StartError with the faults of all members. */
export function membersOf<Members extends object>(
  value: unknown,
  place: string,
  readers: MemberReaders<Members>,
  secrets: SecretMembers = { secret: "HOLDFAST_SECRET" },
): Partial<Members> {
  if (!isObject(value)) throw mustBe(place, "an object", value);
  const faults = new StartFaults();
  const isSecret = (name: string) => Object.hasOwn(secrets, name);
  for (const name of Object.keys(value).filter(isSecret)) {
    const advice = `Files are copied and shared. Set the environment variable ${secrets[name]} instead.`;
    faults.add([name], `${place}.${name}: a configuration has no secrets. ${advice}`);
  }
  const others = Object.fromEntries(Object.entries(value).filter(([name]) => !isSecret(name)));
  const refuse = (name: string) => `${place}.${name} is not an option.`;
  const given = withKnownMembers(others, { names: Object.keys(readers), refuse }, faults);
  const members = Object.entries<MemberReader<unknown>>(readers).map(
    ([name, read]) => [name, faults.read([name], () => read(given[name], `${place}.${name}`))] as const,
  );
  faults.throwIfAny();
  const values = members.map(([name, read]) => [name, read()]);
  return Object.fromEntries(values.filter(([, each]) => each !== undefined)) as Partial<Members>;
}
