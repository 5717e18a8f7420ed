import type { Log } from './log.ts'

/** Warnings and errors as JSON lines on standard error, where no log is given. */
export const stderrLog: Log = {
  info: () => {},
  warn: (fields, message) => write('warn', fields, message),
  error: (fields, message) => write('error', fields, message),
}

function write(level: string, fields: Record<string, unknown>, message: string): void {
  const text = JSON.stringify({ level, message, ...fields }, (_, value) =>
    value instanceof Error ? (value.stack ?? value.message) : typeof value === 'bigint' ? value.toString() : value,
  )
  process.stderr.write(`${text}\n`)
}
