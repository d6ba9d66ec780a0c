/** Every capability. No other file of the core names one. */
import type {
  Capability,
  Core,
  EndpointOf,
  Get,
  Loaded,
  OpenCapability,
  Surroundings,
} from "../capability.ts";
import type { CommandLine, CommandRow } from "../command.ts";
import type { StartFaults } from "../errors/start-faults.ts";
import type { Endpoint } from "../http/endpoint/endpoint.ts";
import type { AddedEndpoints } from "../http/endpoints/endpoint-table.ts";
import { tokens } from "./tokens/capability.ts";
import { webhooks } from "./webhooks/capability.ts";

/** In the order in which they open, and of their rows in tables. */
const all = [tokens, webhooks] as const;

type Known = (typeof all)[number];
type CodeOf<C extends Known> = Awaited<ReturnType<C["load"]>>;
/** The intersection of the members of a union. */
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

/** The settings of each capability. A function throws StartError if its settings have faults. */
export type SettingsReading = { [Name in CapabilityName]: () => SettingsOfCapabilities[Name] };

/** Reads the settings of each capability by itself with `read`, so that a fault of one hides no fault of another. */
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

/** The reading of settings that have no faults. */
export function readingOf(settings: SettingsOfCapabilities): SettingsReading {
  const readings = all.map(({ name }) => [name, () => settings[name]]);
  return Object.fromEntries(readings) as SettingsReading;
}

/** Whether callers can authenticate by way of a capability. Throws StartError. */
export function haveCredentials(reading: SettingsReading): boolean {
  return all.some(
    (each: Pick<Capability, "isCredential" | "name">) =>
      each.isCredential?.(reading[each.name as CapabilityName]()) === true,
  );
}

/** The commands of one capability. */
export interface CommandsOfCapability {
  capability: CapabilityName;
  commands: Readonly<Record<string, CommandRow<CommandLine<never>>>>;
}

/** The commands of all capabilities. */
export const commandsOfCapabilities: readonly CommandsOfCapability[] = all.map((each) => ({
  capability: each.name,
  commands: each.commands ?? {},
}));

/** The code of a capability, without its exact types. */
export interface LoadedCapability extends Omit<Loaded, "open" | "endpoints"> {
  readonly name: CapabilityName;
  readonly endpoints?: readonly EndpointOf<never>[];
  open(core: Core, settings: never, replaced: never): OpenCapability | Promise<OpenCapability>;
}

/** Loads the code of all capabilities. */
export function loadCapabilities(): Promise<readonly LoadedCapability[]> {
  return Promise.all(all.map(async (each) => ({ ...(await each.load()), name: each.name })));
}

/** Adds the faults of the files that the settings of capabilities name. */
export async function requireFiles(reading: SettingsReading, faults: StartFaults): Promise<void> {
  for (const { name, files } of await loadCapabilities())
    if (files !== undefined) await faults.wait(files.at, async () => files.require(reading[name]() as never));
}

/** What capabilities add to the table of endpoints. The handlers find each open capability in `opened`, by its name. */
export function endpointsOf(
  loaded: readonly LoadedCapability[],
  opened: ReadonlyMap<string, OpenCapability> = new Map(),
): AddedEndpoints {
  const withCapability = (name: string, row: EndpointOf<never>): Endpoint => ({
    ...row,
    handle: (service, asked) => row.handle(service, asked, opened.get(name) as never),
  });
  return {
    own: loaded.flatMap(({ name, endpoints = [] }) => endpoints.map((row) => withCapability(name, row))),
    ownCollections: loaded.flatMap(({ describedCollections = [] }) => describedCollections),
  };
}
