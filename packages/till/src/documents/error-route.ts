import { z } from 'zod'
import { findProblem, Problem, type ProblemKind } from '../kernel/problem.ts'
import { type DescribedRoute, jsonAnswer } from '../selling/index.ts'

export const errorSchema = z.strictObject({
  code: z.string(),
  title: z.string(),
  status: z.int(),
  retryable: z.boolean(),
  hint: z.string(),
})

export const errorPage = ({ code, title, status, retryable, hint }: ProblemKind) => ({
  code,
  title,
  status,
  retryable,
  hint,
})

/** Where the `type` of every problem resolves. */
export function errorRoute(path: string): DescribedRoute {
  return {
    id: 'errors.get',
    method: 'GET',
    path,
    summary: 'What one problem code means and what to do about it',
    params: z.strictObject({ code: z.string().max(64) }),
    output: errorSchema,
    example: { params: { code: 'payment_required' }, output: errorPage(new Problem('payment_required').kind) },
    access: {
      kind: 'free',
      handle: async ({ params }) => {
        const kind = findProblem(params.code)
        if (!kind) throw new Problem('not_found', { detail: 'There is no such problem code.' })
        return jsonAnswer(errorPage(kind))
      },
    },
  }
}
