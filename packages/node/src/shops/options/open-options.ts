import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import { usdcOf } from '@assay/till/chain'
import { Problem } from '@assay/till/kernel/problem'
import { loadSharedSecret } from '@assay/till/proofs'
import { createPauseReader } from '@assay/till/store/pauses'
import { createSince } from '../../http/index.ts'
import type { PublishedDemand } from '../ports.ts'
import type { Shop, ShopContext } from '../shop.ts'
import { activateOffers } from './activate-offers.ts'
import { createAskEligibility, type OutboundSetup, openHookOutbound } from './ask-eligibility.ts'
import { createBoard } from './board.ts'
import { deleteOld } from './delete-old.ts'
import type { OptionDeps } from './deps.ts'
import { followIndex } from './follow-index.ts'
import { listSeries } from './list-series.ts'
import { marketRoutes } from './market-routes.ts'
import { matchOrders } from './match-orders.ts'
import { priceSeries } from './price-series.ts'
import { createQuotes } from './quotes.ts'
import { createIndexReader } from './read-index.ts'
import { lostMoneySql, refundLost, refusePartRefunds } from './refund-lost.ts'
import { createReserveContracts } from './reserve-contracts.ts'
import { releaseLapsed } from './return-contracts.ts'
import { payoutPurposes } from './set-off-debts.ts'
import { longestLifeMs, matchMicro, type OptionSettings } from './settings.ts'
import { settleSeries } from './settle-series.ts'
import { tradeRoutes } from './trade-routes.ts'
import { unreservedCustody, vaultCommitments } from './unreserved-custody.ts'

export type OptionsOpening = {
  /** Undefined where the exchange is off. */
  settings: OptionSettings | undefined
  demand: PublishedDemand
  /** How long after a bucket the bonds that count in it stay locked. */
  bondMs: number
  /** What an agent has to have spent on searches before it counts. */
  spendMicro: Micro
  outbound?: OutboundSetup
}

/** The options exchange; undefined where it is off, as it is in production until the operator turns it on. */
export async function openOptions(context: ShopContext, opening: OptionsOpening): Promise<Shop | undefined> {
  const demo = context.mode === 'demo'
  if (!opening.settings) return undefined
  const settings = opening.settings.agentMicroIsGiven
    ? opening.settings
    : { ...opening.settings, agentMicro: opening.spendMicro + matchMicro }
  requireBondsPastExpiry(settings, opening.bondMs)
  const { database, clock, rng } = context
  const pauses = await createPauseReader(database, clock)
  const deps: OptionDeps = {
    ...portsOf(context),
    settings,
    demand: opening.demand,
    requireTrading: async () => {
      const { paused, reason } = (await pauses.read()).get('options')
      if (paused)
        throw new Problem('not_available', { detail: reason, retryAfterSeconds: 60, extra: { why: 'paused' } })
    },
    ...eligibilityOf(context, settings, opening.outbound),
  }
  const stopped = new AbortController()
  const board = createBoard(deps)
  const reserving = createReserveContracts(deps)
  const secret = await loadSharedSecret(database, 'option_quotes', rng)
  const quotes = createQuotes({ secret, clock, rng, quoteMs: settings.quoteMs })
  const runMarket = createMarket(deps)
  // So that a demo node can be traded on at once. A chain that does not answer yet is asked again by the job.
  if (demo)
    await runMarket().catch((error: unknown) =>
      deps.log.warn({ error: String(error) }, 'the options market could not be updated at start; its job tries again'),
    )
  // So that the first caller does not read that nothing is traded.
  await board.read()
  return {
    routes: [
      ...marketRoutes({ ...deps, board }),
      ...tradeRoutes({
        ...deps,
        board,
        reserving,
        quotes,
        proofs: context.proofs,
        since: createSince(clock),
        apiUrl: context.apiUrl,
        stopped: stopped.signal,
      }),
    ],
    reversalHooks: [refusePartRefunds],
    payoutPurposes,
    committedMicro: async (network) => (network === deps.network ? vaultCommitments(database) : 0n),
    jobs: jobsOf(deps, demo, runMarket),
    stop: async () => {
      stopped.abort(new Error('the node stops'))
      await reserving.idle()
      await pauses.stop()
    },
  }
}

/** Anyone who could take the bond away before a series ends could move its value for nothing. */
export function requireBondsPastExpiry(settings: OptionSettings, bondMs: number): void {
  const days = Math.ceil(longestLifeMs(settings) / 86_400_000)
  if (bondMs < longestLifeMs(settings))
    throw new RangeError(`INTENTS: bond_days must be at least ${days}, so that bonds outlast every listed option`)
}

function eligibilityOf(
  context: ShopContext,
  { eligibilityUrl }: OptionSettings,
  setup: OutboundSetup | undefined,
): Pick<OptionDeps, 'isEligible'> {
  if (eligibilityUrl === undefined) return {}
  if (!setup) throw new RangeError('OPTIONS: eligibility_url needs a way out of the node')
  return { isEligible: createAskEligibility(openHookOutbound(context, setup), context.log, eligibilityUrl) }
}

function portsOf(context: ShopContext) {
  const { database, clock, ids, log, metrics, jws, base } = context
  const custody = context.payees.custody[base.caip2] as Address
  const chain = context.chains.get(base.caip2)
  return {
    database,
    clock,
    ids,
    log,
    metrics,
    jws,
    network: base.caip2,
    usdc: usdcOf(base),
    vaultWallet: custody,
    ...(chain === undefined ? {} : { unreservedCustody: () => unreservedCustody(chain, custody) }),
  }
}

/** The index, what is listed on it, and at what price. */
export function createMarket(deps: OptionDeps): () => Promise<void> {
  const readIndexes = createIndexReader(deps.database, deps.settings.volatilityTicks)
  return async () => {
    await followIndex(deps)
    await listSeries(deps, readIndexes)
    await priceSeries(deps, readIndexes)
  }
}

/** Whether a reservation, an order or money that came too late waits for something. */
const offersDueSql = `exists (select from option_position where state = 'held')
  or exists (select from option_order where state = 'pending')
  or exists (select from option_order where state = 'live' and immediate and open_quantity > 0)
  or exists (select from option_bid where state = 'pending')
  or exists (select from option_bid where state = 'live' and open_quantity > 0) or exists (${lostMoneySql})`

function jobsOf(deps: OptionDeps, demo: boolean, runMarket: () => Promise<void>): NonNullable<Shop['jobs']> {
  return [
    { name: 'options.market', intervalMs: demo ? 5_000 : 30_000, work: runMarket },
    {
      name: 'options.offers',
      intervalMs: 2_000,
      due: offersDueSql,
      work: async () => {
        await releaseLapsed(deps)
        await activateOffers(deps)
        await matchOrders(deps)
        await refundLost(deps)
      },
    },
    {
      name: 'options.settle',
      // What series wait for is written by the job of the market: looking more often finds nothing more.
      intervalMs: demo ? 5_000 : 10_000,
      work: () => settleSeries(deps),
      due: `exists (select from option_series where state <> 'ended' and expires_at <= $1)`,
    },
    { name: 'options.delete_old', intervalMs: 3_600_000, work: () => deleteOld(deps) },
  ]
}
