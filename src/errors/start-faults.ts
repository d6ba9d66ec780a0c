/**
 * Collects all faults of a configuration, so that one run reports them all.
 *
 * Each part of a configuration is read separately. If a part fails, its faults are added here, and the other parts are
 * still read. A part that needs the value of a failed part fails too, but adds no fault.
 */
import { StartError, type StartFault } from "../errors.ts";

type Path = readonly string[];

/** The faults found so far. */
export class StartFaults {
  readonly #found: StartFault[] = [];
  readonly #prefix: string;
  #hasFailed = false;

  /** With `file`, the text of each fault begins with that name. */
  constructor(file?: string) {
    this.#prefix = file === undefined ? "" : `${file}: `;
  }

  /** Adds a fault. */
  add(path: Path, text: string): void {
    this.#found.push({ path, text: this.#prefix + text });
  }

  /**
   * Reads a part, and returns a function that returns its value. If `read` throws StartError, its faults are added, with
   * `path` before their paths, and the function throws a StartError without faults.
   */
  read<Value>(path: Path, read: () => Value): () => Value {
    try {
      const value = read();
      return () => value;
    } catch (error) {
      return this.#failed(path, error);
    }
  }

  /** Like `read`, for a part that is read asynchronously. */
  async wait<Value>(path: Path, read: () => Promise<Value>): Promise<() => Value> {
    try {
      const value = await read();
      return () => value;
    } catch (error) {
      return this.#failed(path, error);
    }
  }

  /** Whether there are faults, or a part failed. */
  get isAny(): boolean {
    return this.#hasFailed || this.#found.length > 0;
  }

  /** If there are faults, throws a StartError with all of them, in the order of the file with this content. */
  throwIfAny(content?: unknown): void {
    if (this.isAny) throw new StartError(inOrderOf(content, this.#found));
  }

  /** The value of a part that all others depend on. If the part failed, throws a StartError with all faults. */
  valueOf<Value>(part: () => Value): Value {
    try {
      return part();
    } catch (error) {
      this.throwIfAny();
      throw error;
    }
  }

  #failed(path: Path, error: unknown): () => never {
    if (!(error instanceof StartError)) throw error;
    this.#hasFailed = true;
    for (const fault of error.faults) this.add([...path, ...fault.path], fault.text);
    return failAgain;
  }
}

function failAgain(): never {
  throw new StartError([]);
}

/** Reads every item of a list. Throws one StartError with the faults of all items. */
export function readEach<Item, Value>(
  items: readonly Item[],
  read: (item: Item, n: number) => Value,
): Value[] {
  return readMembers(items, (item, n) => read(item as Item, Number(n))).map(([, value]) => value);
}

/** Reads every member of an object. Throws one StartError with the faults of all members. */
export function readMembers<Value>(
  members: object,
  read: (declared: unknown, name: string) => Value,
): [name: string, value: Value][] {
  const faults = new StartFaults();
  const memberOf = (name: string): unknown => Reflect.get(members, name); // a getter can throw StartError
  const values = Object.keys(members).map(
    (name) => [name, faults.read([name], () => read(memberOf(name), name))] as const,
  );
  faults.throwIfAny();
  return values.map(([name, value]) => [name, value()]);
}

/** A copy in which reading one of these missing members throws a StartError without faults. */
export function withUnreadable<Members extends object>(members: Members, names: readonly string[]): Members {
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(members)) as Members;
  for (const name of names)
    if (!Object.hasOwn(copy, name)) Object.defineProperty(copy, name, { get: failAgain });
  return copy;
}

/** The faults in the order of the configuration file. Faults outside the file come first. */
function inOrderOf(content: unknown, faults: readonly StartFault[]): StartFault[] {
  const ranked = faults.map((fault) => ({ fault, rank: rankOf(content, fault.path) }));
  return ranked.toSorted((a, b) => compare(a.rank, b.rank)).map(({ fault }) => fault);
}

/** For each member of a path, its position in its object. Ends at the first member that is missing. */
function rankOf(content: unknown, path: Path): number[] {
  const rank: number[] = [];
  let value = content;
  for (const name of path) {
    if (typeof value !== "object" || value === null) break;
    rank.push(Object.keys(value).indexOf(name));
    value = Object.getOwnPropertyDescriptor(value, name)?.value;
  }
  return rank;
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [n, position] of a.entries()) {
    const other = b[n];
    if (other === undefined) return 1;
    if (position !== other) return position - other;
  }
  return a.length - b.length;
}
