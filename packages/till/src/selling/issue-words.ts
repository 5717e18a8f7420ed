import type { SchemaIssue } from './schema.ts'

/** The fields of zod's issues that say more than its message. */
type ZodIssue = SchemaIssue & {
  code?: string
  expected?: string
  origin?: string
  minimum?: number | bigint
  maximum?: number | bigint
  inclusive?: boolean
  divisor?: number
  format?: string
  values?: readonly unknown[]
}

/** How zod begins the messages that nobody wrote for a field. */
const unwritten = /^(?:Invalid|Too (?:big|small)|Unrecognized)\b/

const kinds: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
}

const units: Record<string, string> = { string: ' characters', array: ' entries', set: ' entries' }

/** What is wrong with a value, in words that need no knowledge of the schema library. */
export function issueWords(issue: SchemaIssue, value: unknown): string {
  if (!unwritten.test(issue.message)) return issue.message
  const { code, expected = '', values = [], divisor, format } = issue as ZodIssue
  if (valueAt(value, issue.path) === undefined) return 'is required'
  if (code === 'invalid_type') return `must be ${kinds[expected] ?? expected}`
  if (code === 'too_big' || code === 'too_small') return limitWords(issue, code)
  if (code === 'invalid_value') return `must be ${values.length > 1 ? 'one of ' : ''}${values.map(String).join(', ')}`
  if (code === 'not_multiple_of') return `must be a multiple of ${divisor}`
  if (code === 'invalid_format' && format !== 'regex') return `must be a valid ${format}`
  return 'is not valid'
}

function limitWords(issue: ZodIssue, code: 'too_big' | 'too_small'): string {
  const { origin = '', minimum, maximum, inclusive = true } = issue
  const unit = units[origin] ?? ''
  const verb = unit === '' ? 'must be' : 'must have'
  if (code === 'too_big') return `${verb} ${inclusive ? 'at most' : 'less than'} ${maximum}${unit}`
  return `${verb} ${inclusive ? 'at least' : 'more than'} ${minimum}${unit}`
}

function valueAt(value: unknown, path: SchemaIssue['path'] = []): unknown {
  let found = value
  for (const segment of path) {
    if (typeof found !== 'object' || found === null) return undefined
    found = (found as Record<PropertyKey, unknown>)[typeof segment === 'object' ? segment.key : segment]
  }
  return found
}
