import { z } from 'zod'
import { sources } from '../sources/catalogue.ts'
import type { SourceId } from '../sources/source.ts'
import type { LicenceAssertion } from './gate.ts'

const ids = sources.map((source) => source.id) as [SourceId, ...SourceId[]]

const schema = z.array(
  z.strictObject({
    source: z.enum(ids),
    allows: z.enum(['free', 'paid']),
    asserted_by: z.string().min(3).max(200),
    asserted_at: z.iso.date(),
    reference: z.string().min(3).max(400),
  }),
)

/** The text of LICENCES: JSON, one entry for each source the operator has a licence for. */
export function readAssertions(text: string): { assertions: LicenceAssertion[]; problems: string[] } {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return { assertions: [], problems: ['LICENCES: is not JSON'] }
  }
  const parsed = schema.safeParse(json)
  if (!parsed.success)
    return {
      assertions: [],
      problems: parsed.error.issues.map((issue) => `LICENCES: ${issue.path.join('.')}: ${issue.message}`),
    }
  return {
    problems: [],
    assertions: parsed.data.map(({ source, allows, asserted_by, asserted_at, reference }) => ({
      source,
      allows,
      assertedBy: asserted_by,
      assertedAt: asserted_at,
      reference,
    })),
  }
}
