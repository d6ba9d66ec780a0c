/**
 * The changes of the service, as they happen. All tabs of a caller share one stream, because HTTP/1.1 gives a browser six
 * connections to a service: the tab that holds a lock reads the stream, and sends what changed to the others.
 */
import { useEffect } from "react";
import { client, credentialTag, notice, onLeave } from "./session.ts";
import { shared } from "./shared.ts";

/** A change of one resource. Without an id, anything in the collection may have changed. */
export interface Change {
  collection: string | undefined;
  id?: string;
  isDeleted?: boolean;
  isCreated?: boolean;
}

/** What tabs send to each other. A new tab asks for the state, and the one that reads the stream replies. */
type Message =
  | { kind: "change"; changes: readonly Change[] }
  | { kind: "state"; isLive: boolean }
  | { kind: "ask" };

const listeners = new Set<(changes: readonly Change[]) => void>();
const live = shared(false);
/** Whether this tab reads the stream. */
let isReading = false;
let stop: AbortController | undefined;

/** Follows the service from now on. Ends what was followed before, for example with another credential. */
export async function startFollowing(): Promise<void> {
  stop?.abort();
  const controller = new AbortController();
  stop = controller;
  live.set(false);
  const { signal } = controller;
  const name = `holdfast-changes-${await credentialTag()}`;
  if (signal.aborted) return;
  const channel = new BroadcastChannel(name);
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.kind !== "ask") receive(data);
    else if (isReading) channel.postMessage({ kind: "state", isLive: live.get() } satisfies Message);
  };
  signal.addEventListener("abort", () => channel.close());
  const publish = (message: Exclude<Message, { kind: "ask" }>) => {
    if (!signal.aborted) channel.postMessage(message);
    receive(message);
  };
  const read = async () => {
    isReading = true;
    try {
      await follow(signal, publish);
    } finally {
      if (stop === controller) isReading = false;
    }
  };
  channel.postMessage({ kind: "ask" } satisfies Message);
  // Pages that are not from this machine and not encrypted have no locks. There, each tab has a stream.
  if (navigator.locks === undefined) await read();
  else await navigator.locks.request(name, { signal }, read).catch(() => {});
}

onLeave(() => {
  stop?.abort();
  live.set(false);
});

function receive(message: Exclude<Message, { kind: "ask" }>): void {
  if (message.kind === "change") {
    live.set(true);
    for (const listener of listeners) listener(message.changes);
  } else live.set(message.isLive);
}

async function follow(
  signal: AbortSignal,
  publish: (message: Exclude<Message, { kind: "ask" }>) => void,
): Promise<void> {
  // Between the stream of a tab that was closed and this one, changes can be missed.
  let hasGap = live.get();
  const onConnection = (isConnected: boolean) => {
    publish({ kind: "state", isLive: isConnected });
    if (isConnected && hasGap) publish({ kind: "change", changes: [{ collection: undefined }] });
    hasGap = false;
  };
  const stream = client.$events({ signal, onConnection });
  try {
    for await (const { events } of stream.batches(signal)) {
      if (events.length > 0) publish({ kind: "change", changes: events.map(toChange) });
    }
  } catch (error) {
    if (!signal.aborted) notice(error);
  }
  publish({ kind: "state", isLive: false });
}

function toChange({ type, ...event }: { type: string; subject?: string }): Change {
  const at = type.lastIndexOf(".");
  if (type === "holdfast.resync" || event.subject === undefined) return { collection: undefined };
  return {
    collection: type.slice(0, at),
    id: event.subject,
    isDeleted: type.endsWith(".deleted"),
    isCreated: type.endsWith(".created"),
  };
}

/** Calls back after changes of any collection. Returns a function that ends it. */
export function onChanges(listener: (changes: readonly Change[]) => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

/** Calls back after changes of a collection. */
export function useChanges(collection: string, onChange: (changes: readonly Change[]) => void): void {
  useEffect(() => {
    const listener = (changes: readonly Change[]) => {
      const own = changes.filter((each) => each.collection === undefined || each.collection === collection);
      if (own.length > 0) onChange(own);
    };
    return onChanges(listener);
  }, [collection, onChange]);
}

/** Whether the page receives changes, for components. */
export const useIsLive = live.use;
