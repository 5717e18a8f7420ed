import type { Shop, ShopContext } from '../../http/index.ts'
import type { Address } from '../../kernel/address.ts'
import { Problem } from '../../kernel/problem.ts'
import { loadSharedSecret } from '../../proofs/index.ts'
import { createSwitchReader } from '../../store/kill-switches.ts'
import type { PublishedDemand } from '../contract.ts'
import { activateOffers } from './activate-offers.ts'
import { createBoard } from './board.ts'
import type { OptionDeps } from './deps.ts'
import { followIndex } from './follow-index.ts'
import { forgetOld } from './forget-old.ts'
import { listSeries } from './list-series.ts'
import { marketRoutes } from './market-routes.ts'
import { priceSeries } from './price-series.ts'
import { createQuotes } from './quotes.ts'
import { refundLost, refusePartRefunds } from './refund-lost.ts'
import { createReserveContracts } from './reserve-contracts.ts'
import { releaseLapsed } from './return-contracts.ts'
import { parseOptionSettings } from './settings.ts'
import { settleSeries } from './settle-series.ts'
import { spareCustody } from './spare-custody.ts'
import { tradeRoutes } from './trade-routes.ts'

export type OptionsOpening = {
  /** The JSON of `OPTIONS`. */
  settings?: unknown
  demand: PublishedDemand
  /** The operator's own rule beside the allowlist. */
  isEligible?: OptionDeps['isEligible']
}

/** The options exchange; undefined where it is off, as it is in production until the operator turns it on. */
export async function openOptions(context: ShopContext, opening: OptionsOpening): Promise<Shop | undefined> {
  const demo = context.mode === 'demo'
  const settings = parseOptionSettings(opening.settings, demo, opening.isEligible !== undefined)
  if (!settings) return undefined
  const { database, clock, rng } = context
  const switches = await createSwitchReader(database, clock)
  const deps: OptionDeps = {
    ...portsOf(context),
    settings,
    demand: opening.demand,
    requireTrading: async () => {
      const { options } = await switches.read()
      if (options.on) throw new Problem('switched_off', { detail: options.reason, retryAfterSeconds: 60 })
    },
    ...(opening.isEligible === undefined ? {} : { isEligible: opening.isEligible }),
  }
  const board = createBoard(deps)
  const reserving = createReserveContracts(deps)
  const secret = await loadSharedSecret(database, 'option_quotes', rng)
  const quotes = createQuotes({ secret, clock, rng, quoteMs: settings.quoteMs })
  if (demo) await runMarket(deps)
  return {
    routes: [
      ...marketRoutes({ ...deps, board }),
      ...tradeRoutes({ ...deps, board, reserving, quotes, proofs: context.proofs }),
    ],
    reversalHooks: [refusePartRefunds],
    jobs: jobsOf(deps, demo),
    stop: async () => {
      await reserving.idle()
      await switches.stop()
    },
  }
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
    usdc: base.usdc.address,
    vaultWallet: custody,
    ...(chain === undefined ? {} : { spareMicro: () => spareCustody(database, chain, custody) }),
  }
}

/** The index, what is listed on it, and at what price. */
export async function runMarket(deps: OptionDeps): Promise<void> {
  await followIndex(deps)
  await listSeries(deps)
  await priceSeries(deps)
}

function jobsOf(deps: OptionDeps, demo: boolean): NonNullable<Shop['jobs']> {
  return [
    { name: 'options.market', intervalMs: demo ? 5_000 : 30_000, work: () => runMarket(deps) },
    {
      name: 'options.desk',
      intervalMs: 2_000,
      work: async () => {
        await releaseLapsed(deps)
        await activateOffers(deps)
        await refundLost(deps)
      },
    },
    { name: 'options.settle', intervalMs: demo ? 2_000 : 10_000, work: () => settleSeries(deps) },
    { name: 'options.forget', intervalMs: 3_600_000, work: () => forgetOld(deps) },
  ]
}
