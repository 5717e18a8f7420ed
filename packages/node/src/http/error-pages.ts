import { errorPage, errorRoute, errorSchema } from '@assay/till/documents'
import { knownProblems, Problem } from '@assay/till/kernel/problem'
import { jsonAnswer } from '@assay/till/selling'
import { z } from 'zod'
import { defineRoute, type RouteDeclaration } from './route.ts'

/** Where the `type` of every problem resolves. */
export const errorRoutes: readonly RouteDeclaration[] = [
  defineRoute({
    id: 'errors.list',
    area: 'core',
    method: 'GET',
    path: '/errors',
    summary: 'Every problem this node can answer with',
    output: z.strictObject({ data: z.array(errorSchema), next_cursor: z.null() }),
    example: { output: { data: [errorPage(new Problem('payment_required').kind)], next_cursor: null } },
    next: '/',
    cacheSeconds: 5,
    access: {
      kind: 'free',
      handle: async () => jsonAnswer({ data: knownProblems().map(errorPage), next_cursor: null }),
    },
  }),
  defineRoute({
    ...errorRoute('/errors/:code'),
    capability: 'errors',
    area: 'core',
    next: '/errors',
    cacheSeconds: 5,
  }),
]
