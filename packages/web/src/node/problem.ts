import { capital, words } from '../ui/format.ts'

/** What went wrong, in the node's own words where it had some. */
export class ProblemError extends Error {
  readonly status: number
  readonly code: string
  readonly hint: string
  readonly requestId: string | undefined
  /** False where the same request would be refused again. */
  readonly retryable: boolean

  constructor(problem: {
    title: string
    detail?: string
    hint?: string
    status?: number
    code?: string
    requestId?: string
    retryable?: boolean
  }) {
    super(problem.detail ?? problem.title)
    this.name = 'ProblemError'
    this.status = problem.status ?? 0
    this.code = problem.code ?? ''
    this.hint = problem.hint ?? ''
    this.requestId = problem.requestId
    this.retryable = problem.retryable ?? true
  }
}

type ProblemBody = {
  title?: unknown
  detail?: unknown
  hint?: unknown
  code?: unknown
  request_id?: unknown
  retryable?: unknown
}

type FieldProblem = { field: string; problem: string }

/** Which fields of a request are wrong, for a reader who filled in a form and never saw the request. */
function fieldsText(body: unknown): string | undefined {
  const { problems } = (body ?? {}) as { problems?: unknown }
  if (!Array.isArray(problems) || problems.length === 0) return undefined
  const text = (problems as FieldProblem[])
    .map(({ field, problem }) => `${words(field.replace(/^(?:params|query|body)\./, ''))} ${problem}`)
    .join('; ')
  return `${capital(text)}.`
}

/** An RFC 9457 body, or what is left of it. */
export function problemFrom(status: number, body: unknown): ProblemError {
  const fields = fieldsText(body)
  const { title, detail, hint, code, request_id, retryable } = (
    typeof body === 'object' && body !== null ? body : {}
  ) as ProblemBody
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined)
  const [detailText, hintText, codeText, id] = [
    fields ?? detail,
    // A person has the button; how many seconds is for programs.
    fields === undefined
      ? text(hint)?.replace(' after Retry-After seconds', ' later')
      : 'Correct it; nothing was charged.',
    code,
    request_id,
  ].map(text)
  return new ProblemError({
    title: text(title) ?? `The node answered ${status}.`,
    status,
    retryable: retryable !== false,
    ...(detailText === undefined ? {} : { detail: detailText }),
    ...(hintText === undefined ? {} : { hint: hintText }),
    ...(codeText === undefined ? {} : { code: codeText }),
    ...(id === undefined ? {} : { requestId: id }),
  })
}

/** Anything thrown, as something that can be shown: errors of the sdk carry their own hint. */
export function asProblem(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error
  if (wasRefusedByOwner(error))
    return new ProblemError({ title: 'The wallet was asked and said no.', hint: 'Nothing was signed.' })
  if (error instanceof Error) {
    const { hint, details } = error as Error & { hint?: unknown; details?: { problem?: unknown; status?: unknown } }
    if (details?.problem !== undefined) return problemFrom(Number(details.status ?? 0), details.problem)
    // The sdk says below it why a request failed.
    if (isUnreachable(error) || isUnreachable(error.cause))
      return new ProblemError({
        title: 'The node cannot be reached.',
        hint: typeof hint === 'string' ? hint : 'Is it still running? Try again.',
      })
    return new ProblemError({ title: error.message, ...(typeof hint === 'string' ? { hint } : {}) })
  }
  const { message } = (typeof error === 'object' && error !== null ? error : {}) as { message?: unknown }
  return new ProblemError({ title: typeof message === 'string' ? message : 'Something unexpected happened.' })
}

const isUnreachable = (error: unknown) => error instanceof TypeError && /fetch|network|load/i.test(error.message)

/** EIP-1193 names it 4001; some wallets throw a plain object, most an Error. */
function wasRefusedByOwner(error: unknown): boolean {
  return typeof error === 'object' && error !== null && (error as { code?: unknown }).code === 4001
}
