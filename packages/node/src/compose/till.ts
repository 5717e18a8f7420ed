import {
  createChallenges,
  createClaims,
  createDeferredTransitions,
  createDeliveries,
  createExactScheme,
  createExposure,
  createFinishSales,
  createGate,
  createLosses,
  createOffers,
  createSchemes,
  creditPayment,
  defaultGateLimits,
  defaultLossLimits,
  type Exposure,
  type Facilitator,
  type FinishSales,
  failBooked,
  findDeadOwners,
  type Gate,
  type JwsPort,
  type OwnAddresses,
  type Owner,
  type PaidCall,
  type PaidRoute,
  type Payees,
  recordOwnAddresses,
  registerOwner,
  type Scheme,
  type Schemes,
  termsFor,
} from '@assay/till'
import { noteRefusedPayers } from '@assay/till/facilitators'
import type { Screening } from '@assay/till/screening'
import { createPauseReader, type PauseReader } from '@assay/till/store/pauses'
import type { Config } from '../config/load-config.ts'
import type { Shop } from '../http/index.ts'
import type { Ground, Ports, Stops } from './ground.ts'
import { openScreening } from './screening.ts'

export type Origins = { baseUrl: string; apiUrl: string }

export type Till = {
  gate: Gate
  schemes: Schemes
  owner: Owner
  facilitator: Facilitator
  finishSales: FinishSales
  exposure: Exposure
  ownAddresses: OwnAddresses
  pauses: PauseReader
  screening: Screening
}

export type TillParts = {
  origins: Origins
  payees: Payees
  jws: JwsPort
  shops: readonly Shop[]
  /** Beside `exact`, in the order of `accepts`. */
  schemes?: readonly Scheme[]
  openFacilitator(owner: Owner): Promise<Facilitator>
  routeOf(routeId: string): PaidRoute | undefined
}

/** The gate and everything it works with. */
export async function openTill(
  config: Config,
  ports: Ports,
  ground: Ground,
  parts: TillParts,
  stops: Stops,
): Promise<Till> {
  const { clock, ids, log, metrics } = ports
  const { networks, chains } = ground
  const { database } = ground.store
  const { origins, jws, shops } = parts
  const owner = await registerOwner(database, clock, ports.rng)
  stops.push(() => owner.release())
  await findDeadOwners({ database, owner, clock })

  const { screening, refused } = await openScreening(config, ports, ground)
  const facilitator = noteRefusedPayers(await parts.openFacilitator(owner), refused, log)
  const byName = new Map(networks.map((network) => [network.caip2, network]))
  const termsOf = (call: PaidCall) => termsFor(byName, parts.payees, call.route, call.priceMicro)
  const offers = createOffers(jws, clock)
  const schemes = createSchemes([createExactScheme(networks), ...(parts.schemes ?? [])])
  const deliveries = createDeliveries(database, clock, log)
  stops.push(() => deliveries.idle())
  const deferred = createDeferredTransitions({ database, owner, clock, log })
  stops.push(() => deferred.stop())
  const pauses = await createPauseReader(database, clock)
  stops.push(() => pauses.stop())
  const finishSales = createFinishSales({
    database,
    clock,
    log,
    jws,
    hooks: shops.flatMap((shop) => shop.saleHooks ?? []),
    credit: (claim, evidence, reason) => creditPayment({ database, clock }, claim, evidence, reason),
    failBooked: (claim) => failBooked({ database, clock }, claim),
  })
  const exposure = createExposure(database, clock, config.exposureCapMicro, parts.routeOf)
  const own = await recordOwnAddresses(
    database,
    networks.map(({ caip2 }) => caip2),
    parts.payees,
    !config.sharedPayees,
  )
  const gate = createGate({
    clock,
    ids,
    log,
    metrics,
    database,
    chains,
    schemes,
    facilitator,
    jws,
    offers,
    challenges: createChallenges({
      clock,
      offers,
      schemes,
      serviceName: 'Assay',
      docsOrigin: origins.baseUrl,
      termsOf,
    }),
    claims: createClaims(database, owner, clock),
    deliveries,
    finishSales,
    exposure,
    isOurs: own.isOurs,
    deferred,
    losses: createLosses(database, clock, defaultLossLimits),
    owner,
    screening,
    entitlements: shops.flatMap((shop) => shop.entitlements ?? []),
    saleHooks: shops.flatMap((shop) => shop.saleHooks ?? []),
    limits: defaultGateLimits,
    salesPaused: async () => (await pauses.read()).get('sales').paused,
    termsOf,
    statusUrl: (paymentId) => `${origins.baseUrl}/v1/payments/${paymentId}`,
  })
  return { gate, schemes, owner, facilitator, finishSales, exposure, ownAddresses: own, pauses, screening }
}
