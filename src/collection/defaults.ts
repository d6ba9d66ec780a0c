/** What a new resource gets where the client sent nothing. */
import { Problem, StartError, type Violation } from "../errors.ts";
import { parseJson } from "../json/gate.ts";
import { asFragment, formatPointer } from "../json/pointer.ts";
import type { Attributes, Validator } from "./collection.ts";
import { shown } from "./shown.ts";

/** The value of one attribute of new resources, at the time of their creation. */
export interface Default {
  name: string;
  valueAt: (at: number) => unknown;
}

/** How a configuration writes it: values by attribute; `"$now"` is the time of the creation. */
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
 * Reads the option `defaults`. `validate` is the schema's validator without what is required. Throws StartError naming
 * the place below `at` for what is no JSON, and for what the schema would refuse in every resource that gets it.
 */
export function readDefaults(declared: unknown, at: string, validate: Validator): readonly Default[] {
  if (declared === undefined) return [];
  if (!isObject(declared)) throw new StartError(`${at} must be an object, and is ${shown(declared)}.`);
  const defaults = Object.entries(declared).map(([name, value]) => {
    const place = `${at}.${name}`;
    requireSettable(name, value, place);
    return { name, valueAt: value === "$now" ? nowOf(name, place, validate) : () => value };
  });
  // Together, since an attribute may be right beside another only.
  const attributes = withDefaults({}, defaults, Date.now());
  for (const { name } of defaults) {
    const fault = faultsOf(name, validate(attributes))[0];
    if (fault !== undefined)
      throw new StartError(`${at}.${name}: the schema refuses it: ${fault.pointer} ${fault.detail}.`);
  }
  return defaults;
}

/** The attributes with the defaults of those that are not among them. The value given stays as it is. */
export function withDefaults(attributes: Attributes, defaults: readonly Default[], at: number): Attributes {
  if (defaults.length === 0) return attributes;
  const all = { ...attributes };
  for (const { name, valueAt } of defaults) if (!Object.hasOwn(all, name)) all[name] = valueAt(at);
  return all;
}

function requireSettable(name: string, value: unknown, at: string): void {
  if (name === "id") throw new StartError(`${at}: the service looks after the id; it has no default.`);
  if (name === "__proto__") throw new StartError(`${at}: an attribute of this name has no default.`);
  if (value === "$subject") {
    throw new StartError(
      `${at}: "$subject" is not supported yet, since nobody is authenticated in this release.`,
    );
  }
  if (!isJson(value)) throw new StartError(`${at} must be a value that JSON has.`);
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

/** The first form of a date that the schema takes for the attribute. */
function nowOf(name: string, at: string, validate: Validator): (at: number) => unknown {
  const now = Date.now();
  const form = dateForms.find((each) => faultsOf(name, validate({ [name]: each(now) })).length === 0);
  if (form !== undefined) return form;
  throw new StartError(`${at}: the schema takes no form of a date for it, and "$now" is one.`);
}

function faultsOf(name: string, violations: readonly Violation[]): Violation[] {
  const place = asFragment(formatPointer([name]));
  return violations.filter(({ pointer }) => pointer === place || pointer?.startsWith(`${place}/`) === true);
}

function isJson(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null)
    return value === null || typeof value === "string" || typeof value === "boolean";
  return Object.values(value).every(isJson);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
