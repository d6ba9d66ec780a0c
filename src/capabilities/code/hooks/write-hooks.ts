/** The hooks of a configuration as parts of writes: what they get, and what becomes of their results. */
import type { Collection } from "../../../collection/collection.ts";
import { idJson } from "../../../collection/ids.ts";
import { valueAt } from "../../../collection/paths.ts";
import type { Relation } from "../../../collection/relations.ts";
import { type Attributes, textWithId } from "../../../collection/resource.ts";
import { clientAttributes } from "../../../collection/timestamps.ts";
import type { CollectionHooks, HookedWrite, WriteHooks } from "../../../collection/write-hooks.ts";
import { Problem } from "../../../errors.ts";
import { jsonLimits } from "../../../http/protocol/content.ts";
import type { Limits } from "../../../http/settings.ts";
import { parseJson, requireObject } from "../../../json/parse.ts";
import { Computation, ComputingFailed } from "../computed/computation.ts";
import type { Refusal } from "../public.ts";
import { refusalProblem } from "../refusal-problem.ts";
import type { CodeSettings, CollectionCode } from "../settings.ts";
import type { HookInput } from "./hook-call.ts";
import type { HookRunner } from "./hook-worker.ts";

interface Parts {
  runner: HookRunner;
  limits: Limits;
  /** The relations of a collection, by name. */
  relationsOf(collection: string): Collection["relations"];
}

/** The hooks of all collections. */
export function createWriteHooks(
  { collections, computed }: Pick<CodeSettings, "collections" | "computed">,
  parts: Parts,
): WriteHooks {
  const time = new RequestTime(parts.limits.handlerTimeoutMs);
  const all = new Map(
    [...collections].map(([name, code]) => [name, hooksOf(name, code, { ...parts, time })] as const),
  );
  const computing = new Map<string, CollectionHooks>();
  for (const [name, attributes] of computed) {
    const computation = new Computation(name, attributes, parts);
    all.set(name, withComputed(all.get(name) ?? {}, computation, time));
    computing.set(name, withComputed({}, computation, time));
  }
  return { of: (name) => all.get(name), ofSkipped: (name) => computing.get(name) };
}

/** The same hooks, which compute attributes from what `before` has completed. */
function withComputed(hooks: CollectionHooks, computation: Computation, time: RequestTime): CollectionHooks {
  return {
    ...hooks,
    complete: async (write, attributes) => {
      const completed = await (hooks.complete?.(write, attributes) ?? attributes);
      time.require(write, computation.place);
      try {
        return await computation.complete(completed);
      } catch (error) {
        throw error instanceof ComputingFailed ? codeFailed(computation.place, error.message) : error;
      }
    },
  };
}

function hooksOf(
  name: string,
  code: CollectionCode,
  { runner, limits, relationsOf, time }: Parts & { time: RequestTime },
): CollectionHooks {
  const selected = () => code.with.map((each) => [each, relationsOf(name).get(each)] as const);
  const run = async (kind: HookInput["kind"], write: HookedWrite, resource: string) => {
    const place = `collections.${name}.hooks.${kind}`;
    time.require(write, place);
    const { operation, previous, caller, now } = write;
    const related = code.with.length === 0 ? {} : await relatedTo(write, resource, selected());
    const output = await runner.call(place, { kind, operation, resource, previous, related, caller, now });
    switch (output.kind) {
      case "done":
        return output.text;
      case "failed":
        throw codeFailed(place, output.message);
      default:
        throw refused(output, write);
    }
  };
  return {
    ...(code.hasBefore && {
      complete: async (write, attributes) => {
        if (write.operation === "restore") return attributes;
        const { id, collection } = write;
        const text =
          id === undefined
            ? JSON.stringify(attributes)
            : textWithId(idJson(collection.idKind, id), attributes);
        const made = await run("before", write, text);
        if (made === undefined) return attributes;
        try {
          return attributesIn(made, write, limits);
        } catch (error) {
          throw codeFailed(`collections.${name}.hooks.before`, (error as Error).message);
        }
      },
    }),
    ...(code.hasValidate && {
      validate: async (write, text) => {
        await run("validate", write, text);
      },
    }),
  };
}

/** The attributes that `before` has returned. Throws what the JSON parser throws, and an Error if the id is another one. */
function attributesIn(text: string, { id, collection }: HookedWrite, limits: Limits): Attributes {
  const bytes = Buffer.from(text);
  if (bytes.length > limits.bodyBytes)
    throw new Error(`before returned a resource of more than ${limits.bodyBytes} bytes.`);
  const made = requireObject(parseJson(bytes, jsonLimits(limits)));
  const isSame =
    id === undefined ? !Object.hasOwn(made, "id") : !Object.hasOwn(made, "id") || String(made.id) === id;
  if (!isSame) throw new Error("before cannot set or change the id.");
  return clientAttributes(collection, made);
}

/** The texts of the resources to which a resource refers, by the names of the relations. They can be a moment old. */
async function relatedTo(
  { read }: HookedWrite,
  text: string,
  relations: readonly (readonly [name: string, relation: Relation | undefined])[],
): Promise<Record<string, string | undefined>> {
  const resource = JSON.parse(text) as Record<string, unknown>;
  const found = await Promise.all(
    relations.map(async ([name, relation]) => {
      const id = relation && valueAt(resource, relation.path);
      if (relation === undefined || (typeof id !== "string" && typeof id !== "number"))
        return [name, undefined];
      return [name, await read({ collection: relation.collection, id: String(id) })];
    }),
  );
  return Object.fromEntries(found) as Record<string, string | undefined>;
}

/** The problem of a write whose code failed. The client learns nothing about the code; the log has the reason. */
function codeFailed(place: string, message: string): Problem {
  return new Problem("CODE_FAILED", "The code of this service failed, so nothing was written.", {
    cause: `${place}: ${message}`,
  });
}

/** The problem of a refused write. It does not name an attribute that the caller cannot see. */
function refused(refusal: Refusal, { canRead, collection: { visibility } }: HookedWrite): Problem {
  if (refusal.kind === "forbidden") return refusalProblem(refusal, "The resource");
  const [name] = refusal.path;
  const isHidden = name !== undefined && (!canRead || visibility?.hidden.has(name) === true);
  return refusalProblem({ ...refusal, path: isHidden ? [] : refusal.path }, "The resource");
}

/** How long the hooks of each request have run, so that a request with many writes ends in time. */
class RequestTime {
  readonly #limitMs: number;
  readonly #since = new WeakMap<object, number>();

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  /** Throws CODE_FAILED if the first hook of the request began too long ago. */
  require({ request }: HookedWrite, place: string): void {
    const since = this.#since.get(request);
    if (since === undefined) this.#since.set(request, performance.now());
    else if (performance.now() - since > this.#limitMs)
      throw codeFailed(place, `All hooks of the request together took longer than ${this.#limitMs} ms.`);
  }
}
