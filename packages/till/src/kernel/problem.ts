import { problemTable } from './problem-table.ts'

/** RFC 9457 problem with a stable code, whether a retry can help, and what the caller should do next. */
export type ProblemCode = keyof typeof problemTable

export type ProblemDetails = {
  detail?: string
  /** Overrides the table's hint where the situation allows a better one. */
  hint?: string
  /** Extra members of the problem document, snake_case, never secret. */
  extra?: Record<string, unknown>
  retryAfterSeconds?: number
  headers?: Record<string, string>
}

/** The only error class that reaches a caller: the table decides status, title and hint. */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly status: number
  readonly details: ProblemDetails

  constructor(code: ProblemCode, details: ProblemDetails = {}) {
    super(details.detail ?? problemTable[code].title)
    this.name = 'Problem'
    this.code = code
    this.status = problemTable[code].status
    this.details = details
  }
}

/** The JSON body of a problem. `docsOrigin` is where `type` resolves. */
export function problemBody(problem: Problem, docsOrigin: string, requestId?: string): Record<string, unknown> {
  const row = problemTable[problem.code]
  return {
    type: `${docsOrigin}/errors/${problem.code}`,
    title: row.title,
    status: row.status,
    code: problem.code,
    retryable: row.retryable,
    ...(problem.details.detail === undefined ? {} : { detail: problem.details.detail }),
    hint: problem.details.hint ?? row.hint,
    ...(requestId === undefined ? {} : { request_id: requestId }),
    ...problem.details.extra,
  }
}

export function asProblem(error: unknown): Problem {
  return error instanceof Problem ? error : new Problem('internal')
}
