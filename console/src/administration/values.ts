/** What the pages for administrators make of values: those of their forms, and those that they show. */
import type { ApiKey, ServiceConfiguration, Webhook, WebhookInput } from "holdfast-client";

/** The form. Texts are as they were typed. */
export type WebhookForm = ReturnType<typeof formOf>;

export const allTypes = ["created", "updated", "deleted"] as const;

/** A problem of the form that the page itself sees. */
export class FormError extends Error {
  /** The name of the field. */
  readonly field: string;
  /** The line that is no header. */
  readonly line: string | undefined;

  constructor(field: string, line?: string) {
    super(field);
    this.field = field;
    this.line = line;
  }
}

/** The form of a webhook; an empty form without one. */
export function formOf(webhook: Partial<Webhook> = {}) {
  const { url = "", collections = [], types = allTypes, filter, fields = [], roles = [] } = webhook;
  return {
    url,
    collections: [...collections],
    types: [...types] as string[],
    filter: filter === undefined || filter === null ? "" : JSON.stringify(filter, null, 2),
    fields: [...(fields ?? [])],
    roles: [...(roles ?? [])],
    headers: "",
    description: webhook.description ?? "",
  };
}

/** The attributes of a new webhook. Throws FormError. */
export function inputOf(form: WebhookForm): WebhookInput {
  const patch = patchOfForm(form);
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== null)) as WebhookInput;
}

/** The changes of an existing webhook. `null` removes an attribute. Headers that were not typed stay. Throws FormError. */
export function patchOfForm(form: WebhookForm): Record<string, unknown> {
  const headers = readHeaders(form.headers);
  return {
    url: form.url.trim(),
    collections: form.collections,
    types: form.types,
    filter: readObject("filter", form.filter),
    fields: form.fields.length === 0 ? null : form.fields,
    roles: form.roles,
    description: form.description === "" ? null : form.description,
    ...(headers !== undefined && { headers }),
  };
}

/** The object of a field; `null` if it is empty. Throws FormError. */
export function readObject(field: string, text: string): object | null {
  if (text.trim() === "") return null;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {}
  throw new FormError(field);
}

/** The headers of a text with one a line. */
export function readHeaders(text: string): Record<string, string> | undefined {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  if (lines.length === 0) return undefined;
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(":");
      const value = line.slice(at + 1).trim();
      if (at < 1 || value === "") throw new FormError("headers", line);
      return [line.slice(0, at).trim(), value];
    }),
  );
}

type KeyState = "valid" | "revoked" | "expired";

/** A key that was revoked also counts as revoked after its expiry. */
export function stateOf({ valid, revokedAt }: Pick<ApiKey, "valid" | "revokedAt">): KeyState {
  if (valid) return "valid";
  return revokedAt === null ? "expired" : "revoked";
}

/** Valid keys first, the newest of each first. */
export function keysInOrder(keys: readonly ApiKey[]): ApiKey[] {
  return keys.toSorted((a, b) => Number(b.valid) - Number(a.valid) || b.createdAt.localeCompare(a.createdAt));
}

const hourMs = 3_600_000;

/** Whether a use is so recent that its time says nothing: the service records it to the hour. */
export function isThisHour(text: string, now: number): boolean {
  return now - Date.parse(text) < hourMs;
}

const dayMs = 86_400_000;

/** The expiry as the service reads it: never, a number of days from now, or the end of a date in UTC. */
export function expiryOf(choice: string, date: string, now: number): string | null {
  if (choice === "never") return null;
  if (choice !== "date") return new Date(now + Number(choice) * dayMs).toISOString();
  const start = Date.parse(date);
  return Number.isNaN(start) ? date : new Date(start + dayMs).toISOString();
}

type Options = ServiceConfiguration["options"];

/** The options whose name, value or source contains every word, whatever its case. */
export function optionsThatMatch(
  options: Options,
  { text, onlySet }: { text: string; onlySet: boolean },
): Options {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return options.filter(({ name, value, source, from = "" }) => {
    if (onlySet && source === "default") return false;
    const all = `${name} ${value === null ? "" : shownValue(value)} ${source} ${from}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

/** A value as text: a string as it is, anything else as JSON. */
export function shownValue(value: unknown): string {
  if (typeof value === "string") return value === "" ? '""' : value;
  const short = JSON.stringify(value);
  return short.length <= 60 ? short : JSON.stringify(value, null, 2);
}
