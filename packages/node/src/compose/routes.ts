import { type OpenedSettlement, readinessChecks } from '@assay/till/compose'
import type { Payees } from '@assay/till/internal'
import type { Config } from '../config/load-config.ts'
import { discoveryRoutes, type NodeFacts } from '../faces/documents/index.ts'
import { mcpRoutes } from '../faces/mcp/index.ts'
import { opsRoutes } from '../faces/ops/routes.ts'
import { errorRoutes, type HttpApp, nodeSite, type RouteDeclaration, settleNextHops } from '../http/index.ts'
import type { Shop } from '../shops/shop.ts'
import { demoObject } from './demo.ts'
import { facilitatorRoutesOf } from './facilitator-routes.ts'
import type { Infrastructure, Ports } from './infrastructure.ts'
import type { Origins } from './shops.ts'

export type RouteDeps = {
  config: Config
  ports: Ports
  infrastructure: Infrastructure
  payees: Payees
  origins: Origins
  settlement: OpenedSettlement
  shops: readonly Shop[]
}

/** Every route of the node. `callApp` is the app that will serve them: a tool of MCP is a request to it. */
export function nodeRoutes(deps: RouteDeps, callApp: HttpApp['handle']): readonly RouteDeclaration[] {
  const { config, ports, infrastructure, payees, origins, settlement, shops } = deps
  const { clock, metrics } = ports
  const { contactEmail, contentLicense, metricsPublic, mpp } = config
  const site = nodeSite({ ...origins, contactEmail, contentLicense })
  // Documents list every route, their own among them.
  const all = { site, routes: () => routes }
  const routes: readonly RouteDeclaration[] = settleNextHops([
    ...discoveryRoutes({
      ...all,
      networks: infrastructure.networks,
      keyring: infrastructure.keyring,
      clock,
      facts: nodeFacts(config, payees),
      ...shops.flatMap(({ page }) => page ?? []).map((page) => ({ page }))[0],
      ...(config.mode === 'demo'
        ? {
            demo: () => demoObject(config, infrastructure.devnets, shops),
            examples: Object.assign({}, ...shops.map((shop) => shop.examples ?? {})),
          }
        : {}),
    }),
    ...mcpRoutes({ ...all, mpp, handle: callApp, prompts: shops.flatMap((shop) => shop.prompts ?? []) }),
    ...opsRoutes({
      ...{ ...all, clock, metrics, metricsPublic },
      checks: readinessChecks(infrastructure, settlement, shops),
    }),
    ...errorRoutes,
    ...shops.flatMap((shop) => shop.routes),
    ...facilitatorRoutesOf(config, ports, infrastructure, settlement, payees),
  ])
  return routes
}

function nodeFacts({ facilitators, royaltyRecipient }: Config, payees: Payees): NodeFacts {
  const [first] = facilitators
  return {
    facilitator: {
      kind: first?.kind ?? '',
      ...(first?.settings['url'] === undefined ? {} : { url: first.settings['url'] }),
    },
    royaltyRecipient,
    payees,
  }
}
