/** Structured log port. Fields never carry secrets; text from outside is cut and escaped by the adapter. */
export type Log = {
  info(fields: Record<string, unknown>, message: string): void
  warn(fields: Record<string, unknown>, message: string): void
  error(fields: Record<string, unknown>, message: string): void
}

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} }
