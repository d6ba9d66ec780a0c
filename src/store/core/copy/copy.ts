/** Copies the whole content of one store to another, and verifies the copy. An interrupted copy continues where it stopped. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { StartError } from "../../../errors.ts";
import { newSecret } from "../secret.ts";
import {
  type Cell,
  type CopySource,
  type CopyTarget,
  type Item,
  type PageSize,
  type Section,
  type Survey,
  survey,
} from "./contents.ts";
import { requireIntact, type VerifiedContents, verifyCopy } from "./verify.ts";

/** Receives the progress of a phase: how many items are done, and how many of them are resources. */
export interface PhaseProgress {
  update(done: number, resources: number): void;
  stop(): void;
}

/** The phases of a copy, in order. */
export type CopyPhase = "copying" | "creating indexes" | "verifying";

/** The options of a copy. */
export interface CopyOptions {
  /** Called at the start of a phase with the number of its items. @default no progress is shown */
  watch?: (what: CopyPhase, total: number) => Promise<PhaseProgress>;
  /** Interrupts the copy, which is then rejected with the reason of the signal. */
  signal?: AbortSignal;
  /** The copy gets its own secret. Positions in the feed of the source are not valid in the copy. */
  newIdentity?: boolean;
  /** The limits of one transaction. */
  pageSize?: PageSize;
}

/** What was copied and verified. */
export interface Copied extends VerifiedContents {
  /** How many items an earlier run had copied already. */
  resumedAt: number;
}

/** The options of a backup: one moment of a store in a new SQLite file, made beside a running service. */
export type BackupOptions = Pick<CopyOptions, "watch" | "signal">;

/** The file of a backup. It does not exist yet. */
export interface BackupFile {
  path: string;
  /** Opens it as the target of a copy, for a store that is no file itself. */
  openTarget(): Promise<CopyTarget>;
}

/** The limits of one page that a copy reads or writes. */
export const defaultPageSize: PageSize = { items: 1_000, bytes: 2 * 1024 ** 2 };

/**
 * Copies everything, and compares both stores. Throws StartError if the target contains something else, if the source
 * has changed since the copy started, or if the target differs from its source. An incomplete target cannot be opened
 * for anything else.
 */
export async function copyStore(
  source: CopySource,
  target: CopyTarget,
  options: CopyOptions = {},
): Promise<Copied> {
  const surveyed = await survey(source);
  const outline = options.newIdentity ? { ...surveyed.outline, secret: newSecret() } : surveyed.outline;
  const progress = await startOrResume(surveyed, target);
  const resumedAt = progress.checkpoint.items;
  await withProgress(options, { what: "copying", total: surveyed.total }, async (watch) => {
    watch.update(resumedAt, progress.checkpoint.resources);
    for (;;) {
      const next = surveyed.sections[progress.checkpoint.section];
      if (next === undefined) return;
      await copySection(source, target, { section: next.section, progress, options, watch });
    }
  });
  await withProgress(options, { what: "creating indexes", total: surveyed.resources }, async (watch) => {
    let done = 0;
    await target.complete(outline, ({ count }) => {
      done += count;
      watch.update(done, done);
    });
  });
  await source.refresh();
  requireUnchanged(surveyed.checksum, (await survey(source)).checksum);
  const verified = await withProgress(options, { what: "verifying", total: surveyed.total }, (watch) =>
    verifyCopy(source, target, {
      survey: { ...surveyed, outline },
      watch,
      size: defaultPageSize,
      signal: options.signal,
    }),
  );
  await target.release();
  return { ...verified, resumedAt };
}

/** Starts a copy, or continues an interrupted one. */
async function startOrResume({ outline, checksum }: Survey, target: CopyTarget): Promise<Progress> {
  const mark = await target.mark();
  if (mark !== undefined) {
    const progress = new Progress(JSON.parse(mark) as Checkpoint);
    requireUnchanged(progress.checkpoint.source, checksum);
    return progress;
  }
  const progress = new Progress({ source: checksum, section: 0, after: null, items: 0, resources: 0 });
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
  section: Section;
  progress: Progress;
  options: CopyOptions;
  watch: PhaseProgress;
}

/** Copies the rest of a section. Reads the next page while it writes one. */
async function copySection(source: CopySource, target: CopyTarget, work: SectionWork): Promise<void> {
  const { section, progress, watch } = work;
  const { pageSize = defaultPageSize, signal } = work.options;
  const read = () => {
    const page = source.items(section, progress.checkpoint.after ?? undefined, pageSize);
    page.catch(() => {}); // thrown when it is awaited
    return page;
  };
  let page = read();
  for (let items = await page; items.length > 0; items = await page) {
    signal?.throwIfAborted();
    for (const item of items) requireIntact(section, item);
    const before = progress.mark;
    progress.advance(section, items);
    page = read();
    await target.write(section, items, { before, after: progress.mark });
    watch.update(progress.checkpoint.items, progress.checkpoint.resources);
    await nextTurn(); // without this, signals would not be handled while nothing waits for I/O
  }
  progress.endSection();
}

/** Shows the progress of a phase while it runs. */
export async function withProgress<T>(
  { watch }: Pick<CopyOptions, "watch">,
  { what, total }: { what: CopyPhase; total: number },
  work: (watch: PhaseProgress) => Promise<T>,
): Promise<T> {
  const watcher = (await watch?.(what, total)) ?? { update() {}, stop() {} };
  try {
    return await work(watcher);
  } finally {
    watcher.stop();
  }
}

/** How far a copy has come. The target stores it as the mark, together with the copied items. */
interface Checkpoint {
  /** The checksum of the source (`Survey`). */
  source: string;
  /** The index of the current section. */
  section: number;
  /** The last copied key of the current section; `null` at its start. */
  after: Cell;
  /** The number of items of all sections so far, and of resources among them. */
  items: number;
  resources: number;
}

/** The progress of one copy. */
class Progress {
  #checkpoint: Checkpoint;
  #mark: string;

  constructor(checkpoint: Checkpoint) {
    this.#checkpoint = checkpoint;
    this.#mark = JSON.stringify(checkpoint);
  }

  get checkpoint(): Checkpoint {
    return this.#checkpoint;
  }

  /**
   * The checkpoint as the target stores it. It is about the last written items, even if the next section has started.
   */
  get mark(): string {
    return this.#mark;
  }

  /** Moves past items of the section that are written next. */
  advance({ kind }: Section, items: readonly Item[]): void {
    const { checkpoint } = this;
    this.#checkpoint = {
      ...checkpoint,
      after: items.at(-1)?.[0] ?? checkpoint.after,
      items: checkpoint.items + items.length,
      resources: checkpoint.resources + (kind === "resources" ? items.length : 0),
    };
    this.#mark = JSON.stringify(this.#checkpoint);
  }

  endSection(): void {
    this.#checkpoint = { ...this.#checkpoint, section: this.#checkpoint.section + 1, after: null };
  }
}
