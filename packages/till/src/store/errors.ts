/** A start that cannot go on; the text is written for the operator. */
export class StoreError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreError'
  }
}

/** Another process runs the same data folder. Nothing of it was touched. */
export class AlreadyRunning extends StoreError {
  constructor(folder: string) {
    super(
      `already running: another node uses the data folder ${folder}. Stop it first, give this one another folder with ASSAY_HOME, or join it with DATABASE_URL.`,
    )
    this.name = 'AlreadyRunning'
  }
}

/** The connection broke while a write was under way: it took effect or it did not. Read again by key before acting. */
export class CommitUnknown extends Error {
  constructor(cause: unknown) {
    super('the database connection was lost before the outcome arrived; read again by key before acting', { cause })
    this.name = 'CommitUnknown'
  }
}

/** No connection could be had, or the server can write nothing now: nothing took effect. */
export class StoreUnavailable extends Error {
  constructor(cause: unknown) {
    super('the database cannot be reached', { cause })
    this.name = 'StoreUnavailable'
  }
}

/** SQLSTATE of an error that the server reported. */
export function sqlStateOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  // The driver's own network errors carry a code too (ECONNRESET), which is never five characters of this kind.
  return typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code) && 'severity' in error
    ? error.code
    : undefined
}

/** True when the statement itself was evaluated and refused; false when the session ended around it. */
export function wasRefusedByServer(error: unknown): boolean {
  const state = sqlStateOf(error)
  if (state === undefined || state.startsWith('08')) return false
  return (error as { severity?: string }).severity === 'ERROR'
}

/** Read-only, as a server that is not the leader, or without room on its disk. */
const writesNothing = new Set(['25006', '53100'])

/** True when the server refused because of its own condition, which another server or a later time may cure. */
export function cannotWrite(error: unknown): boolean {
  return wasRefusedByServer(error) && writesNothing.has(sqlStateOf(error) ?? '')
}

/** Serialization, deadlock, lock and statement timeouts: refused now and undone, perhaps not in a moment. */
const passing = new Set(['40001', '40P01', '55P03', '57014'])

/** True when the same may succeed later: the database was not reached, broke off, or refused for want of time. */
export function isTransient(error: unknown): boolean {
  return error instanceof StoreUnavailable || error instanceof CommitUnknown || passing.has(sqlStateOf(error) ?? '')
}
