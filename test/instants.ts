/** Random instants, and the forms in which they can be written. */
import fc from "fast-check";

const perMs = 10n ** 9n;
const year0 = BigInt(Date.parse("0000-01-02T00:00:00.000Z")) * perMs;
const year9999 = BigInt(Date.parse("9999-12-30T00:00:00.000Z")) * perMs;
const dayMs = 86_400_000n;

/** Instants in picoseconds since 1970: many are days, whole seconds or milliseconds. */
export const picoseconds: fc.Arbitrary<bigint> = fc
  .tuple(
    fc.oneof(
      fc.bigInt({ min: year0, max: year9999 }),
      fc.bigInt({ min: 1_767_225_600_000n * perMs, max: 1_767_312_000_000n * perMs }),
    ),
    fc.constantFrom(1n, 10n ** 6n, perMs, 1_000n * perMs, dayMs * perMs),
  )
  .map(([at, step]) => (at / step) * step);

/** Dates of a few neighbouring instants, in many forms: some of them mean the same. */
export const nearDates: fc.Arbitrary<string | number> = fc
  .tuple(
    fc.constantFrom(0n, 1n, perMs, 2n * perMs, dayMs * perMs, -perMs, dayMs * perMs * 2_500_000n),
    fc.nat(),
  )
  .map(([distance, choice]) => {
    const at = 1_767_225_600_000n * perMs + distance;
    const isWritable = at <= year9999;
    return isWritable ? forms(at, choice) : Number(at / perMs);
  });

/** One form of an instant. `choice` decides which of those that are exact. */
export function forms(at: bigint, choice: number): string | number {
  const zone = ((choice * 37) % (2 * 24 * 60 - 1)) - (24 * 60 - 1);
  const all: (string | number)[] = [textOf(at, undefined), textOf(at, zone), textOf(at, -zone).toLowerCase()];
  if (at % perMs === 0n) {
    const ms = Number(at / perMs);
    all.push(ms, new Date(ms).toISOString());
    if (at % (dayMs * perMs) === 0n) all.push(new Date(ms).toISOString().slice(0, 10));
    if (at % (60_000n * perMs) === 0n) all.push(`${new Date(ms).toISOString().slice(0, 16)}Z`);
  }
  return all[choice % all.length] as string | number;
}

/** The text of an instant in a zone, in minutes from UTC. The fraction has only the digits that it needs. */
function textOf(at: bigint, zone: number | undefined): string {
  const ms = Number((at - (((at % perMs) + perMs) % perMs)) / perMs);
  const rest = ((at % perMs) + perMs) % perMs;
  const local = new Date(ms + (zone ?? 0) * 60_000).toISOString();
  const fraction = (local.slice(20, 23) + String(rest).padStart(9, "0")).replace(/0+$/, "");
  const digits = (minutes: number) => String(Math.abs(minutes)).padStart(2, "0");
  const offset =
    zone === undefined ? "Z" : `${zone < 0 ? "-" : "+"}${digits(Math.trunc(zone / 60))}:${digits(zone % 60)}`;
  return `${local.slice(0, 19)}${fraction === "" ? "" : `.${fraction}`}${offset}`;
}
