/** A process that reads the configuration, and may serve it (`service.ts`). */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Order, Report } from "./messages.ts";

const program = fileURLToPath(new URL(`./service${extname(import.meta.url)}`, import.meta.url));

/** The process, as the watcher sees it. It ends when the watcher does. */
export class ServiceProcess {
  readonly #process: ChildProcess;
  readonly #disconnected: Promise<unknown>;
  /** The exit code; 1 if a signal ended it. */
  readonly exited: Promise<number>;
  #isStopping = false;

  constructor() {
    this.#process = fork(program, {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      serialization: "advanced",
    });
    this.#disconnected = once(this.#process, "disconnect"); // after its last report
    this.exited = once(this.#process, "exit").then(([exitCode]) => (exitCode as number | null) ?? 1);
  }

  /** Whether it has been asked to stop. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Whether it has not ended. */
  get isRunning(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Gives what it reports next; `undefined` if it ends without a report. */
  async ask(order: Order): Promise<Report | undefined> {
    const report = once(this.#process, "message").then(([message]) => message as Report);
    this.#send(order);
    return Promise.race([report, this.#disconnected.then(() => undefined)]);
  }

  /** Has it answer what it accepted, and gives its exit code. */
  async stop(): Promise<number> {
    if (!this.#isStopping) this.#send({ kind: "stop" });
    this.#isStopping = true;
    return this.exited;
  }

  /** Ends it at once. It must not serve. */
  async discard(): Promise<void> {
    this.#isStopping = true;
    this.#process.kill("SIGKILL");
    await this.exited;
  }

  #send(order: Order): void {
    if (this.#process.connected) this.#process.send(order, () => {}); // where it fails, the process has ended
  }
}
