import { usageError } from '../exit-codes.ts'

const dayPattern = /^\d{4}-\d{2}-\d{2}$/
const dayMs = 86_400_000

/** Whole days in UTC, both included; until today by default. */
export function rangeOf(
  { from, to }: { from?: string; to?: string },
  now: Date,
  fallback: string,
): { from: Date; until: Date } {
  const first = dayOf('--from', from ?? fallback)
  const last = dayOf('--to', to ?? now.toISOString().slice(0, 10))
  if (last < first) throw usageError('--to must not be before --from')
  return { from: first, until: new Date(last.getTime() + dayMs) }
}

function dayOf(option: string, text: string): Date {
  const time = dayPattern.test(text) ? new Date(`${text}T00:00:00Z`) : new Date(Number.NaN)
  if (Number.isNaN(time.getTime()) || time.toISOString().slice(0, 10) !== text)
    throw usageError(`${option}: not a day: ${text}`, 'Such as 2026-01-31.')
  return time
}
