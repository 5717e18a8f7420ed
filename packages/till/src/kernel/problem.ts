import { problemTable } from './problem-table.ts'

/** RFC 9457 problem with a stable code, whether a retry can help, and what the caller should do next. */
export type ProblemKind = { code: string; status: number; title: string; retryable: boolean; hint: string }
export type ProblemRow = Omit<ProblemKind, 'code'>
export type ProblemCode = keyof typeof problemTable

export const problemRow = (status: number, retryable: boolean, title: string, hint: string): ProblemRow => ({
  status,
  title,
  retryable,
  hint,
})

const known = new Map<string, ProblemKind>()

/** Adds the problems of one owner to those this process knows. A code has one owner. */
export function defineProblems<Code extends string>(rows: Record<Code, ProblemRow>): Record<Code, ProblemKind> {
  const kinds = Object.entries<ProblemRow>(rows).map(([code, row]) => [code, { code, ...row }] as const)
  for (const [code, kind] of kinds) {
    if (known.has(code)) throw new Error(`the problem ${code} is defined twice`)
    known.set(code, kind)
  }
  return Object.fromEntries(kinds) as Record<Code, ProblemKind>
}

/** The owner of a route says that it helps with problems of the till, which knows no routes. */
export function setHints(hints: Partial<Record<ProblemCode, string>>): void {
  for (const [code, hint] of Object.entries(hints)) {
    const kind = known.get(code)
    if (!kind) throw new Error(`the problem ${code} is not defined`)
    kind.hint = hint
  }
}

const coreProblems = defineProblems(problemTable)

/** Every problem that this process can answer with. */
export const knownProblems = (): ProblemKind[] => [...known.values()]

export const findProblem = (code: string): ProblemKind | undefined => known.get(code)

export type ProblemDetails = {
  detail?: string
  /** Overrides the table's hint where the situation allows a better one. */
  hint?: string
  /** Extra members of the problem document, snake_case, never secret. */
  extra?: Record<string, unknown>
  retryAfterSeconds?: number
  headers?: Record<string, string>
}

/** The only error class that reaches a caller: its kind decides status, title and hint. */
export class Problem extends Error {
  readonly kind: ProblemKind
  readonly details: ProblemDetails

  constructor(problem: ProblemCode | ProblemKind, details: ProblemDetails = {}) {
    const kind = typeof problem === 'string' ? coreProblems[problem] : problem
    super(details.detail ?? kind.title)
    this.name = 'Problem'
    this.kind = kind
    this.details = details
  }

  get code(): string {
    return this.kind.code
  }

  get status(): number {
    return this.kind.status
  }
}

/** One field of the input is wrong. */
export const fieldProblem = (field: string, problem: string, { extra, ...details }: ProblemDetails = {}): Problem =>
  new Problem('input_invalid', {
    detail: `${field} ${problem}`,
    ...details,
    extra: { problems: [{ field, problem }], ...extra },
  })

/** The JSON body of a problem. `docsOrigin` is where `type` resolves. */
export function problemBody(problem: Problem, docsOrigin: string, requestId?: string): Record<string, unknown> {
  const { code, title, status, retryable, hint } = problem.kind
  return {
    type: `${docsOrigin}/errors/${code}`,
    title,
    status,
    code,
    retryable,
    ...(problem.details.detail === undefined ? {} : { detail: problem.details.detail }),
    hint: problem.details.hint ?? hint,
    ...(requestId === undefined ? {} : { request_id: requestId }),
    ...problem.details.extra,
  }
}

export function asProblem(error: unknown): Problem {
  return error instanceof Problem ? error : new Problem('internal')
}
