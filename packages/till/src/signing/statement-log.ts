import type { Sql, Tx } from '../store/database.ts'

/** The transparency log, which also has every statement about keys. */
export type StatementLog = {
  /** The name of the log, and how many leaves it has; its name is null before the node first started. */
  position(sql: Sql): Promise<{ origin: string | null; size: number }>
  /** In the transaction that stores the statement. */
  append(tx: Tx, drafts: readonly { kind: string; subject: string; entry: Uint8Array }[]): Promise<void>
}
