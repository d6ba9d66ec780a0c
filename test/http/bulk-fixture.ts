/** Resources of certain sizes, and bulk changes of them. */
import type { Answer, Service } from "./service.ts";

/** Resources whose texts have this many bytes in total, and half as many characters. */
export function seeds(
  count: number,
  bytes: number,
  more: object = {},
): ({ id: string } & Record<string, unknown>)[] {
  return Array.from({ length: count }, (_, n) => {
    const size = Math.floor(bytes / count) + (n < bytes % count ? 1 : 0);
    const bare = { id: `id${String(n).padStart(4, "0")}`, ...more, odd: "", even: "" };
    const left = size - Buffer.byteLength(JSON.stringify(bare));
    return { ...bare, odd: "x".repeat(left % 2), even: "é".repeat(Math.floor(left / 2)) };
  });
}

export const send = (service: Service, collection: string, content: unknown): Promise<Answer> =>
  service.send({ method: "POST", path: `/api/v1/${collection}/_bulk`, content }, { mayFail: true });
