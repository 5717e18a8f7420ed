import type { OpenedSettlement } from '@assay/till/compose'
import { defaultFacilitatorBudget } from '@assay/till/facilitators'
import { gasPosting, type Payees } from '@assay/till/internal'
import { post } from '@assay/till/ledger'
import type { Config } from '../config/load-config.ts'
import { facilitatorRoutes } from '../faces/facilitator/routes.ts'
import type { RouteDeclaration } from '../http/index.ts'
import type { Infrastructure, Ports } from './infrastructure.ts'

/** `/facilitator/…` for others: only with a token of the operator's, and only where we settle with our own wallets. */
export function facilitatorRoutesOf(
  config: Config,
  ports: Ports,
  infrastructure: Infrastructure,
  { local, pauses }: OpenedSettlement,
  payees: Payees,
): RouteDeclaration[] {
  if (config.facilitatorToken === undefined || !local) return []
  const { database } = infrastructure.store
  return facilitatorRoutes({
    facilitator: local.facilitator,
    networks: infrastructure.networks,
    ownPayees: new Set([...Object.values(payees.pay_to), ...Object.values(payees.custody)]),
    ownWallets: new Set(local.wallets),
    token: config.facilitatorToken,
    budget: defaultFacilitatorBudget,
    sql: database,
    clock: ports.clock,
    ids: ports.ids,
    isPaused: async () => (await pauses.read()).get('settlement').paused,
    onGas: async ({ id, network, gasGwei }) => {
      const settled = { id, network, routeId: 'facilitator.settle' }
      await database.transaction((tx) => post(tx, [gasPosting(settled, `gas:${id}`, gasGwei)]))
    },
  })
}
