/** The Compose files, and the options of `docker run` and `podman run` that do the same. */
import { readFileSync } from "node:fs";
import { parse } from "yaml";

interface Service {
  image: string;
  volumes: string[];
  stop_grace_period: string;
  read_only: boolean;
  tmpfs: string[];
  cap_drop: string[];
  security_opt: string[];
  pids_limit: number;
  environment?: Record<string, string>;
  depends_on?: Record<string, unknown>;
}

/** A Compose file. */
export interface Compose {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
}

/** Reads a file of `examples/deploy/`. */
export function readCompose(name: string): Compose {
  return parse(readFileSync(`examples/deploy/${name}`, "utf8")) as Compose;
}

/** The service, as the example declares it. */
export const declared = readCompose("compose.yaml").services.holdfast as Service;

/** How long the engine waits before it kills the process, in seconds. */
export const graceSeconds = Number.parseInt(declared.stop_grace_period, 10);

/** The options that restrict the process as the example does. */
export function restrictions(): string[] {
  return [
    ...(declared.read_only ? ["--read-only"] : []),
    ...declared.tmpfs.map((path) => `--tmpfs=${path}`),
    ...declared.cap_drop.map((name) => `--cap-drop=${name}`),
    ...declared.security_opt.map((option) => `--security-opt=${option.replace(/:true$/, "")}`),
  ];
}
