import { Problem, type ProblemCode } from '@assay/till/kernel/problem'
import { problemTable } from '@assay/till/kernel/problem-table'
import { z } from 'zod'
import { jsonAnswer } from './json-answer.ts'
import { defineRoute, type RouteDeclaration } from './route.ts'

const errorSchema = z.strictObject({
  code: z.string(),
  title: z.string(),
  status: z.int(),
  retryable: z.boolean(),
  hint: z.string(),
})

function pageOf(code: ProblemCode) {
  const { title, status, retryable, hint } = problemTable[code]
  return { code, title, status, retryable, hint }
}

const isCode = (code: string): code is ProblemCode => Object.hasOwn(problemTable, code)

/** Where the `type` of every problem resolves. */
export const errorRoutes: readonly RouteDeclaration[] = [
  defineRoute({
    id: 'errors.list',
    area: 'core',
    method: 'GET',
    path: '/errors',
    summary: 'Every problem this node can answer with',
    output: z.strictObject({ data: z.array(errorSchema), next_cursor: z.null() }),
    example: { output: { data: [pageOf('payment_required')], next_cursor: null } },
    next: '/',
    cacheSeconds: 5,
    access: {
      kind: 'free',
      handle: async () =>
        jsonAnswer({ data: (Object.keys(problemTable) as ProblemCode[]).map(pageOf), next_cursor: null }),
    },
  }),
  defineRoute({
    id: 'errors.get',
    area: 'core',
    method: 'GET',
    path: '/errors/:code',
    summary: 'What one problem code means and what to do about it',
    params: z.strictObject({ code: z.string().max(64) }),
    output: errorSchema,
    example: { params: { code: 'payment_required' }, output: pageOf('payment_required') },
    next: '/errors',
    cacheSeconds: 5,
    access: {
      kind: 'free',
      handle: async ({ params }) => {
        if (!isCode(params.code)) throw new Problem('not_found', { detail: 'There is no such problem code.' })
        return jsonAnswer(pageOf(params.code))
      },
    },
  }),
]
