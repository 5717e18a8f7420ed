import { findProblem, knownProblems, Problem, type ProblemKind } from '@assay/till/kernel/problem'
import { jsonAnswer } from '@assay/till/selling'
import { z } from 'zod'
import { defineRoute, type RouteDeclaration } from './route.ts'

const errorSchema = z.strictObject({
  code: z.string(),
  title: z.string(),
  status: z.int(),
  retryable: z.boolean(),
  hint: z.string(),
})

const pageOf = ({ code, title, status, retryable, hint }: ProblemKind) => ({ code, title, status, retryable, hint })

const example = pageOf(new Problem('payment_required').kind)

/** Where the `type` of every problem resolves. */
export const errorRoutes: readonly RouteDeclaration[] = [
  defineRoute({
    id: 'errors.list',
    area: 'core',
    method: 'GET',
    path: '/errors',
    summary: 'Every problem this node can answer with',
    output: z.strictObject({ data: z.array(errorSchema), next_cursor: z.null() }),
    example: { output: { data: [example], next_cursor: null } },
    next: '/',
    cacheSeconds: 5,
    access: {
      kind: 'free',
      handle: async () => jsonAnswer({ data: knownProblems().map(pageOf), next_cursor: null }),
    },
  }),
  defineRoute({
    id: 'errors.get',
    capability: 'errors',
    area: 'core',
    method: 'GET',
    path: '/errors/:code',
    summary: 'What one problem code means and what to do about it',
    params: z.strictObject({ code: z.string().max(64) }),
    output: errorSchema,
    example: { params: { code: 'payment_required' }, output: example },
    next: '/errors',
    cacheSeconds: 5,
    access: {
      kind: 'free',
      handle: async ({ params }) => {
        const kind = findProblem(params.code)
        if (!kind) throw new Problem('not_found', { detail: 'There is no such problem code.' })
        return jsonAnswer(pageOf(kind))
      },
    },
  }),
]
