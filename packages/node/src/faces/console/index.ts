import type { Metrics } from '@assay/till/kernel/metrics'
import type { WithdrawPolicy } from '@assay/till/payouts'
import type { PrometheusMetrics } from '../../http/index.ts'
import { notifications } from '../../notifications/index.ts'
import { declareShop, type OpenShop } from '../../shops/shop.ts'
import { assetRoute } from './asset-route.ts'
import { type Assets, createAssetLoader } from './assets.ts'
import { balanceRoute } from './balance-route.ts'
import { hasConsole } from './build-console.ts'
import type { Operator } from './caller.ts'
import { operatorRoutes } from './operator-routes.ts'
import { consolePage, type PageOrigins, pageHeaders } from './page.ts'
import { countPayments } from './payment-states.ts'
import { readAlarms } from './read-alarms.ts'
import { referenceRoutes } from './reference-routes.ts'
import { routeShopMigrations, routeShopRetention } from './route-shops.ts'
import { consoleVariables, parseOperators } from './settings.ts'
import { walletRoutes } from './wallet-routes.ts'

export const consoleFace = declareShop({
  name: 'console',
  variables: consoleVariables,
  migrations: [routeShopMigrations],
  retention: [routeShopRetention],
  configure: ({ OPERATORS }, { payTo, withdrawals }) => {
    const named = parseOperators(OPERATORS)
    const operators = named.length > 0 ? named : [{ address: payTo, role: 'withdraw' as const }]
    return openConsoleShop({ operators, withdrawals })
  },
})

/** The node for people: a page at `/`, its files, and what only a wallet itself or the operator may see. */
export function openConsoleShop(options: { operators: readonly Operator[]; withdrawals: WithdrawPolicy }): OpenShop {
  return (context) => {
    const load = createAssetLoader()
    const alarms = async () => readAlarms(await metricsText(context.metrics))
    return {
      routes: [
        ...walletRoutes(context),
        balanceRoute(context),
        ...operatorRoutes({
          ...context,
          ...options,
          alarms,
          notifies: context.ports.find(notifications) !== undefined,
        }),
        ...(hasConsole() ? [assetRoute(load), ...referenceRoutes(load, context)] : []),
      ],
      jobs: [
        { name: 'console.payments', intervalMs: 600_000, work: () => countPayments(context.database, context.clock) },
      ],
      ...(hasConsole()
        ? { page: async () => pageOf(context, await load()), warm: async () => void (await load()) }
        : {}),
    }
  }
}

const pageOf = (origins: PageOrigins, assets: Assets) => ({ body: consolePage(assets), headers: pageHeaders(origins) })

/** Metrics of another kind than the node's own have no text, and so no alarms to show. */
function metricsText(metrics: Metrics): Promise<string> {
  return 'text' in metrics ? (metrics as PrometheusMetrics).text() : Promise.resolve('')
}
