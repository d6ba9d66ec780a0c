/** Reads certificate and key anew while a service runs. */
import type { Server } from "node:net";
import { Server as TlsServer } from "node:tls";
import { StartError } from "../errors.ts";
import type { Service } from "../http/service.ts";
import { readKeyPair, type TlsFiles } from "../http/wire/tls.ts";

/**
 * A function that has new connections get what is in the files when it is called. It never throws: what is wrong with the files is
 * logged, and the pair before stays. Calls during a reading share the next one, which sees what each of them is about.
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
    const kept = "the certificate was not reloaded, and the previous one stays in use";
    if (error instanceof StartError) log.error([kept, ...error.faults.map(({ text }) => text)].join(": "));
    else log.error({ err: error }, kept);
  }
}
