/** Reloads the certificate and its key while the service runs. */
import type { Server } from "node:net";
import { Server as TlsServer } from "node:tls";
import { StartError } from "../errors.ts";
import type { Service } from "../http/service.ts";
import type { TlsFiles } from "../http/settings.ts";
import { type KeyPair, readKeyPair } from "../http/wire/tls.ts";

/**
 * Creates a function that reads the files again, and calls `use` with their content. It never throws: if a file has a fault, it
 * logs the fault, and the previous certificate stays in use. Calls during a reload share the next reload.
 */
export function createTlsReload(
  files: TlsFiles,
  use: (pair: KeyPair) => void,
  service: Pick<Service, "log" | "now">,
): () => Promise<void> {
  let last = Promise.resolve();
  let next: Promise<void> | undefined;
  return () => {
    next ??= last = last.then(() => {
      next = undefined;
      return reload(files, use, service);
    });
    return next;
  };
}

/** Uses another certificate for new connections. */
export function useKeyPair(server: Server, pair: KeyPair): void {
  if (server instanceof TlsServer) server.setSecureContext(pair);
}

async function reload(
  files: TlsFiles,
  use: (pair: KeyPair) => void,
  { log, now }: Pick<Service, "log" | "now">,
): Promise<void> {
  try {
    use(await readKeyPair(files, now()));
    log.info("the certificate was reloaded");
  } catch (error) {
    const failure = "the certificate was not reloaded, and the previous one stays in use";
    if (error instanceof StartError) log.error([failure, ...error.faults.map(({ text }) => text)].join(": "));
    else log.error({ err: error }, failure);
  }
}
