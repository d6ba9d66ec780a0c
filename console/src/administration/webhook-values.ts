/** The values of the form for webhooks, and what the service gets from them. */
import type { Webhook, WebhookInput } from "holdfast-client";

/** The form. Texts are as they were typed. */
export interface WebhookForm {
  url: string;
  collections: string[];
  types: string[];
  filter: string;
  fields: string[];
  roles: string[];
  headers: string;
  description: string;
}

export const allTypes = ["created", "updated", "deleted"] as const;

/** A problem of the form that the page itself sees. */
export class FormError extends Error {
  readonly field: "filter" | "headers";
  /** The line that is no header. */
  readonly line: string | undefined;

  constructor(field: "filter" | "headers", line?: string) {
    super(field);
    this.field = field;
    this.line = line;
  }
}

/** The form of a webhook; an empty form without one. */
export function formOf(webhook: Partial<Webhook> = {}): WebhookForm {
  const { url = "", collections = [], types = allTypes, filter, fields = [], roles = [] } = webhook;
  return {
    url,
    collections: [...collections],
    types: [...types],
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
    filter: readFilter(form.filter),
    fields: form.fields.length === 0 ? null : form.fields,
    roles: form.roles,
    description: form.description === "" ? null : form.description,
    ...(headers !== undefined && { headers }),
  };
}

function readFilter(text: string): object | null {
  if (text.trim() === "") return null;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {}
  throw new FormError("filter");
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

/** An id with its first and last characters. */
export function shortId(id: string): string {
  return id.length <= 12 ? id : `${id.slice(0, 6)}…${id.slice(-4)}`;
}
