/** What the rest of the code knows of PostgreSQL. Adapters: the pool in `pool.ts`, transactions made by it. */
export type QueryResult<Row> = { rows: Row[]; rowCount: number }

export type Statement = {
  /** A name makes it a prepared statement on each connection: use it on hot paths only. */
  name?: string
  text: string
  values?: readonly unknown[]
}

export type Sql = {
  query<Row = Record<string, unknown>>(
    statement: string | Statement,
    values?: readonly unknown[],
  ): Promise<QueryResult<Row>>
}

/** An open transaction. Being its own type, a function that takes it cannot be called outside of one. */
export type Tx = Sql & { readonly transaction: true }

export type Database = Sql & {
  /** True where every transaction may meet another session: `listen` then hears nothing, and no lock can be held. */
  readonly pooled?: boolean
  /**
   * Runs `work` in one transaction. Serialization failures and deadlocks (40001, 40P01) are retried from the start, and a session
   * that was lost before COMMIT once.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * LISTEN on a channel over its own connection that reconnects. Returns the way to stop. Messages sent while it
   * was broken are lost: `onResync` is called after each reconnect, to read the state again.
   */
  listen(channel: string, onMessage: (payload: string) => void, onResync?: () => void): Promise<() => Promise<void>>
  /** Reads that may lack what was committed in the last `msMax`, from a replica; absent where there is none. */
  within?(msMax: number): Sql
  /** Takes a session advisory lock on its own connection and keeps it until released or the process ends. */
  holdLock(key: bigint): Promise<HeldLock>
  close(): Promise<void>
}

/** For reads that may lag a little: a replica's where there is one that lags no more, else the primary's. */
export const readWithin = (database: Database, msMax: number): Sql => database.within?.(msMax) ?? database

export type HeldLock = {
  /** Aborted when the connection broke: the lock is lost, and work that depends on it must stop. */
  readonly lost: AbortSignal
  release(): Promise<void>
}

/** bigint, numeric and timestamptz columns arrive as bigint, string and Date; bytea as Buffer; jsonb as parsed JSON. */
