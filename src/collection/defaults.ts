/** What a new resource gets where the client sent nothing. */
import { StartFaults } from "../errors/start-faults.ts";
import { Problem, StartError, type Violation } from "../errors.ts";
import { parseJson } from "../json/parse.ts";
import { encodeFragment, formatPointer } from "../json/pointer.ts";
import { isObject } from "../json/values.ts";
import type { Attributes, Validator } from "./resource.ts";
import { shown } from "./shown.ts";

/** The value of one attribute of new resources, by the time of their creation and who creates them. */
export interface Default {
  name: string;
  /** `undefined`: none. */
  valueFor: (creation: Creation) => unknown;
  /** Whether it names who creates, so that somebody has to be known. */
  namesCaller: boolean;
}

/** When something is created, and by whom, where that is known. */
export interface Creation {
  at: number;
  subject?: string | undefined;
}

/** How a configuration writes it: values by attribute; `"$now"` is the time of the creation, `"$subject"` who creates. */
export type DefaultsDeclaration = Readonly<Record<string, unknown>>;

/** Those of content where the configuration is silent. */
const jsonLimits = { depth: 64, members: 10_000 };

/** The forms of a date value, the most exact that can be read first. */
const dateForms: readonly ((at: number) => unknown)[] = [
  (at) => new Date(at).toISOString(),
  (at) => new Date(at).toISOString().slice(0, 10),
  (at) => at,
];

/**
 * Reads the option `defaults`. `validate` returns the validator of the schema without `required`. Throws StartError with every
 * fault, each with its place below `at`: values that JSON does not have, and values that the schema refuses.
 */
export function readDefaults(declared: unknown, at: string, validate: () => Validator): readonly Default[] {
  if (declared === undefined) return [];
  if (!isObject(declared)) throw new StartError(`${at} must be an object, not ${shown(declared)}.`);
  const faults = new StartFaults();
  const readable: Default[] = [];
  for (const [name, value] of Object.entries(declared)) {
    const place = `${at}.${name}`;
    faults.read([name], () => {
      requireSettable(name, value, place);
      const valueFor = makerOf(name, value, { place, validate });
      readable.push({ name, valueFor, namesCaller: value === subject });
    });
  }
  faults.read([], () => requireFit(readable, at, validate()));
  faults.throwIfAny();
  return readable;
}

/** Checks all defaults together, since the schema may allow one only together with another. */
function requireFit(defaults: readonly Default[], at: string, validate: Validator): void {
  const violations = validate(withDefaults({}, defaults, { at: Date.now() }));
  const faults = new StartFaults();
  for (const { name } of defaults) {
    const [fault] = faultsOf(name, violations);
    if (fault !== undefined)
      faults.add([name], `${at}.${name}: the schema refuses it: ${fault.pointer} ${fault.detail}.`);
  }
  faults.throwIfAny();
}

/** The attributes with the defaults of those that are not among them. The value given stays as it is. */
export function withDefaults(
  attributes: Attributes,
  defaults: readonly Default[],
  creation: Creation,
): Attributes {
  if (defaults.length === 0) return attributes;
  const all = { ...attributes };
  for (const { name, valueFor } of defaults) {
    const value = Object.hasOwn(all, name) ? undefined : valueFor(creation);
    if (value !== undefined) all[name] = value;
  }
  return all;
}

function requireSettable(name: string, value: unknown, at: string): void {
  if (name === "id") throw new StartError(`${at}: the service sets the id, so it cannot have a default.`);
  if (name === "__proto__") throw new StartError(`${at}: an attribute with this name cannot have a default.`);
  if (!isJson(value)) throw new StartError(`${at} must be a JSON value.`);
  requireKeepable({ [name]: value }, at);
}

/** What a client could not send, it could not send back either. */
function requireKeepable(attributes: Attributes, at: string): void {
  try {
    parseJson(Buffer.from(JSON.stringify(attributes)), jsonLimits);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    // Lines and columns would be those of a text that nobody wrote.
    throw new StartError(`${at}: ${error.message.replace(/ \(line \d+, column \d+\)/, "")}`);
  }
}

function makerOf(
  name: string,
  value: unknown,
  { place, validate }: { place: string; validate: () => Validator },
): Default["valueFor"] {
  if (value === "$now") {
    const now = nowOf(name, place, validate());
    return ({ at }) => now(at);
  }
  if (value !== subject) {
    const plain = plainOf(value, place);
    return () => plain;
  }
  // Nobody knows yet what callers are called: only that it is a string.
  if (faultsOf(name, validate()({ [name]: "a" })).some(({ code }) => code === "type"))
    throw new StartError(`${place}: the schema does not allow a string here, but "$subject" is one.`);
  return (creation) => creation.subject;
}

const subject = "$subject";

/** The value as it is meant: a text that begins with a dollar sign is written with two, since one stands for something. */
function plainOf(value: unknown, at: string): unknown {
  if (typeof value !== "string" || !value.startsWith("$")) return value;
  if (value.startsWith("$$")) return value.slice(1);
  throw new StartError(
    `${at}: ${shown(value)} is not known. Use "$now" or "$subject". For a text that begins with "$", write ${shown(`$${value}`)}.`,
  );
}

/** The first form of a date that the schema takes for the attribute. */
function nowOf(name: string, at: string, validate: Validator): (at: number) => unknown {
  const now = Date.now();
  const form = dateForms.find((each) => faultsOf(name, validate({ [name]: each(now) })).length === 0);
  if (form !== undefined) return form;
  throw new StartError(`${at}: the schema does not allow a date here, but "$now" is one.`);
}

function faultsOf(name: string, violations: readonly Violation[]): Violation[] {
  const place = encodeFragment(formatPointer([name]));
  return violations.filter(({ pointer }) => pointer === place || pointer?.startsWith(`${place}/`) === true);
}

function isJson(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null)
    return value === null || typeof value === "string" || typeof value === "boolean";
  return Object.values(value).every(isJson);
}
