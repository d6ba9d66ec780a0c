/** The paths of the service that describe it and administer it. */
import type { CallOptions, Send } from "./transport.ts";

/** An action that access rules are about. */
export type Action = "list" | "read" | "create" | "update" | "delete";

/** A collection as the caller sees it. */
export interface CollectionDetails {
  readonly name: string;
  /** The path of the collection. */
  readonly href: string;
  /** Whether the configuration declares the collection. */
  readonly declared: boolean;
  /** How new ids are made. */
  readonly id: "uuid" | "integer";
  /** The JSON Schema of the attributes that clients send; `null` if it is not known to the caller. */
  readonly schema: object | boolean | null;
  /** The defaults of attributes as the configuration has them, such as `"$now"`. */
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly timestamps: boolean;
  /** The attribute with the time from which a resource does not exist any more; absent if resources do not expire. */
  readonly expires?: string;
  readonly requirePreconditions: boolean;
  readonly indexes: readonly (readonly string[])[];
  readonly unique: readonly UniqueAttributes[];
  readonly search: readonly string[];
  readonly references: readonly {
    readonly attribute: string;
    readonly collection: string;
    readonly onDelete: "restrict" | "cascade" | "clear";
  }[];
  readonly relations: readonly {
    readonly name: string;
    readonly kind: "reference" | "inverse";
    readonly collection: string;
    readonly attribute: string;
    /** Whether a resource can have several related resources. */
    readonly list: boolean;
  }[];
  /** What the caller can do with at least some resources. */
  readonly operations: readonly Action[];
  /** The number of resources, if the caller can list all of them. */
  readonly count?: number;
  /** The computed attributes that are not complete, and how many resources are left, if the caller can list all of them. */
  readonly computing?: { readonly attributes: readonly string[]; readonly left?: number };
  /**
   * About how many bytes of the database the collection takes, with its history, indexes and search words. For administrators.
   * Missing if the service could not find it out quickly.
   */
  readonly bytes?: number;
  /** The access rules, for administrators; `null` without `auth`. */
  readonly rules?: Readonly<Record<Action, readonly DeclaredRule[]>> | null;
}

/** A unique attribute, or a combination of attributes of which no two resources have the same values. */
export interface UniqueAttributes {
  /** The one attribute; absent for a combination. */
  readonly attribute?: string;
  /** The attributes of a combination. */
  readonly attributes?: readonly string[];
  /** Whether the letters A to Z are equal in upper and lower case. */
  readonly ignoreCase: boolean;
  readonly ignore?: "case" | "accents";
  /** Only resources that match this filter can conflict. Absent: all resources. */
  readonly where?: Readonly<Record<string, unknown>>;
}

/** A rule as the configuration declares it. */
export interface DeclaredRule {
  /** Its place in the configuration; `null` for the rule of a collection without `access`. */
  readonly at: string | null;
  readonly rule: unknown;
}

/** A question about access. */
export interface AccessQuestion {
  readonly collection: string;
  readonly operation: Action;
  /** The id of a resource. Without it, the question is about any resource of the collection. */
  readonly id?: string | number;
  /** The caller to ask for, instead of yourself; `null`: without a credential. Only for administrators. */
  readonly as?: {
    readonly subject?: string;
    readonly roles?: readonly string[];
    readonly claims?: Readonly<Record<string, unknown>>;
    readonly scopes?: readonly string[];
  } | null;
}

/** Whether an operation is allowed. */
export interface AccessAnswer {
  readonly collection: string;
  readonly operation: Action;
  readonly id?: string;
  readonly allowed: boolean;
  /** With which resources the caller can do this. */
  readonly resources: "all" | "some" | "none";
  /** Why, for people. */
  readonly reason: string;
  readonly attributes: {
    /** The attributes that the caller cannot set. */
    readonly readOnly: readonly string[];
    /** The attributes that no response contains. */
    readonly writeOnly: readonly string[];
    /** The attributes that do not exist for the caller. Only for administrators. */
    readonly restricted?: readonly string[];
  };
  /** Whether the resource exists. Only for administrators. */
  readonly exists?: boolean;
  /** What the operation needs. Only for administrators. */
  readonly checks?: readonly AccessCheck[];
}

/** One thing that an operation needs. */
export interface AccessCheck {
  readonly needs: "scope" | "writable" | "read" | "rule";
  readonly passes: boolean;
  readonly reason: string;
  /** The rules. One of them is enough. */
  readonly rules?: readonly ExplainedRule[];
}

/** A rule, and what it decides. */
export interface ExplainedRule extends DeclaredRule {
  readonly resources: "all" | "some" | "none";
  readonly reason: string;
  /** The conditions of its filter. */
  readonly conditions?: readonly {
    readonly attribute: string;
    readonly condition: string;
    /** Whether the condition must not be true. */
    readonly negated: boolean;
    readonly values: readonly unknown[];
    readonly actual?: unknown;
    readonly isMet?: boolean;
  }[];
}

/** Asks whether an operation is allowed. Nothing changes, so the request can be sent again. */
export async function askAccess(
  send: Send,
  question: AccessQuestion,
  options: CallOptions = {},
): Promise<AccessAnswer> {
  const call = { method: "POST", path: "/_access", content: question, isRepeatable: true };
  return (await send({ ...options, ...call })).body as AccessAnswer;
}

/** The effective configuration of a service. */
export interface ServiceConfiguration {
  /** The configuration file; `null` without one. */
  readonly file: string | null;
  readonly options: readonly {
    readonly name: string;
    /** The effective value, without secrets; `null` if it is not set. */
    readonly value: unknown;
    readonly source: "default" | "file" | "application" | "environment" | "flag";
    /** The flag or the environment variable. */
    readonly from?: string;
  }[];
}

/** Reads all pages of the collections that the caller can list, sorted by name. */
export async function readCollectionDetails(
  send: Send,
  options: CallOptions = {},
): Promise<readonly CollectionDetails[]> {
  const all: CollectionDetails[] = [];
  for (let query: string | undefined = ""; query !== undefined; ) {
    const path = `/_collections${query}`;
    const { body } = await send({ ...options, method: "GET", path, isRepeatable: true });
    const page = body as { collections: CollectionDetails[]; next?: string };
    all.push(...page.collections);
    query = page.next?.slice(page.next.indexOf("?"));
  }
  return all;
}
