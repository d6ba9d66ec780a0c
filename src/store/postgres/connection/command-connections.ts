/** Visits of commands to a database: they may take as long as they take, and tell in one line what goes wrong. */
import { Problem, StartError } from "../../../errors.ts";
import { Connections, probe } from "./connections.ts";
import { describeError } from "./failures.ts";

/** How long a connection is waited for, and then an answer to what is quick, in milliseconds. */
export const waitMs = 3_000;
export const answerMs = 5_000;

/** Takes what nobody has to be told. */
export const ignore = () => {};

/** What a visit works with. */
export interface CommandConnections {
  connections: Connections;
  /** Lets go of everything. */
  close(): Promise<void>;
}

/** Connections on which everything may take long, as long as the database answers at all. */
export function openCommandConnections(url: string): CommandConnections {
  const shared = { url, waitMs, onIdleError: ignore };
  const others = new Connections({ ...shared, max: 1, answerMs });
  const connections = new Connections({ ...shared, max: 3, probe: () => others.run(probe) });
  return {
    connections,
    async close() {
      await Promise.all([connections.close(), others.close()]);
    },
  };
}

/** Says in one line what is wrong with the database. */
export async function withStartErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof StartError || error instanceof Problem) throw error;
    throw new StartError(`The database cannot be used: ${describeError(error)}.`);
  }
}
