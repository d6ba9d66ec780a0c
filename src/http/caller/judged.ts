/**
 * The states of resources that rules judge. A rule can look at related resources, so a state carries those that it needs. A write is
 * judged with the targets as they are when it is decided, and its commit judges it again (`Change.requires`).
 */
import { type Judged, looksAtOthers, readTargets } from "../../access/access.ts";
import { actions } from "../../access/access-declaration.ts";
import type { AllowedResources } from "../../access/rules.ts";
import { Problem } from "../../errors.ts";
import { withLiveTargets } from "../../expiry/live-store.ts";
import { matches, type StoreFilter } from "../../query/filter.ts";
import { lookedAt, type Target, targetNamed } from "../../query/targets.ts";
import type { Requirement } from "../../store/port/commit.ts";
import type { Key, Stored } from "../../store/port/stored.ts";
import type { Data } from "../service.ts";
import type { Guard } from "./permission.ts";

/** Where the states and the related resources come from. */
interface Reads {
  store: Pick<Data["store"], "read">;
}

/** The filters of the rules for the caller that look at related resources. */
function filtersOf(guard: Guard): readonly StoreFilter[] {
  return [guard.visible, ...actions.map((action) => guard.allowed(action))].filter(looksAtOthers);
}

/**
 * The state with the related resources that the rules look at, as they are now. `key`: set if it is the next state of a resource, which
 * can refer to itself.
 */
export function judged<State extends { text: string }>(
  { store }: Reads,
  guard: Guard,
  state: State,
  key?: Key,
): (State & Judged) | Promise<State & Judged> {
  if (!guard.looksAtOthers) return state;
  return withTargets(store, guard, state, key);
}

function isSame(a: Target, b: Target | undefined): boolean {
  return b !== undefined && a.collection === b.collection && a.id === b.id;
}

async function withTargets<State extends { text: string }>(
  store: Reads["store"],
  guard: Guard,
  state: State,
  key: Key | undefined,
): Promise<State & Judged> {
  const resource = JSON.parse(state.text) as Record<string, unknown>;
  const read = (target: Target) => (isSame(target, key) ? state : store.read(target));
  return { ...state, targets: await readTargets(filtersOf(guard), resource, read) };
}

/** How often the same resources are read until nothing changes in between. */
const maxReads = 20;

/**
 * The current state of a resource, with the related resources that the rules look at, all as they were at one moment. Throws
 * UNAVAILABLE if they change all the time.
 */
export function currentOf(
  { store }: Reads,
  guard: Guard,
  key: Key,
): (Stored & Judged) | undefined | Promise<(Stored & Judged) | undefined> {
  return guard.looksAtOthers ? readTogether(store, guard, key) : store.read(key);
}

async function readTogether(
  store: Reads["store"],
  guard: Guard,
  key: Key,
): Promise<(Stored & Judged) | undefined> {
  for (let reads = 0; reads < maxReads; reads++) {
    const seen = new Map<Target, number | undefined>();
    const read = async (target: Target) => {
      const found = await store.read(target);
      seen.set(target, found?.version);
      return found;
    };
    const stored = await read(key);
    if (stored === undefined) return undefined;
    const resource = JSON.parse(stored.text) as Record<string, unknown>;
    const targets = await readTargets(filtersOf(guard), resource, read);
    // Versions only grow. What has the same version before and after was like that in between.
    const again = await Promise.all(
      [...seen].map(async ([target, version]) => (await store.read(target))?.version === version),
    );
    if (again.every(Boolean)) return { ...stored, targets };
  }
  throw new Problem(
    "UNAVAILABLE",
    "The resource and those that its access rules look at change all the time. Try again.",
  );
}

/**
 * What the commit of a write must check again, because whether the rules allow this with a resource in this state depends on related
 * ones. `at`: the time of the commit. `key`: set if it is the next state of a resource.
 */
export function requirementsFor(
  { collections }: Pick<Data, "collections">,
  guard: Guard,
  { allowed, state, at, key }: { allowed: AllowedResources; state: Judged; at: number; key?: Key },
): readonly Requirement[] {
  if (!guard.looksAtOthers || !looksAtOthers(allowed)) return [];
  const resource = JSON.parse(state.text) as Record<string, unknown>;
  if (matches(allowed, resource, () => undefined)) return []; // other resources do not matter
  const filter = withLiveTargets(allowed, collections(), at);
  const targets = [...(state.targets?.keys() ?? [])]
    .map(targetNamed)
    .map((target) => (isSame(target, key) ? { ...target, text: state.text } : target));
  return [{ filter, resource: lookedAt(filter, resource), targets }];
}
