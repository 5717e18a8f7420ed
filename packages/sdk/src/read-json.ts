import type { AssayResult } from './context.ts'
import { AssayError } from './errors.ts'

/** The answer's JSON; a refusal becomes an error that carries the node's own words. */
export async function readJson<T>({ response }: AssayResult): Promise<T> {
  const body: unknown = await response.json().catch(() => undefined)
  if (response.ok) return body as T
  const problem = (body ?? {}) as { code?: string; detail?: string; title?: string; hint?: string }
  throw new AssayError('request_failed', {
    detail: problem.detail ?? problem.title ?? `status ${response.status}`,
    hint: problem.hint,
    status: response.status,
    problem,
  })
}
