/** Sends requests to the writer, throws its refusals as errors, and reports to the health of the store what follows from them. */
import { Problem } from "../../../errors.ts";
import { problemOf, type Refusal } from "../../core/commits/refusals.ts";
import type { Health } from "../upkeep/health.ts";
import type { WriterAnswer, WriterRequest } from "./protocol.ts";
import type { WriterConnection } from "./writer-client.ts";

/** An answer of the writer that is not a refusal. */
export type AcceptedAnswer = Exclude<WriterAnswer, { kind: "problem" }>;

/** The requests that are answered with `done`, and write nothing. */
const writesNothing: ReadonlySet<WriterRequest["kind"]> = new Set(["checkLoad", "cancel", "hold", "release"]);

/** The requests to the writer of one store. */
export class WriterRequests {
  readonly #writer: WriterConnection;
  readonly #health: Health;

  constructor(writer: WriterConnection, health: Health) {
    this.#writer = writer;
    this.#health = health;
  }

  /** Sends a request. Throws the refusal. */
  async send(request: WriterRequest): Promise<AcceptedAnswer> {
    const answer = await this.#writer.send(request);
    if (answer.kind === "problem") throw this.errorOf(answer);
    const hasWritten =
      answer.kind === "migrated" || (answer.kind === "done" && !writesNothing.has(request.kind));
    if (hasWritten) this.#health.noteSpace();
    return answer;
  }

  /**
   * Sends a request that has one kind of answer. Throws the refusal. If the writer cannot do it now, throws UNAVAILABLE or the
   * result of `toError`.
   */
  async sendFor<Kind extends AcceptedAnswer["kind"]>(
    kind: Kind,
    request: WriterRequest,
    toError: (message: string) => Error = (message) => new Problem("UNAVAILABLE", message),
  ): Promise<Extract<AcceptedAnswer, { kind: Kind }>> {
    this.#health.requireWorking(); // a write to a file that is gone would be lost
    const answer = await this.send(request);
    if (answer.kind === kind) return answer as Extract<AcceptedAnswer, { kind: Kind }>;
    if (answer.kind === "invalidState") throw toError(answer.message);
    throw new Error(`The writer answered "${request.kind}" with "${answer.kind}".`);
  }

  /** The refusal as an error. Also updates the health of the store. */
  errorOf(refusal: Refusal): Error {
    const { code, detail } = refusal;
    if (code === "INTERNAL") return new Error(detail);
    // An unknown outcome has two possible causes: the disk is full, or it has failed. If it has failed, the store stops anyway.
    if (code === "STORAGE_FULL" || code === "OUTCOME_UNKNOWN") this.#health.noteFull();
    return this.#health.damage.seen(problemOf(refusal));
  }
}
