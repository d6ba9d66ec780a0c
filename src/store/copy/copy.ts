/** Makes one store be like another, whatever kind each is of. What was broken off goes on from where it was. */
import { setImmediate as turn } from "node:timers/promises";
import { StartError } from "../../errors.ts";
import { newSecret } from "../secret.ts";
import { type Place, Progress } from "./progress.ts";
import { type Survey, survey } from "./survey.ts";
import { requireSame, type Same } from "./verify.ts";
import type { PageSize, Source, Target } from "./whole.ts";

/** Is told how far a part of the work has come: so many items, and how many of them were resources. */
export interface Watch {
  update(done: number, resources: number): void;
  stop(): void;
}

/** The parts of the work, in their order. */
export type Part = "copying" | "creating indexes" | "verifying";

/** How a copy is made. */
export interface CopyOptions {
  /** Begins to watch a part of the work that has so many items. @default nobody watches */
  watch?: (what: Part, total: number) => Promise<Watch>;
  /** Breaks the copy off, which is then rejected with the signal's reason. */
  signal?: AbortSignal;
  /** The copy gets a secret of its own: positions of the feed that clients have of the source do not work there. */
  newIdentity?: boolean;
  /** How much is copied in one transaction. */
  pageSize?: PageSize;
}

/** What was copied, and found to be the same on both sides. */
export interface Copied extends Same {
  /** How many items an earlier run had copied already. */
  resumedAt: number;
}

const defaultPageSize: PageSize = { items: 1_000, bytes: 2 * 1024 ** 2 };

/**
 * Copies everything and compares both sides. Throws StartError where the target holds something else, the source has
 * changed since the copy was begun, or the target is not like its source in the end; then it stays closed to everybody.
 */
export async function copyStore(source: Source, target: Target, options: CopyOptions = {}): Promise<Copied> {
  const found = await survey(source);
  const outline = options.newIdentity ? { ...found.outline, secret: newSecret() } : found.outline;
  const progress = await begin(found, target);
  const resumedAt = progress.place.items;
  await watched(options, { what: "copying", total: found.total }, async (watch) => {
    watch.update(resumedAt, progress.place.resources);
    for (;;) {
      const part = found.sections[progress.place.section];
      if (part === undefined) return;
      await copySection(source, target, { part, progress, options, watch });
    }
  });
  await watched(options, { what: "creating indexes", total: found.resources }, async (watch) => {
    let done = 0;
    await target.complete(outline, ({ count }) => {
      done += count;
      watch.update(done, done);
    });
  });
  await source.refresh();
  requireUnchanged(found.stamp, (await survey(source)).stamp);
  const same = await watched(options, { what: "verifying", total: found.total }, (watch) =>
    requireSame(source, target, {
      survey: { ...found, outline },
      watch,
      size: defaultPageSize,
      signal: options.signal,
    }),
  );
  await target.release();
  return { ...same, resumedAt };
}

/** Begins a copy, or finds where one was broken off. */
async function begin({ outline, stamp }: Survey, target: Target): Promise<Progress> {
  const mark = await target.mark();
  if (mark !== undefined) {
    const progress = new Progress(JSON.parse(mark) as Place);
    requireUnchanged(progress.place.source, stamp);
    return progress;
  }
  const progress = new Progress({ source: stamp, section: 0, after: null, items: 0, resources: 0 });
  if (await target.begin(outline, progress.mark)) return progress;
  throw new StartError(
    "The target is not empty. Copy into a new store, or empty this one. If an earlier copy into it was interrupted at its very end, that copy is complete, and you can use it.",
  );
}

function requireUnchanged(before: string, now: string): void {
  if (before === now) return;
  throw new StartError(
    "The source has changed since the copy started, so the copy would mix two states. Stop everything that writes to the source, empty the target, and copy again.",
  );
}

interface SectionWork {
  part: Survey["sections"][number];
  progress: Progress;
  options: CopyOptions;
  watch: Watch;
}

/** Copies what is left of a section; the next page is read while one is written. */
async function copySection(source: Source, target: Target, work: SectionWork): Promise<void> {
  const { part, progress, watch } = work;
  const { pageSize = defaultPageSize, signal } = work.options;
  const read = () => {
    const page = source.items(part.section, progress.place.after ?? undefined, pageSize);
    page.catch(() => {}); // thrown when it is waited for
    return page;
  };
  let page = read();
  for (let items = await page; items.length > 0; items = await page) {
    signal?.throwIfAborted();
    const before = progress.mark;
    progress.advance(part.section, items);
    page = read();
    await target.write(part.section, items, { before, after: progress.mark });
    watch.update(progress.place.items, progress.place.resources);
    await turn(); // where nothing has to be waited for, nobody would hear a signal
  }
  progress.endSection();
}

async function watched<T>(
  { watch }: CopyOptions,
  { what, total }: { what: Part; total: number },
  work: (watch: Watch) => Promise<T>,
): Promise<T> {
  const watching = (await watch?.(what, total)) ?? { update() {}, stop() {} };
  try {
    return await work(watching);
  } finally {
    watching.stop();
  }
}
