/** Defaults: the values of attributes that a create does not contain. */
import { StartFaults } from "../errors/start-faults.ts";
import { Problem, StartError, type Violation } from "../errors.ts";
import { parseJson } from "../json/parse.ts";
import { defaultJsonLimits, isObject } from "../json/values.ts";
import { mustBe, shortJson } from "./messages.ts";
import { relativeTime } from "./relative-times.ts";
import { type Attributes, isAbout, type Validator } from "./resource.ts";

/** The default of one attribute. */
export interface Default {
  name: string;
  /** The value in the configuration, such as `"$now"`. */
  declared: unknown;
  /** Returns the value for one create; `undefined`: no value. */
  valueFor: (creation: Creation) => unknown;
  /** Whether the value is the subject of the caller, so a create requires a credential. */
  namesCaller: boolean;
}

/** The time of a create, and the subject of the caller if the request has a credential. */
export interface Creation {
  at: number;
  subject?: string | undefined;
}

/**
 * The option in a configuration: values by attribute. `"$now"` is the time of the create, `"$now+15m"` a time after it, and `"$subject"` the
 * caller.
 */
export type DefaultsDeclaration = Readonly<Record<string, unknown>>;

/** Whether each create computes the value of a default. */
export function isComputed(declared: unknown): boolean {
  if (typeof declared !== "string" || !declared.startsWith("$")) return false;
  return declared === subject || relativeTime(declared.slice(1), () => 0) !== undefined;
}

/** The formats of a date. The first one that the schema allows is used. */
const dateForms: readonly ((at: number) => unknown)[] = [
  (at) => new Date(at).toISOString(),
  (at) => new Date(at).toISOString().slice(0, 10),
  (at) => at,
];

/**
 * Reads the option `defaults`. `validate` returns the validator of the schema without `required`. Throws StartError with every
 * fault, each with its place below `at`, such as a value that the schema refuses.
 */
export function readDefaults(declared: unknown, at: string, validate: () => Validator): readonly Default[] {
  if (declared === undefined) return [];
  if (!isObject(declared)) throw mustBe(at, "an object", declared);
  const faults = new StartFaults();
  const readable: Default[] = [];
  for (const [name, value] of Object.entries(declared)) {
    const place = `${at}.${name}`;
    faults.read([name], () => {
      requireSettable(name, value, place);
      const valueFor = makerOf(name, value, { place, validate });
      readable.push({ name, declared: value, valueFor, namesCaller: value === subject });
    });
  }
  faults.read([], () =>
    requireFit(readable, validate(), ({ name }) => ({ path: [name], place: `${at}.${name}` })),
  );
  faults.throwIfAny();
  return readable;
}

/** The values of `default` in the schema's own "properties", by attribute. */
export function defaultsInSchema(schema: unknown): Attributes {
  const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {};
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, each]) =>
      isObject(each) && Object.hasOwn(each, "default") ? [[name, each.default]] : [],
    ),
  );
}

/**
 * All defaults: the declared ones, and those in the schema of other attributes, whose values are taken as they are. Throws
 * StartError with every value that the schema refuses or that no client can send, each with its place below `at`.
 */
export function addSchemaDefaults(
  declared: readonly Default[],
  inSchema: Attributes,
  { at, validate }: { at: string; validate: () => Validator },
): readonly Default[] {
  const placeOf = (name: string) => ["properties", name, "default"];
  const faults = new StartFaults();
  const added: Default[] = [];
  for (const [name, value] of Object.entries(inSchema)) {
    if (declared.some((each) => each.name === name)) continue;
    faults.read(placeOf(name), () => {
      requireSettable(name, value, `${at} at ${placeOf(name).join("/")}`);
      const shown = typeof value === "string" && value.startsWith("$") ? `$${value}` : value;
      added.push({ name, declared: shown, valueFor: () => value, namesCaller: false });
    });
  }
  faults.throwIfAny();
  if (added.length === 0) return declared;
  const all = [...declared, ...added];
  requireFit(all, validate(), ({ name }) => {
    const isDeclared = declared.some((each) => each.name === name);
    return isDeclared ? undefined : { path: placeOf(name), place: `${at} at ${placeOf(name).join("/")}` };
  });
  return all;
}

/** Checks all defaults together, because the schema can allow one only together with another. `placeOf` says which to report. */
function requireFit(
  defaults: readonly Default[],
  validate: Validator,
  placeOf: (each: Default) => { path: string[]; place: string } | undefined,
): void {
  const violations = validate(withDefaults({}, defaults, { at: Date.now() }));
  const faults = new StartFaults();
  for (const each of defaults) {
    const [violation] = violationsOf(each.name, violations);
    const found = placeOf(each);
    if (violation !== undefined && found !== undefined)
      faults.add(
        found.path,
        `${found.place}: the schema refuses it: ${violation.pointer} ${violation.detail}.${adviceFor(each.declared)}`,
      );
  }
  faults.throwIfAny();
}

/** What to write for a time from now that lacks its dollar sign, as a space and a sentence. */
function adviceFor(declared: unknown): string {
  const isTime = typeof declared === "string" && relativeTime(declared, () => 0) !== undefined;
  return isTime ? ` For a time from now, write ${shortJson(`$${declared}`)}.` : "";
}

/** The attributes, and the defaults of absent ones. Does not change `attributes`. */
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
  requireSendable({ [name]: value }, at);
}

/** Throws StartError if the service would refuse the value in a request: clients must be able to send it back. */
function requireSendable(attributes: Attributes, at: string): void {
  try {
    parseJson(Buffer.from(JSON.stringify(attributes)), defaultJsonLimits);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    // The line and column belong to a text that does not exist in the configuration.
    throw new StartError(`${at}: ${error.message.replace(/ \(line \d+, column \d+\)/, "")}`);
  }
}

function makerOf(
  name: string,
  value: unknown,
  { place, validate }: { place: string; validate: () => Validator },
): Default["valueFor"] {
  const relative = typeof value === "string" && value.startsWith("$") ? value.slice(1) : "";
  if (relativeTime(relative, () => 0) !== undefined) {
    const formOf = dateFormOf(name, shortJson(value), { at: place, validate: validate() });
    return ({ at }) => formOf(relativeTime(relative, () => at) as number);
  }
  if (value !== subject) {
    const plain = plainOf(value, place);
    return () => plain;
  }
  // The subject is not known yet, but it is always a string.
  if (violationsOf(name, validate()({ [name]: "a" })).some(({ code }) => code === "type"))
    throw new StartError(`${place}: the schema does not allow a string here, but "$subject" is one.`);
  return (creation) => creation.subject;
}

const subject = "$subject";

/** The value of a default that is not computed. `$$` at the start of a text means one dollar sign. */
function plainOf(value: unknown, at: string): unknown {
  if (typeof value !== "string" || !value.startsWith("$")) return value;
  if (value.startsWith("$$")) return value.slice(1);
  throw new StartError(
    `${at}: ${shortJson(value)} is not known. Use "$subject", or a time such as "$now", "$now+15m" (units: s, m, h, d, w) or "$today". For a text that begins with "$", write ${shortJson(`$${value}`)}.`,
  );
}

/** The first date format that the schema allows for the attribute. `shown`: the default in messages. */
function dateFormOf(
  name: string,
  shown: string,
  { at, validate }: { at: string; validate: Validator },
): (at: number) => unknown {
  const now = Date.now();
  const form = dateForms.find((each) => violationsOf(name, validate({ [name]: each(now) })).length === 0);
  if (form !== undefined) return form;
  throw new StartError(`${at}: the schema does not allow a date here, but ${shown} is one.`);
}

function violationsOf(name: string, violations: readonly Violation[]): Violation[] {
  return violations.filter((violation) => isAbout(violation, name));
}

function isJson(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null)
    return value === null || typeof value === "string" || typeof value === "boolean";
  return Object.values(value).every(isJson);
}
