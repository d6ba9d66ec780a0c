/** Reloads the certificate and its key while the service runs. */
import type { Server } from "node:net";
import { Server as TlsServer } from "node:tls";
import { StartError } from "../errors.ts";
import type { Service } from "../http/service.ts";
import type { TlsFiles } from "../http/settings.ts";
import { readKeyPair } from "../http/wire/tls.ts";

/**
 * Creates a function that reads the files again, for new connections. It never throws: if a file has a fault, it logs the
 * fault, and the previous certificate stays in use. Calls during a reload share the next reload.
 */
export function createTlsReload(
  server: Server,
  files: TlsFiles,
  service: Pick<Service, "log" | "now">,
): () => Promise<void> {
  let last = Promise.resolve();
  let next: Promise<void> | undefined;
  return () => {
    next ??= last = last.then(() => {
      next = undefined;
      return reload(server, files, service);
    });
    return next;
  };
}

async function reload(
  server: Server,
  files: TlsFiles,
  { log, now }: Pick<Service, "log" | "now">,
): Promise<void> {
  try {
    const pair = await readKeyPair(files, now());
    if (server instanceof TlsServer) server.setSecureContext(pair);
    log.info("the certificate was reloaded");
  } catch (error) {
    const failure = "the certificate was not reloaded, and the previous one stays in use";
    if (error instanceof StartError) log.error([failure, ...error.faults.map(({ text }) => text)].join(": "));
    else log.error({ err: error }, failure);
  }
}
