import { type OpenedSettlement, readinessChecks } from '@assay/till/compose'
import type { Payees } from '@assay/till/internal'
import type { Config } from '../config/load-config.ts'
import { discoveryRoutes, type NodeFacts } from '../faces/documents/index.ts'
import { mcpRoutes } from '../faces/mcp/index.ts'
import { opsRoutes } from '../faces/ops/routes.ts'
import { errorRoutes, nodeSite, type RouteDeclaration, settleNextHops } from '../http/index.ts'
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

/** Every route of the node. */
export function nodeRoutes(deps: RouteDeps): readonly RouteDeclaration[] {
  const { config, ports, infrastructure, settlement, shops, payees } = deps
  const sold = [
    ...errorRoutes,
    ...shops.flatMap((shop) => shop.routes),
    ...facilitatorRoutesOf(config, ports, infrastructure, settlement, payees),
  ]
  // Documents list themselves. What a list says of a face does not depend on what the face lists, so the first pass is enough for that.
  const described = settleNextHops([...faceRoutes(deps, sold), ...sold])
  return settleNextHops([...faceRoutes(deps, described), ...sold])
}

/** What is derived from the declarations of these routes. */
function faceRoutes(deps: RouteDeps, routes: readonly RouteDeclaration[]): RouteDeclaration[] {
  const { config, ports, infrastructure, payees, origins, settlement, shops } = deps
  const { clock, metrics } = ports
  const { contactEmail, contentLicense, metricsPublic, mpp } = config
  const all = { site: nodeSite({ ...origins, contactEmail, contentLicense }), routes }
  return [
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
    ...mcpRoutes({ ...all, mpp, prompts: shops.flatMap((shop) => shop.prompts ?? []) }),
    ...opsRoutes({
      ...{ ...all, clock, metrics, metricsPublic },
      checks: readinessChecks(infrastructure, settlement, shops),
    }),
  ]
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
