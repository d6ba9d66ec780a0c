/**
 * Gathers everything that is wrong with a configuration, so that one run reports it all.
 *
 * Each part of a configuration is read by itself. A part that fails leaves its faults here, and the parts that do not
 * depend on it are read all the same. A part that asks for the value of a failed one fails too, without a fault of its own.
 */
import { StartError, type StartFault } from "../errors.ts";

type Path = readonly string[];

/** The faults found so far. */
export class StartFaults {
  readonly #found: StartFault[] = [];
  readonly #prefix: string;
  #hasFailed = false;

  /** The texts of faults in a file begin with its name. */
  constructor(file?: string) {
    this.#prefix = file === undefined ? "" : `${file}: `;
  }

  /** Adds one. */
  add(path: Path, text: string): void {
    this.#found.push({ path, text: this.#prefix + text });
  }

  /**
   * Reads a part. Gives a function that gives the value. Where the reading throws StartError, its faults are kept as faults
   * below `path`, and the function throws a StartError without faults.
   */
  read<Value>(path: Path, read: () => Value): () => Value {
    try {
      const value = read();
      return () => value;
    } catch (error) {
      return this.#failed(path, error);
    }
  }

  /** As `read`, for a part that takes time. */
  async wait<Value>(path: Path, read: () => Promise<Value>): Promise<() => Value> {
    try {
      const value = await read();
      return () => value;
    } catch (error) {
      return this.#failed(path, error);
    }
  }

  /** Whether anything is wrong. */
  get isAny(): boolean {
    return this.#hasFailed || this.#found.length > 0;
  }

  /** Throws a StartError with all faults when there is any, in the order of the file that they are about. */
  throwIfAny(content?: unknown): void {
    if (this.isAny) throw new StartError(inOrderOf(content, this.#found));
  }

  /** The value of a part that everything else depends on. Throws as `throwIfAny` where the part failed. */
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

/** Reads every item of a list. Throws a StartError with the faults of all of them. */
export function readEach<Item, Value>(
  items: readonly Item[],
  read: (item: Item, n: number) => Value,
): Value[] {
  const faults = new StartFaults();
  const values = items.map((item, n) => faults.read([String(n)], () => read(item, n)));
  faults.throwIfAny();
  return values.map((value) => value());
}

/** Reads every member of an object, and gives the names with the values. Throws a StartError with the faults of all of them. */
export function readMembers<Value>(
  members: Readonly<Record<string, unknown>>,
  read: (declared: unknown, name: string) => Value,
): [name: string, value: Value][] {
  const faults = new StartFaults();
  const values = Object.keys(members).map(
    (name) => [name, faults.read([name], () => read(members[name], name))] as const,
  );
  faults.throwIfAny();
  return values.map(([name, value]) => [name, value()]);
}

/** A copy in which reading these members throws a StartError without faults, unless they are there. */
export function withUnreadable<Members extends object>(members: Members, names: readonly string[]): Members {
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(members)) as Members;
  for (const name of names)
    if (!Object.hasOwn(copy, name)) Object.defineProperty(copy, name, { get: failAgain });
  return copy;
}

/** The faults in the order in which a configuration file has them; those that are not in the file come first. */
function inOrderOf(content: unknown, faults: readonly StartFault[]): StartFault[] {
  const ranked = faults.map((fault) => ({ fault, rank: rankOf(content, fault.path) }));
  return ranked.toSorted((a, b) => compare(a.rank, b.rank)).map(({ fault }) => fault);
}

/** The positions of the members of a path among their neighbours, as far as they are there. */
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
