/** What takes part in the writes of a collection beside its declaration, and what joins all commits. */
import type { Principal } from "../access/principal.ts";
import type { Mirrored } from "../import/item-reader.ts";
import type { Change } from "../store/port/commit.ts";
import type { Key } from "../store/port/stored.ts";
import type { HttpRequest } from "./protocol/message.ts";

/** What takes part in the writes of one collection. */
export interface Participant {
  /** Loads what the collection needs to validate. Called before the content of a write is read. */
  load?(): Promise<void>;
  /** Creates the collection, if the service itself owns it. */
  createCollection?(): Promise<void>;
  /** Completes a write that was checked. Throws the problems of the client. */
  settle?(write: ParticipantWrite): Promise<Settled>;
  /** Whether no create can choose an id, although no resource has it. */
  isTaken?(id: string): Promise<boolean>;
  /** The last text of a deleted resource, as a restore brings it back. */
  revive?(text: string): string;
  /** Changes that bring back earlier texts, with what their mirrored attributes are now. */
  overEarlier?(changes: readonly Change[]): Promise<readonly Change[]>;
  /** Attributes that follow something outside the collection. @default none do */
  readonly mirrored?: Mirrored | undefined;
}

/** The write of one resource, before it is committed. */
export interface ParticipantWrite {
  key: Key;
  /** Its text; `undefined` if it does not exist. */
  current: string | undefined;
  /** Its next text; `undefined` deletes it. */
  next: string | undefined;
  /** The attributes that the request names. */
  named: ReadonlySet<string>;
}

/** What a participant adds to a write. */
export interface Settled {
  /** The next text. @default it stays as it was */
  text?: string;
  /** Further changes of the same commit. @default none */
  changes?: readonly Change[];
  /** Attributes that only the response to a create has, such as a new secret. The response is then not stored. @default none */
  onlyInResponse?: object;
  /** Called after the commit. */
  onCommitted?(): void;
}

/** Adds the changes that a commit needs beside those of its write. Throws the problems of the client. */
export type JoinCommit = (commit: JoinedCommit) => Promise<readonly Change[]>;

/** The changes of a write, before they are committed. */
export interface JoinedCommit {
  changes: readonly Change[];
  /** Whether the texts are earlier ones, so that what they mirror can have changed since. */
  revives: boolean;
  principal: Principal | undefined;
  request: HttpRequest;
}
