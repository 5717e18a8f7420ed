import { operatorRoles } from '@assay/protocol/operator-role'
import { fieldProblem } from '@assay/till/kernel/problem'
import { setPause } from '@assay/till/store/pauses'
import { z } from 'zod'
import { jsonAnswer, type RouteDeclaration } from '../../http/index.ts'
import type { CallerDeps } from './caller.ts'
import { decideDisputeRoute, openDisputesShape } from './dispute-routes.ts'
import { operatorRoute } from './operator-route.ts'
import { paymentsRoute } from './payments-route.ts'
import type { Alarm } from './read-alarms.ts'
import { customersShape } from './read-customers.ts'
import { notificationsShape } from './read-notifications.ts'
import { readOverview } from './read-overview.ts'
import { revenueRoute } from './revenue-route.ts'
import { type WithdrawDeps, withdrawalsShape, withdrawRoute } from './withdraw-routes.ts'

export type OperatorDeps = CallerDeps & WithdrawDeps & { notifies: boolean; alarms(): Promise<Alarm[]> }

export function operatorRoutes(deps: OperatorDeps): RouteDeclaration[] {
  return [
    overviewRoute(deps),
    pauseRoute(deps),
    withdrawRoute(deps),
    revenueRoute(deps),
    paymentsRoute(deps),
    decideDisputeRoute(deps),
  ]
}

const count = z.int().nonnegative()
const overview = z.strictObject({
  at: z.string(),
  role: z.enum(operatorRoles).describe('What the wallet that signed may do.'),
  books: z.strictObject({
    balanced: z.boolean().describe('Each unit sums to zero.'),
    accounts: z.array(
      z.strictObject({
        group: z.string(),
        kind: z.string(),
        unit: z.string(),
        balance: z.string().describe('Debit positive: what is owned and spent. What is owed and earned is negative.'),
        accounts: count,
      }),
    ),
    differences: count.describe('Kept balances that differ from their entries; always 0.'),
    open_clearing: z.array(
      z.strictObject({
        account: z.string(),
        balance: z.string(),
        payment_id: z.string().nullable(),
        since_at: z.string(),
      }),
    ),
  }),
  payments: z.array(
    z.strictObject({ state: z.string(), payments: count, amount_micro: z.string(), oldest_at: z.string() }),
  ),
  review_open: count.describe('Transfers that no payment explains and nobody has decided; 100 stands for 100 or more.'),
  payouts: z.array(
    z.strictObject({
      id: z.string(),
      network: z.string(),
      payee: z.string(),
      amount_micro: z.string(),
      purpose: z.string(),
      state: z.string(),
      reason: z.string().nullable(),
      transaction: z.string().nullable(),
      created_at: z.string(),
    }),
  ),
  withdrawals: withdrawalsShape,
  disputes: openDisputesShape.describe('Open ones, oldest first.'),
  notifications: notificationsShape.nullable().describe('Null on a node that delivers none.'),
  customers: customersShape,
  alarms: z
    .array(z.strictObject({ alarm: z.string(), count, to_do: z.string().nullable() }))
    .describe('Of this process, since it started.'),
  pauses: z.array(
    z.strictObject({
      name: z.string(),
      paused: z.boolean(),
      stops: z.string().describe('What a pause stops.'),
      leaves_running: z.string().describe('What goes on beside it.'),
      reason: z.string(),
      changed_by: z.string(),
      changed_at: z.string(),
    }),
  ),
  audit: z.array(z.strictObject({ at: z.string(), actor: z.string(), action: z.string(), subject: z.string() })),
})

const exampleTime = '2026-01-01T00:00:00.000Z'
const exampleWallet = '0x1111111111111111111111111111111111111111'

function overviewRoute(deps: OperatorDeps): RouteDeclaration {
  return operatorRoute(deps, {
    id: 'operator.overview',
    operator: 'read',
    method: 'GET',
    path: '/v1/operator/overview',
    summary: 'Books, payments, payouts, alarms and pauses, for the operator',
    output: overview,
    example: {
      output: {
        at: exampleTime,
        role: 'withdraw',
        books: {
          balanced: true,
          accounts: [{ group: 'revenue', kind: 'income', unit: 'eip155:8453/usdc', balance: '-20000', accounts: 1 }],
          differences: 0,
          open_clearing: [],
        },
        payments: [{ state: 'served', payments: 1, amount_micro: '20000', oldest_at: exampleTime }],
        review_open: 0,
        payouts: [],
        withdrawals: { custody: [], destinations: [], newest: [] },
        disputes: [],
        notifications: { endpoints: [], deliveries: [], failing: [] },
        customers: {
          payments: 1,
          data: [{ wallet: exampleWallet, payments: 1, amount_micro: '20000', failed: 0, last_at: exampleTime }],
        },
        alarms: [],
        pauses: [
          {
            name: 'payouts',
            paused: false,
            stops: 'money leaving custody: payouts, refunds, withdrawals',
            leaves_running: 'sales; what is owed is sent later',
            reason: '',
            changed_by: 'installation',
            changed_at: exampleTime,
          },
        ],
        audit: [],
      },
    },
    next: '/readyz',
    // A dozen reads of the database at once.
    cost: 20,
    handle: async (_input, { role }) => jsonAnswer({ ...(await readOverview({ ...deps, sql: deps.database })), role }),
  })
}

const change = z.strictObject({
  name: z.string().max(31).describe('One of `pauses` in the overview, such as sales or payouts.'),
  paused: z.boolean(),
  reason: z.string().trim().min(3).max(200),
})

function pauseRoute(deps: OperatorDeps): RouteDeclaration {
  return operatorRoute(deps, {
    id: 'operator.pause',
    operator: 'operate',
    method: 'POST',
    path: '/v1/operator/pauses',
    summary: 'Pause or resume a part of the node, such as sales or payouts, for the operator',
    description: 'Takes effect within a second, and is kept in the audit log.',
    body: change,
    output: z.strictObject({ name: z.string(), paused: z.boolean(), reason: z.string() }),
    example: {
      body: { name: 'payouts', paused: true, reason: 'custody key rotation' },
      output: { name: 'payouts', paused: true, reason: 'custody key rotation' },
    },
    next: '/v1/operator/overview',
    handle: async (input, by) => {
      const { name, paused, reason } = input.body as z.infer<typeof change>
      if (!(await setPause(deps.database, { name, paused, reason, by: `operator ${by.address}` })))
        throw fieldProblem('body.name', 'cannot be paused')
      return jsonAnswer({ name, paused, reason })
    },
  })
}
