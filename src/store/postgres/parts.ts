/** What the store is put together from, where it is opened. */
import type { History } from "../history.ts";
import type { ReceiptLimits } from "../receipts.ts";
import type { Connections } from "./connection/connections.ts";

/** The parts of a store. */
export interface PostgresStoreParts {
  /** For reads and commits. */
  connections: Connections;
  /** For lists that may take long. */
  slow: Connections;
  /** For what is open for as long as it takes: imports, scans, migrations. */
  long: Connections;
  answersPerTurn: () => number;
  groupCommit: boolean;
  queryMs: number;
  sweepMs: number;
  readOnly: boolean;
  history: History;
  /** @default the program's */
  receipts?: ReceiptLimits;
  onWarning: (text: string) => void;
}
