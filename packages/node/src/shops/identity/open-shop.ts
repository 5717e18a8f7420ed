import type { Address } from '@assay/protocol/address'
import { didWeb } from '@assay/protocol/did'
import type { AnswerContent, SaleHook } from '@assay/till'
import { openMandates } from '@assay/till/credit/mandates'
import {
  agentDeclarations,
  agentNames,
  meshNodes,
  registeredAgents,
  relatedParties,
  saleReferrers,
  saleShares,
  upheldDisputes,
} from '../ports.ts'
import { declareShop, type OpenShop, type Shop, type ShopContext } from '../shop.ts'
import { declarationRoutes } from './agents/declaration-routes.ts'
import { expireVersions } from './agents/expire-versions.ts'
import { agentRoutes } from './agents/routes.ts'
import { newestDeclarationMs, nodeSubmitter, takeDeclaration } from './agents/signed-declarations.ts'
import { agentChangedChannel, registeredSql, saveScores, walletsWithAgents } from './agents/store.ts'
import { agentWriteRoutes } from './agents/write-routes.ts'
import type { IdentityDeps } from './deps.ts'
import { pkhDid, walletDid } from './did/parse-did.ts'
import { createResolveCache } from './did/resolve-cache.ts'
import { resolveRoutes } from './did/resolve-routes.ts'
import { type EvidenceSql, type IdentityPorts, noEvidence } from './ports.ts'
import { aggregateRatings } from './rating/aggregate-ratings.ts'
import { readWalletStatus } from './rating/read-wallet.ts'
import { recordReversal } from './rating/record-reversal.ts'
import { ratingOf } from './rating/sign-rating.ts'
import { registrationRoute } from './registration-route.ts'
import { createRegistries } from './registry.ts'
import { identityRetention } from './retention.ts'
import { type IdentitySettings, identityVariables, parseIdentitySettings } from './settings.ts'

export type IdentityShopOptions = {
  didMethod: string
  settings?: IdentitySettings
  ports?: Partial<IdentityPorts>
}

const aggregateEveryMs = 15_000
const expireEveryMs = 3_600_000

export const identityShop = declareShop({
  name: 'identity',
  variables: identityVariables,
  migrations: [new URL('./migrations/', import.meta.url)],
  retention: identityRetention,
  configure: ({ IDENTITY, DID_METHOD }) =>
    openIdentityShop({ didMethod: DID_METHOD ?? '', settings: parseIdentitySettings(IDENTITY) }),
})

/** Agents and nodes by their DIDs: who they are, what they can do, and how they have paid so far. */
export function openIdentityShop(options: IdentityShopOptions): OpenShop {
  return async (context): Promise<Shop> => {
    const settings = options.settings ?? parseIdentitySettings({})
    const deps = depsOf(context, options, settings.registries)
    const cache = createResolveCache<AnswerContent>(context.clock)
    const stopListening = await context.database.listen(
      agentChangedChannel,
      (wallet) => cache.evict(wallet),
      () => cache.clear(),
    )
    context.ports.offer(agentNames, (account) =>
      account.kind === 'key' ? walletDid(deps.didMethod, account.address) : pkhDid(account),
    )
    context.ports.offer(registeredAgents, { registeredSql })
    context.ports.offer(agentDeclarations, {
      take: (value, via) => takeDeclaration(deps, value, nodeSubmitter(via)),
      newestMs: () => newestDeclarationMs(deps.database),
    })
    // The document of the node itself names its keys.
    context.keyring.onChange(() => cache.clear())
    // No work in the transaction of a sale: what is kept about the payer is dropped, and read again when asked for.
    const dropPayers: SaleHook = async (_tx, sales) => {
      for (const sale of sales) cache.evict(sale.payer)
    }
    return {
      routes: [
        ...resolveRoutes({ ...deps, cache }),
        ...agentRoutes(deps),
        ...declarationRoutes(deps),
        ...agentWriteRoutes({ ...deps, evict: cache.evict }),
        registrationRoute(deps, settings),
      ],
      saleHooks: [dropPayers],
      reversalHooks: [recordReversal],
      jobs: [
        { name: 'identity.ratings', intervalMs: aggregateEveryMs, work: () => aggregateAndScore(deps) },
        { name: 'identity.versions', intervalMs: expireEveryMs, work: () => expireVersions(deps) },
      ],
      stop: stopListening,
    }
  }
}

function depsOf(
  context: ShopContext,
  options: IdentityShopOptions,
  registries: ReadonlyMap<string, Address>,
): IdentityDeps {
  const { database, clock, jws, proofs, keyring, log, baseUrl, apiUrl } = context
  return {
    database,
    clock,
    jws,
    proofs,
    keyring,
    log,
    baseUrl,
    apiUrl,
    didMethod: options.didMethod,
    chainIds: context.networks.map(({ chainId }) => chainId),
    issuer: didWeb(new URL(baseUrl).host),
    operator: context.payees.pay_to[context.base.caip2] as Address,
    ports: { ...portsOf(context), ...options.ports },
    registries: createRegistries({ rpcs: context.rpcs, registries, clock }),
  }
}

function portsOf({ ports }: ShopContext): IdentityPorts {
  return {
    mandates: openMandates,
    meshNodes: { find: async (sql, did, nowMs) => ports.find(meshNodes)?.find(sql, did, nowMs) },
    fundingClusters: async (sql, wallets) => (await ports.find(relatedParties)?.(sql, wallets)) ?? new Map(),
    evidence: evidenceOf(ports),
  }
}

/** Asked for with each statement: a shop opened later may offer its part. */
function evidenceOf(ports: ShopContext['ports']): EvidenceSql {
  const shares = () => ports.find(saleShares) ?? noEvidence
  return {
    creatorsSql: (id) => shares().creatorsSql(id),
    washTradedSql: (id) => shares().washTradedSql(id),
    referrersSql: (id) => ports.find(saleReferrers)?.walletsSql(id) ?? noEvidence.referrersSql(id),
    disputesSql: (wallet) => ports.find(upheldDisputes)?.countSql(wallet) ?? noEvidence.disputesSql(wallet),
  }
}

/** Aggregates what is new, then updates the scores in the list of agents. */
export async function aggregateAndScore(deps: IdentityDeps): Promise<void> {
  const changed = await aggregateRatings(deps)
  const scores = new Map<Address, number | null>()
  for (const wallet of changed.length === 0 ? [] : await walletsWithAgents(deps.database, changed)) {
    const walletStatus = await readWalletStatus(deps, deps.database, wallet)
    scores.set(wallet, ratingOf(walletStatus, { wallet, nowMs: deps.clock.nowMs() })?.score ?? null)
  }
  if (scores.size > 0) await saveScores(deps.database, scores)
}
