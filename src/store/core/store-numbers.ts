/** The numbers of a whole store, in its table `meta`: what they mean, and which values cannot be right. */
import type { Dialect } from "../sql/dialect.ts";
import type { Plan } from "../sql/plans.ts";
import { query } from "../sql/table.ts";
import { isIntactSecret, secretNames } from "./secret.ts";

/** All numbers, by their names. */
export function storeNumbers({ tablePrefix }: Dialect): Plan<ReadonlyMap<string, number>> {
  return query<[], ReadonlyMap<string, number>>(
    `select name, value from ${tablePrefix}meta`,
    (rows) => new Map(rows.map(([name, value]) => [String(name), Number(value)])),
  )();
}

/** The number of stored responses, and their bytes. Reads all of them. */
export function receiptTotals({ tablePrefix }: Dialect): Plan<{ receipts: number; answers: number }> {
  return query<[], { receipts: number; answers: number }>(
    `select count(*), coalesce(sum(octet_length(answer)), 0) from ${tablePrefix}receipts`,
    ([row = []]) => {
      const [receipts = 0, answers = 0] = row.map(Number);
      return { receipts, answers };
    },
  )();
}

/** A number that cannot be right. */
export interface WrongNumber {
  name: string;
  /** What is wrong with it. */
  reason: string;
  /** What this means for requests. */
  effect: string;
}

/** What the walk knows about numbers from the other rows of the store. */
export interface KnownNumbers {
  /** The highest group of a change in a log. */
  groups: number;
  /** The number of stored responses and their bytes, if they were counted in the same snapshot. */
  receipts?: { receipts: number; answers: number } | undefined;
}

/** The numbers that every store has, and what a wrong one means. */
const effects: Readonly<Record<string, string>> = {
  format: "Programs refuse the store, or read it in a wrong way.",
  groups: "Changes of different commits can seem to belong together.",
  receipts: "Stored responses can be removed too early, or be kept too long.",
  answers: "Stored responses can be removed too early, or be kept too long.",
};

/** The numbers that a SQLite file can have. */
const ownEffects: Readonly<Record<string, string>> = {
  files:
    "Commands that change API keys beside a running service refuse to do it. The next start writes the number again.",
  probes: "The service cannot find out that a full disk has space again.",
};

/** Compares the numbers with their forms, and with what is known. Unknown names are those of another version, and not wrong. */
export function wrongNumbers(
  numbers: ReadonlyMap<string, number>,
  { groups, receipts }: KnownNumbers,
): readonly WrongNumber[] {
  const wrong: WrongNumber[] = [];
  const note = (name: string, reason: string) =>
    wrong.push({ name: `"${name}"`, reason, effect: effects[name] ?? ownEffects[name] ?? "" });
  for (const name of Object.keys(effects)) {
    const value = numbers.get(name);
    const counted = receipts?.[name as keyof typeof receipts];
    if (value === undefined) note(name, "it is missing");
    else if (!isCount(value)) note(name, `it is ${value}`);
    else if (name === "groups" && value < groups)
      note(name, `it is ${value}, but a change has the group ${groups}`);
    else if (counted !== undefined && value !== counted)
      note(name, `it is ${value}, but there are ${counted}`);
  }
  for (const name of Object.keys(ownEffects)) {
    const value = numbers.get(name) ?? 0;
    if (!isCount(value)) note(name, `it is ${value}`);
  }
  if (!isIntactSecret(numbers))
    wrong.push({
      name: secretNames.map((name) => `"${name}"`).join(", "),
      reason: "the parts of the secret are not those that were written",
      effect:
        "The service does not start, because the positions in the feed that clients have would be invalid.",
    });
  return wrong;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
