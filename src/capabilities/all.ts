/** Every capability. No other file of the core imports from one. */
import type {
  AroundHooks,
  Capability,
  CheckedConfiguration,
  Core,
  EndpointOf,
  Get,
  InStore,
  Loaded,
  Need,
  OpenCapability,
  OpenWriteHooks,
  RestOfConfiguration,
  Surroundings,
} from "../capability.ts";
import type { Collection } from "../collection/collection.ts";
import type { CommandLine, CommandRow } from "../command.ts";
import type { StartFaults } from "../errors/start-faults.ts";
import type { StartFault } from "../errors.ts";
import type { Endpoint } from "../http/endpoint/endpoint.ts";
import type { AddedEndpoints } from "../http/endpoints/endpoint-table.ts";
import type { HttpSettings } from "../http/settings.ts";
import type { Mirrored } from "../import/item-reader.ts";
import type { Store, StoreReader } from "../store/port/store.ts";
import { code } from "./code/capability.ts";
import { tokens } from "./tokens/capability.ts";
import { users } from "./users/capability.ts";
import { webhooks } from "./webhooks/capability.ts";

/** The order in which they open, and of their rows in tables. `tokens` is last: it takes any text as a token, so the others must look first. */
const all = [code, webhooks, users, tokens] as const;

type Known = (typeof all)[number];
type CodeOf<C extends Known> = Awaited<ReturnType<C["load"]>>;
/** A type that has the members of all members of a union. */
type Every<T> = (T extends unknown ? (each: T) => void : never) extends (all: infer I) => void ? I : never;
type Options = Every<Known["options"]>;

/** The name of a capability. */
export type CapabilityName = Known["name"];

/** The settings of each capability, by its name. */
export type SettingsOfCapabilities = { [C in Known as C["name"]]: ReturnType<C["settings"]> };

/** Each open capability, by its name. */
export type OpenCapabilities = { [C in Known as C["name"]]: Awaited<ReturnType<CodeOf<C>["open"]>> };

/** What a test can replace in each capability, by its name. */
export type ReplacedInCapabilities = {
  [C in Known as C["name"]]?: NonNullable<Parameters<CodeOf<C>["open"]>[2]>;
};

/** The options of all capabilities. */
export const optionsOfCapabilities = Object.assign({}, ...all.map(({ options }) => options)) as Options;

/** For each capability, a function that returns its settings. It throws StartError if they have faults. */
export type SettingsReading = { [Name in CapabilityName]: () => SettingsOfCapabilities[Name] };

/** Reads the settings of each capability. `read` collects the faults of each, so that a fault of one hides no fault of another. */
export function readSettings(
  get: Get<Options>,
  around: Surroundings,
  read: <T>(work: () => T) => () => T,
): SettingsReading {
  const readings = all.map((each) => [each.name, read<unknown>(() => each.settings(get, around))]);
  return Object.fromEntries(readings) as SettingsReading;
}

/** The settings of all capabilities. Throws StartError. */
export function settingsIn(reading: SettingsReading): SettingsOfCapabilities {
  const settings = Object.entries(reading).map(([name, read]) => [name, read()]);
  return Object.fromEntries(settings) as unknown as SettingsOfCapabilities;
}

/** A reading of settings that were checked before. It never throws. */
export function readingOf(settings: SettingsOfCapabilities): SettingsReading {
  const readings = all.map(({ name }) => [name, () => settings[name]]);
  return Object.fromEntries(readings) as SettingsReading;
}

/** A face without its exact types. */
type Face = Pick<
  Capability,
  | "secrets"
  | "members"
  | "functions"
  | "declare"
  | "explainFault"
  | "check"
  | "isCredential"
  | "encryptsFor"
  | "forHttp"
  | "forTests"
> & {
  readonly name: CapabilityName;
};

const faces: readonly Face[] = all;

/** Whether callers can authenticate by way of a capability. Throws StartError. */
export function haveCredentials(reading: SettingsReading): boolean {
  return faces.some(({ name, isCredential }) => isCredential?.(reading[name]()) === true);
}

/** Checks that the rest of the configuration fits the settings of each capability. Throws StartError, also for faulty settings. */
export function checkSettings(
  reading: SettingsReading,
  rest: () => RestOfConfiguration,
  read: (work: () => void) => void,
): void {
  for (const { name, check } of faces) read(() => check?.(reading[name](), rest()));
}

/** The option with which the service always encrypts; `undefined` if it has none. Throws StartError. */
export function encryptsFor(reading: SettingsReading): string | undefined {
  return faces.map((each) => each.encryptsFor?.(reading[each.name]())).find((option) => option !== undefined);
}

/** What the HTTP interface does because of capabilities. Throws StartError. */
export function settingsForHttp(reading: SettingsReading): Partial<HttpSettings> {
  return Object.assign({}, ...faces.map(({ name, forHttp }) => forHttp?.(reading[name]())));
}

/** The members of a declared collection that capabilities read. */
export const membersOfCollections: readonly string[] = faces.flatMap(({ members = [] }) => members);

const functionPlaces = faces.flatMap(({ functions = [] }) => functions.map((place) => place.split(".")));

/** Whether a configuration that is a module can have a function at a place. */
export function canBeFunction(path: readonly string[]): boolean {
  return functionPlaces.some(
    (place) => place.length === path.length && place.every((name, n) => name === "*" || name === path[n]),
  );
}

/** The declaration of a collection, with what capabilities derive from their members of it. Throws StartError. */
export function completeDeclaration(
  declaration: Readonly<Record<string, unknown>>,
  place: string,
): Readonly<Record<string, unknown>> {
  return faces.reduce((given, { declare }) => declare?.(given, place) ?? given, declaration);
}

/** The faults of a completed declaration, each at the place where the configuration has it. */
export function explainFaults(
  faults: readonly StartFault[],
  declaration: Readonly<Record<string, unknown>>,
  place: string,
): StartFault[] {
  return faults.map((fault) =>
    faces.reduce((found, { explainFault }) => explainFault?.(found, declaration, place) ?? found, fault),
  );
}

/** The content of a configuration, without what a service for tests would read or send outside the process. */
export function contentForTests(
  content: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return faces.reduce((given, { forTests }) => forTests?.(given) ?? given, content);
}

/** The environment variables with secrets of capabilities that a message suggests. */
export const secretVariables: readonly string[] = faces.flatMap(({ secrets }) => secrets?.names ?? []);

/** Whether an environment variable has a secret of a capability. */
export function isSecretVariable(name: string): boolean {
  return secretVariables.includes(name) || faces.some(({ secrets }) => secrets?.has?.(name) === true);
}

/** The commands of one capability. */
export interface CommandsOfCapability {
  capability: CapabilityName;
  commands: Readonly<Record<string, CommandRow<CommandLine<never, never>>>>;
}

/** The commands of all capabilities. */
export const commandsOfCapabilities: readonly CommandsOfCapability[] = all.map((each) => ({
  capability: each.name,
  commands: each.commands ?? {},
}));

/** The code of a capability, without its exact types. */
export interface LoadedCapability extends Omit<Loaded, "open" | "endpoints" | "endpointsFor" | "needs"> {
  readonly name: CapabilityName;
  readonly endpoints?: readonly EndpointOf<never, never>[];
  endpointsFor?(settings: never): readonly EndpointOf<never, never>[];
  readonly needs?: readonly Need<never>[];
  open(core: Core, settings: never, replaced: never): OpenCapability | Promise<OpenCapability>;
}

/** Loads the code of all capabilities. */
export function loadCapabilities(): Promise<readonly LoadedCapability[]> {
  return Promise.all(all.map(async (each) => ({ ...(await each.load()), name: each.name })));
}

/** Adds the faults of what the settings of capabilities need outside the configuration. */
export async function requireNeeds(reading: SettingsReading, faults: StartFaults): Promise<void> {
  for (const { name, needs = [] } of await loadCapabilities())
    for (const { at, require } of needs) await faults.wait(at, async () => require(reading[name]() as never));
}

/** Warnings about the settings of all capabilities. */
export async function warningsAbout(
  settings: SettingsOfCapabilities,
  checked: CheckedConfiguration,
): Promise<string[]> {
  const found: string[] = [];
  for (const { name, warnings } of await loadCapabilities())
    found.push(...((await warnings?.(settings[name] as never, checked)) ?? []));
  return found;
}

/** Sentences about what a store keeps of capabilities that the settings no longer have. */
export async function leftInStore(reader: StoreReader, settings: SettingsOfCapabilities): Promise<string[]> {
  const found: string[] = [];
  for (const { name, inStore } of await loadCapabilities())
    found.push(...((await inStore?.leftIn?.(reader, settings[name] as never)) ?? []));
  return found;
}

/** Opens the hooks of a configuration for a command; `undefined` if it has none. Throws StartError. */
export async function openWriteHooks(
  settings: SettingsOfCapabilities,
  around: AroundHooks,
): Promise<OpenWriteHooks | undefined> {
  for (const each of await loadCapabilities()) {
    const opened = await each.openWriteHooks?.(settings[each.name] as never, around);
    await opened?.ready();
    if (opened !== undefined) return opened;
  }
  return undefined;
}

/** What capabilities do with the content of a store. */
export async function inStores(): Promise<readonly InStore[]> {
  return (await loadCapabilities()).flatMap(({ inStore }) => inStore ?? []);
}

/** The attributes of collections that follow something outside them, by the name of the collection. */
export async function mirroredIn(
  settings: SettingsOfCapabilities,
  store: Store,
  collections: ReadonlyMap<string, Collection>,
): Promise<ReadonlyMap<string, Mirrored>> {
  const found = new Map<string, Mirrored>();
  for (const { name, inStore } of await loadCapabilities())
    for (const collection of collections.values()) {
      const mirrored = await inStore?.mirrored?.(store, collection, settings[name] as never);
      if (mirrored !== undefined) found.set(collection.name, mirrored);
    }
  return found;
}

/** The internal collections whose ids are subjects of callers. */
export async function subjectsIn(settings: SettingsOfCapabilities): Promise<readonly string[]> {
  const loaded = await loadCapabilities();
  return loaded.flatMap(({ name, inStore }) => inStore?.subjects?.(settings[name] as never) ?? []);
}

/**
 * What capabilities add to the table of endpoints of a service with these settings. The handlers find each open capability in `opened`, by
 * its name.
 */
export function endpointsOf(
  loaded: readonly LoadedCapability[],
  settings: Partial<SettingsOfCapabilities>,
  opened: ReadonlyMap<string, OpenCapability> = new Map(),
): AddedEndpoints {
  return {
    own: loaded.flatMap(({ name, endpoints = [], endpointsFor }) => {
      const declared = settings[name] === undefined ? [] : (endpointsFor?.(settings[name] as never) ?? []);
      return boundRows(name, [...endpoints, ...declared], () => opened.get(name) as never);
    }),
    ownCollections: loaded.flatMap(({ describedCollections = [] }) => describedCollections),
  };
}

type Exists = NonNullable<Endpoint["exists"]>;

/** The rows of one capability, each with its settings and with what `open` returns. */
function boundRows(name: string, rows: readonly EndpointOf<never, never>[], open: () => never): Endpoint[] {
  // All endpoints of a path must have the same function.
  const bound = new Map<unknown, Exists>();
  for (const { exists } of rows)
    if (exists !== undefined && !bound.has(exists))
      bound.set(exists, (described) => exists(described, described.settings.ofCapabilities[name] as never));
  return rows.map(({ exists, parse, handle, ...others }) => {
    const existsHere = bound.get(exists);
    return {
      ...others,
      ...(existsHere && { exists: existsHere }),
      ...(parse && { parse: (service, request) => parse(service, request, open()) }),
      handle: (service, asked) => handle(service, asked, open()),
    };
  });
}
