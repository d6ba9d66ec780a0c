/** What takes part in the writes of a collection, beside its declaration. */
import type { Change } from "../store/port/commit.ts";
import type { Key } from "../store/port/stored.ts";

/** What takes part in the writes of one collection. */
export interface Participant {
  /** Loads what the collection needs to validate. Called before the content of a write is read. */
  load?(): Promise<void>;
  /** Creates the collection, if the service itself owns it. */
  prepare?(): Promise<void>;
  /** Completes a write that was checked. Throws the problems of the client. */
  settle?(write: ParticipantWrite): Promise<Settled>;
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
  told?: object;
  /** Called after the commit. */
  onCommitted?(): void;
}
