/** The watcher's side of a service process (`service.ts`), and the messages between the two. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { FileContent } from "../../../config/values.ts";
import { forkProgram, processArguments } from "../../../program.ts";
import type { Flags } from "../../options.ts";

/** A message from the watcher to a service process. */
export type ToService =
  /** Read the configuration. With `mustFitStore`, refuse it if stored resources do not fit it. */
  | { kind: "read"; flags: Flags; mustFitStore: boolean }
  /** Serve the configuration, on this port if the configuration lets the service choose. */
  | { kind: "serve"; port: number }
  /** Stop gracefully. */
  | { kind: "stop" };

/** A message from a service process to the watcher. */
export type FromService =
  | { kind: "read"; content: FileContent; files: readonly ReadFile[] }
  | { kind: "refused"; text: string; files: readonly ReadFile[] }
  | { kind: "listening"; base: string };

/** A file of the configuration, and its state before it was read. */
export type ReadFile = readonly [path: string, state: string];

/** A process that reads the configuration, and can serve it. It ends when the watcher ends. */
export class ServiceProcess {
  readonly #process: ChildProcess;
  readonly #disconnected: Promise<unknown>;
  /** The exit code; 1 if a signal ended the process. */
  readonly exited: Promise<number>;
  #isStopping = false;

  constructor() {
    this.#process = forkProgram(processArguments.watchedService, {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      serialization: "advanced",
    });
    this.#disconnected = once(this.#process, "disconnect"); // comes after its last message
    this.exited = once(this.#process, "exit").then(([exitCode]) => (exitCode as number | null) ?? 1);
  }

  /** Whether `stop` or `kill` was called. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  get isRunning(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Sends a message, and returns the next message of the process; `undefined` if it ends without one. */
  async ask(message: ToService): Promise<FromService | undefined> {
    const reply = once(this.#process, "message").then(([received]) => received as FromService);
    this.#send(message);
    return Promise.race([reply, this.#disconnected.then(() => undefined)]);
  }

  /** Stops the service gracefully, and returns its exit code. */
  async stop(): Promise<number> {
    if (!this.#isStopping) this.#send({ kind: "stop" });
    this.#isStopping = true;
    return this.exited;
  }

  /** Ends the process immediately. It must not be serving. */
  async kill(): Promise<void> {
    this.#isStopping = true;
    this.#process.kill("SIGKILL");
    await this.exited;
  }

  #send(message: ToService): void {
    if (this.#process.connected) this.#process.send(message, () => {}); // fails only if the process has ended
  }
}
