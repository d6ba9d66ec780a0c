/** Connections for commands. Their work has no time limit, and an error becomes one line of text. */
import { Problem, StartError } from "../../../errors.ts";
import { Connections, probe } from "./connections.ts";
import { describeError } from "./failures.ts";

/** The longest waits for a connection, and for the response to a quick statement. In milliseconds. */
export const connectTimeoutMs = 3_000;
export const responseTimeoutMs = 5_000;

/** Ignores an error of an idle connection: the next statement reports it. */
export const ignore = () => {};

/** The connections of one command. */
export interface CommandConnections {
  connections: Connections;
  /** Closes all connections. */
  close(): Promise<void>;
}

/** Opens connections without a time limit. They are closed if the database no longer responds. */
export function openCommandConnections(url: string): CommandConnections {
  const shared = { url, connectTimeoutMs, onIdleError: ignore };
  const others = new Connections({ ...shared, max: 1, responseTimeoutMs });
  const connections = new Connections({ ...shared, max: 3, probe: () => others.run(probe) });
  return {
    connections,
    async close() {
      await Promise.all([connections.close(), others.close()]);
    },
  };
}

/** Turns any other error into a StartError that says in one line what is wrong with the database. */
export async function withStartErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof StartError || error instanceof Problem) throw error;
    throw new StartError(`The database cannot be used: ${describeError(error)}.`);
  }
}
