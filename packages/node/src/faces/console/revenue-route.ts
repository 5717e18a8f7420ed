import { fieldProblem } from '@assay/till/kernel/problem'
import { z } from 'zod'
import { jsonAnswer, type RouteDeclaration } from '../../http/index.ts'
import type { ShopContext } from '../../shops/shop.ts'
import type { CallerDeps } from './caller.ts'
import { operatorRoute } from './operator-route.ts'
import { describeRevenue, readRevenue, revenueShape } from './read-revenue.ts'

const dayMs = 86_400_000
const daysMax = 366
const day = z.string().regex(/^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/)
const query = z.strictObject({
  from: day.optional().describe('First day (UTC); 30 days ago unless given.'),
  to: day.optional().describe('Last day, included; today unless given.'),
})

/** What was earned and what it cost, for the operator. */
export function revenueRoute(deps: CallerDeps & Pick<ShopContext, 'database' | 'clock'>): RouteDeclaration {
  return operatorRoute(deps, {
    operator: 'read',
    id: 'operator.revenue',
    method: 'GET',
    path: '/v1/operator/revenue',
    summary: 'Revenue, costs, gross and net per shop and day, for the operator',
    description: 'At most 366 days at once.',
    query,
    output: z.strictObject({ data: z.array(revenueShape), next_cursor: z.null() }),
    example: {
      query: { from: '2026-01-01', to: '2026-01-31' },
      output: {
        data: [
          {
            ...{ day: '2026-01-01', network: 'eip155:8453', shop: 'tokens', gross_micro: '20000', refunds_micro: '0' },
            ...{ fees_micro: '1000', affiliates_micro: '3000', losses_micro: '0', net_micro: '16000', gas_gwei: '0' },
          },
        ],
        next_cursor: null,
      },
    },
    next: '/v1/operator/overview',
    cost: 10,
    handle: async (input) => {
      const range = rangeOf(input.query as z.infer<typeof query>, deps.clock.nowMs())
      return jsonAnswer({ data: (await readRevenue(deps.database, range)).map(describeRevenue), next_cursor: null })
    },
  })
}

function rangeOf({ from, to }: z.infer<typeof query>, nowMs: number): { from: Date; until: Date } {
  const startOf = (text: string) => Date.parse(`${text}T00:00:00Z`)
  const today = nowMs - (nowMs % dayMs)
  const last = to === undefined ? today : startOf(to)
  const first = from === undefined ? last - 29 * dayMs : startOf(from)
  if (!(first <= last && last - first < daysMax * dayMs))
    throw fieldProblem('query.from', `must be at most ${daysMax} days before \`to\``)
  return { from: new Date(first), until: new Date(last + dayMs) }
}
