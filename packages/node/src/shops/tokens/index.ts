import type { TillJob } from '@assay/till/compose'
import { nowSeconds } from '@assay/till/kernel/clock'
import { notifications } from '../../notifications/index.ts'
import { declareShop, type OpenShop, type Shop, type ShopContext } from '../shop.ts'
import { forkTimes } from './abi/b20.ts'
import { badgeRoute } from './badge-route.ts'
import { allChangesRoutes, controlTopic } from './changes/all-changes-route.ts'
import { changesRoute } from './changes/route.ts'
import { checkPrompt } from './check-prompt.ts'
import { type Checker, createChecker } from './checker.ts'
import { type ShownDemoToken, seedDemoTokens } from './demo/seed-tokens.ts'
import { diffRoute } from './diff-route.ts'
import { indexChain } from './indexer/index-chain.ts'
import { refreshVerdicts, type VerdictDeps } from './indexer/refresh-verdicts.ts'
import { listRoute } from './list-route.ts'
import { createLogIndex } from './read/log-index.ts'
import { createMemory } from './read/memory.ts'
import { newPace } from './read/read-logs.ts'
import type { ReaderDeps } from './read/read-token.ts'
import { createVetter } from './read/vet-endpoints.ts'
import { createAttester } from './report/attest.ts'
import { reportRoute } from './report-route.ts'
import { tokensRetention } from './retention.ts'
import { checkRoutes, exampleAddress } from './routes.ts'
import { parseSettings, type TokensSettings, tokensVariables } from './settings.ts'

export const tokensShop = declareShop({
  name: 'tokens',
  variables: tokensVariables,
  migrations: [new URL('./migrations/', import.meta.url)],
  demoChain: async (...chain) => (await import('./demo/b20-chain.ts')).extendWithB20(...chain),
  demoRoles: ['creator', 'affiliate'],
  topics: [controlTopic],
  retention: tokensRetention,
  configure: ({ TOKENS }) => openTokensShop({ settings: parseSettings(TOKENS) }),
})

// The first B20 block of Base is not confirmed on chain; no token is older than this.
const mainnetFloorBlock = 47_000_000n
const headAgeSecondsMax = 90
const headAheadSecondsMax = 30

/** Area A: who controls a B20 token. */
export function openTokensShop({ settings = parseSettings({}) }: { settings?: TokensSettings } = {}): OpenShop {
  return async (context): Promise<Shop> => {
    const { base, baseUrl, mode } = context
    const stopped = new AbortController()
    const synthetic = mode === 'demo'
    const demo = synthetic ? await seed(context) : []
    const vetter = createVetter({
      endpoints: context.endpoints.get(base.caip2) ?? [],
      chainId: base.chainId,
      genesisHash: async () => context.chains.get(base.caip2)?.blockHash(0n),
      clock: context.clock,
    })
    const deps = readerDeps(context, settings, vetter.panel)
    const checker = createChecker(deps)
    const common = { checker, panel: vetter.panel, network: base.caip2, baseUrl, synthetic }
    const attester = createAttester({ keyring: context.keyring, jws: context.jws, node: baseUrl })
    return {
      routes: [
        ...checkRoutes({ ...common, multicall3: base.multicall3, reportPriceMicro: settings.reportPriceMicro }),
        diffRoute(common),
        badgeRoute({ ...common, jws: context.jws, clock: context.clock }),
        reportRoute({ ...common, attester, priceMicro: settings.reportPriceMicro }),
        listRoute({ database: context.database, chainId: base.chainId, network: base.caip2, synthetic }),
        ...allChangesRoutes(context.ports.find(notifications)),
        changesRoute({ checker, clock: context.clock, jws: context.jws, baseUrl, stopped: stopped.signal }),
      ],
      jobs: indexJobs(context, settings, checker),
      // Without a chain to read, or with a clock that does not fit it, nothing here can be sold.
      readiness: synthetic ? [] : [{ name: 'token chain and clock', check: () => canRead(checker) }],
      prompts: [checkPrompt],
      demo: () => ({ tokens: demo }),
      examples: { ...(demo[0] && { [exampleAddress]: demo[0].address }), '53500000': '1', '53600000': '1' },
      stop: async () => stopped.abort(new Error('the node stops')),
    }
  }
}

/**
 * A demo node shows a new token within seconds; elsewhere a minute is soon enough. An embedded chain makes a block whenever
 * somebody looks at it, which the index then reads.
 */
function indexJobs(context: ShopContext, settings: TokensSettings, checker: Checker): TillJob[] {
  const { base, database, clock, log, metrics, mode } = context
  const [rpc, chain] = [context.rpcs.get(base.caip2), context.chains.get(base.caip2)]
  const { requestsPerMinute, logsMax, verdictsPerMinute } = settings.index
  if (rpc === undefined || chain === undefined || requestsPerMinute === 0) return []
  const [intervalMs, demoFactor] = mode === 'demo' ? [5_000, 10] : [60_000, 1]
  const shared = { database, clock, log, metrics, chainId: base.chainId }
  const floorBlock = floorOf(context)
  const index = { ...shared, rpc, chain, floorBlock, requestsPerRun: requestsPerMinute, logsMax }
  const verdicts = { ...shared, checker, tokensPerRun: verdictsPerMinute * demoFactor, publish: publisher(context) }
  return [
    { name: 'tokens.index', intervalMs, work: () => indexChain(index) },
    {
      name: 'tokens.verdicts',
      intervalMs,
      work: () => refreshVerdicts(verdicts),
      due: `exists (select from token_listed where chain_id = ${base.chainId} and due_at <= $1)`,
    },
  ]
}

/** Undefined on a node without notifications. */
function publisher({ ports }: ShopContext): VerdictDeps['publish'] {
  const events = ports.find(notifications)
  return (
    events &&
    ((tx, news) =>
      events.publish(
        tx,
        controlTopic.name,
        news.map(({ token, ...event }) => ({ subject: token, ...event })),
      ))
  )
}

const floorOf = ({ mode, base }: ShopContext) =>
  mode === 'production' && base.chainId === 8453 ? mainnetFloorBlock : 0n

function canRead(checker: Checker): Promise<boolean> {
  return checker.currentBlock().then(
    () => true,
    () => false,
  )
}

function readerDeps(context: ShopContext, settings: TokensSettings, panel: ReaderDeps['panel']): ReaderDeps {
  const { base, database, clock, mode } = context
  return {
    chainId: base.chainId,
    multicall3: base.multicall3,
    panel,
    index: createLogIndex(database, base.chainId, () => clock.nowMs()),
    pace: newPace(),
    memory: createMemory(),
    floorBlock: floorOf(context),
    // An embedded chain runs the configured fork, whatever the date.
    schedule: {
      times: mode === 'production' ? forkTimes(base.chainId) : undefined,
      nextUnreviewedAt: settings.nextUnreviewedForkAt,
    },
    clock,
    headAgeSecondsMax,
    // The time of an embedded chain may be moved at will.
    headAheadSecondsMax: mode === 'production' ? headAheadSecondsMax : Number.POSITIVE_INFINITY,
  }
}

async function seed(context: ShopContext): Promise<ShownDemoToken[]> {
  const rpc = context.rpcs.get(context.base.caip2)
  return rpc === undefined ? [] : seedDemoTokens(rpc, context.base.chainId, nowSeconds(context.clock))
}
