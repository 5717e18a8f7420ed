import { z } from 'zod'
import { sources } from '../sources/catalogue.ts'
import type { SourceId } from '../sources/source.ts'
import type { LicenceAssertion } from './licence-policy.ts'

const ids = sources.map((source) => source.id) as [SourceId, ...SourceId[]]

const entry = z.strictObject({
  source: z.enum(ids),
  allows: z.enum(['free', 'paid']),
  asserted_by: z.string().min(3).max(200),
  asserted_at: z.iso.date(),
  reference: z.string().min(3).max(400),
})

export type Assertions = { assertions: LicenceAssertion[]; problems: string[] }

/** The text of LICENCES: one line for each source the operator has a licence for, or the same as JSON. */
export function readAssertions(text: string): Assertions {
  const read = text.trimStart().startsWith('[') ? readEntries(text) : readLines(text)
  if (read === undefined) return { assertions: [], problems: ['LICENCES: is not JSON'] }
  const assertions: LicenceAssertion[] = []
  const problems: string[] = []
  for (const { at, value } of read) {
    const parsed = entry.safeParse(value)
    if (!parsed.success) {
      for (const { path, message } of parsed.error.issues)
        problems.push(`LICENCES: ${[at, ...path].join('.')}: ${message}`)
      continue
    }
    const { source, allows, asserted_by, asserted_at, reference } = parsed.data
    assertions.push({ source, allows, assertedBy: asserted_by, assertedAt: asserted_at, reference })
  }
  return { assertions, problems }
}

type Read = { at: string; value: unknown }[] | undefined

function readEntries(text: string): Read {
  try {
    return (JSON.parse(text) as unknown[]).map((value, index) => ({ at: String(index), value }))
  } catch {
    return undefined
  }
}

/** `sec-fails | paid | Jane Doe, operator | 2026-03-01 | agreement 4711`; what begins with # is a remark. */
function readLines(text: string): Read {
  return text.split('\n').flatMap((line, index) => {
    if (/^\s*(#|$)/.test(line)) return []
    const [source, allows, asserted_by, asserted_at, ...rest] = line.split('|').map((cell) => cell.trim())
    const reference = rest.length === 0 ? undefined : rest.join(' | ')
    return [{ at: `line ${index + 1}`, value: { source, allows, asserted_by, asserted_at, reference } }]
  })
}
