/** Rules, from how they are declared to a decision for a caller. */
import type { Collection } from "../collection/collection.ts";
import { didYouMean } from "../collection/nearest.ts";
import { shown } from "../collection/shown.ts";
import { StartError } from "../errors.ts";
import { isObject } from "../json/gate.ts";
import type { Filter } from "../query/filter.ts";
import { allOf } from "../query/filter-json.ts";
import { type Action, actions, shorthands } from "./actions.ts";
import type { Principal } from "./principal.ts";
import { readWhere } from "./where.ts";

/** Which resources somebody may do something with. */
export type Decision = "everything" | "nothing" | Filter;

/** Decides for a caller. */
export interface Decide {
  (principal: Principal | undefined): Decision;
  /** The filters that the decision may be made of, with samples for what they name of a caller. @default none */
  readonly filters?: readonly Filter[];
}

/** What is decided for each action. */
export type Rules = Readonly<Record<Action, Decide>>;

const nobody: Decide = () => "nothing";

const ifAuthenticated: Decide = (principal) => (principal === undefined ? "nothing" : "everything");

/** The rules of a collection that has none of its own. */
export const defaultRules: Rules = {
  list: ifAuthenticated,
  read: ifAuthenticated,
  create: ifAuthenticated,
  update: ifAuthenticated,
  delete: ifAuthenticated,
};

/** Reads the option `access`. Throws StartError naming the place below `at`. */
export function readRules(declared: unknown, at: string, collection: Collection): Rules {
  if (!isObject(declared)) {
    const example = '{ read: "public", write: "authenticated" }';
    throw new StartError(`${at} must be an object such as ${example}, and is ${shown(declared)}.`);
  }
  requireActions(Object.keys(declared), at);
  const read = new Map(
    Object.entries(declared).map(([name, rule]) => [name, readAnyOf(rule, `${at}.${name}`, collection)]),
  );
  requireListable(read, at);
  const ruleOf = (action: Action) => read.get(action) ?? read.get(shorthandOf(action)) ?? nobody;
  return Object.fromEntries(actions.map((action) => [action, ruleOf(action)])) as Record<Action, Decide>;
}

function requireActions(names: readonly string[], at: string): void {
  const known: readonly string[] = [...actions, ...Object.keys(shorthands)];
  const wrong = names.find((name) => !known.includes(name));
  if (wrong === undefined) return;
  const all = [...new Set(known)];
  const advice = didYouMean(wrong, all) || ` Known are ${all.join(", ")}.`;
  throw new StartError(`${at}.${wrong} is not an action.${advice}`);
}

/** A list shows nothing that could not be read one by one. */
function requireListable(read: ReadonlyMap<string, Decide>, at: string): void {
  if (!read.has("list") || read.has("read")) return;
  throw new StartError(
    `${at}.list: a list shows only what its caller may read, and "read" is not named, so that nobody may.`,
  );
}

function shorthandOf(action: Action): string {
  return shorthands.read.some((each) => each === action) ? "read" : "write";
}

/** One rule, or several of which any suffices. */
function readAnyOf(declared: unknown, at: string, collection: Collection): Decide {
  if (!Array.isArray(declared)) return readRule(declared, at, collection);
  if (declared.length === 0) throw new StartError(`${at} is an empty list: say "nobody" if that is meant.`);
  const rules = declared.map((each, n) => readRule(each, `${at}[${n}]`, collection));
  const decide = (principal: Principal | undefined) => anyOf(rules.map((each) => each(principal)));
  return Object.assign(decide, { filters: rules.flatMap(({ filters = [] }) => filters) });
}

function anyOf(decisions: readonly Decision[]): Decision {
  if (decisions.includes("everything")) return "everything";
  const filters = decisions.filter((each) => typeof each !== "string");
  const [first, ...others] = filters;
  if (first === undefined) return "nothing";
  return others.length === 0 ? first : { kind: "or", filters };
}

/** What both decisions leave. */
export function both(a: Decision, b: Decision): Decision {
  if (a === "nothing" || b === "nothing") return "nothing";
  if (a === "everything" || a === b) return b;
  return b === "everything" ? a : allOf([a, b]);
}

const words: Readonly<Record<string, Decide>> = {
  public: () => "everything",
  authenticated: ifAuthenticated,
  nobody,
};

function readRule(declared: unknown, at: string, collection: Collection): Decide {
  if (typeof declared === "string") {
    const rule = Object.hasOwn(words, declared) ? words[declared] : undefined;
    if (rule !== undefined) return rule;
    const advice = didYouMean(declared, Object.keys(words));
    throw new StartError(
      `${at}: ${shown(declared)} is not a rule.${advice} A role is written { role: ${shown(declared)} }.`,
    );
  }
  if (!isObject(declared) || Object.keys(declared).length === 0) throw notARule(declared, at);
  const wrong = Object.keys(declared).find((name) => name !== "role" && name !== "where");
  if (wrong !== undefined) {
    const advice = didYouMean(wrong, ["role", "where"]) || ' There are "role" and "where".';
    throw new StartError(`${at}.${wrong} is not part of a rule.${advice}`);
  }
  return readParts(declared, at, collection);
}

function notARule(declared: unknown, at: string): StartError {
  const forms = '"public", "authenticated", "nobody", { role: … } or { where: … }';
  return new StartError(`${at} must be ${forms}, or a list of these, and is ${shown(declared)}.`);
}

function readParts(declared: Record<string, unknown>, at: string, collection: Collection): Decide {
  const role = Object.hasOwn(declared, "role") ? readRole(declared.role, `${at}.role`) : undefined;
  const where = Object.hasOwn(declared, "where") ? readWhere(declared.where, at, collection) : undefined;
  const decide = (principal: Principal | undefined) => {
    if (role !== undefined && principal?.roles.includes(role) !== true) return "nothing";
    return where === undefined ? "everything" : (where(principal) ?? "nothing");
  };
  return Object.assign(decide, { filters: where === undefined ? [] : [where.sample] });
}

function readRole(declared: unknown, at: string): string {
  if (typeof declared === "string" && declared !== "") return declared;
  throw new StartError(`${at} must be the name of a role, and is ${shown(declared)}.`);
}
