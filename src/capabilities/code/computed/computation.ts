/** Computes the attributes of one collection: what the functions get, and what becomes of their results. */
import { type Attributes, pickMembers } from "../../../collection/resource.ts";
import { jsonLimits } from "../../../http/protocol/content.ts";
import type { Limits } from "../../../http/settings.ts";
import { parseJson, requireObject } from "../../../json/parse.ts";
import type { HookRunner } from "../hooks/hook-worker.ts";
import type { ComputedAttributes } from "../settings.ts";

/** A function of the user failed. The message is for the operator. */
export class ComputingFailed extends Error {}

/** The computed attributes of one collection. */
export class Computation {
  /** The place of the functions in the configuration. */
  readonly place: string;
  readonly #attributes: readonly { name: string; from: readonly string[] }[];
  readonly #sources: ReadonlySet<string>;
  readonly #runner: Pick<HookRunner, "call">;
  readonly #limits: Limits;

  constructor(
    collection: string,
    attributes: ComputedAttributes,
    { runner, limits }: { runner: Pick<HookRunner, "call">; limits: Limits },
  ) {
    this.place = `collections.${collection}.computed`;
    this.#attributes = [...attributes].map(([name, { from }]) => ({ name, from }));
    this.#sources = new Set(this.#attributes.flatMap(({ from }) => from));
    this.#runner = runner;
    this.#limits = limits;
  }

  /**
   * The attributes of a resource with those that are computed from them. The same object if nothing differs. Throws ComputingFailed, and
   * UNAVAILABLE if too many calls wait.
   */
  async complete(attributes: Attributes): Promise<Attributes> {
    const resource = JSON.stringify(pickMembers(attributes, (name) => this.#sources.has(name)));
    const input = { kind: "computed", attributes: this.#attributes, resource } as const;
    const output = await this.#runner.call(this.place, input);
    if (output.kind !== "done" || output.text === undefined)
      throw new ComputingFailed("message" in output ? output.message : "It returned nothing.");
    const values = valuesIn(output.text, this.#limits);
    return withValues(
      attributes,
      values,
      this.#attributes.map(({ name }) => name),
    );
  }
}

function valuesIn(text: string, limits: Limits): Attributes {
  const bytes = Buffer.from(text);
  if (bytes.length > limits.bodyBytes)
    throw new ComputingFailed(`The values have more than ${limits.bodyBytes} bytes.`);
  try {
    return requireObject(parseJson(bytes, jsonLimits(limits)));
  } catch (error) {
    throw new ComputingFailed((error as Error).message);
  }
}

/** Attributes that exist keep their place, so that a resource that does not change keeps its text. */
function withValues(attributes: Attributes, values: Attributes, names: readonly string[]): Attributes {
  const isSame = (name: string) => JSON.stringify(attributes[name]) === JSON.stringify(values[name]);
  if (names.every(isSame)) return attributes;
  const next = { ...attributes };
  for (const name of names) {
    if (Object.hasOwn(values, name)) next[name] = values[name];
    else delete next[name];
  }
  return next;
}
