/** The ids of requests, which are in the responses and in the log. */
import { randomUUID } from "node:crypto";

/** Makes UUIDs (RFC 9562 §5.8) that identify requests: a random part for the process, and a counter. */
export function createRequestIds(): () => string {
  const [a, b, , d] = randomUUID().split("-");
  const start = `${a}-${b}-8${randomUUID().slice(15, 18)}-${d}-`;
  let count = 0;
  return () => start + (++count).toString(16).padStart(12, "0");
}
