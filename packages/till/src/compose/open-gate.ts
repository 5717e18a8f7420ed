import type { Micro } from '@assay/protocol/money'
import { createOffers, type JwsPort } from '../contract/offers.ts'
import type { Gate, PaidCall, PaidRoute } from '../contract/paid-call.ts'
import type { PaymentDialect } from '../contract/payment-dialect.ts'
import type { Scheme, Schemes } from '../contract/scheme.ts'
import { type Payees, termsFor } from '../contract/terms.ts'
import { createClaims } from '../gate/claims.ts'
import { creditPayment, failPosted } from '../gate/credit-payment.ts'
import { createDeferredTransitions } from '../gate/deferred-transitions.ts'
import { createDeliveries } from '../gate/deliveries.ts'
import { createEntitlements, type Entitlements } from '../gate/entitlements.ts'
import { createExposure, type Exposure } from '../gate/exposure.ts'
import { createFinishSales, type FinishSales } from '../gate/finish-sale.ts'
import { createGate } from '../gate/gate.ts'
import { defaultGateLimits, type GateLimits } from '../gate/gate-deps.ts'
import { createLosses, lossLimitsOf } from '../gate/losses.ts'
import type { Owner } from '../gate/owner.ts'
import { type OwnAddresses, recordOwnAddresses } from '../recovery/own-addresses.ts'
import type { ChannelPolicy } from '../schemes/batch-settlement/index.ts'
import { createChallenges } from '../schemes/challenge.ts'
import { createSchemes } from '../schemes/create-schemes.ts'
import { createExactScheme } from '../schemes/exact/index.ts'
import { createMppDialect, refusedMppDialect } from '../schemes/mpp/dialect.ts'
import { openPermit2Schemes } from '../schemes/permit2/index.ts'
import { x402Dialect } from '../schemes/x402-dialect.ts'
import { openChallengeSecrets } from '../signing/index.ts'
import { openChannels } from './open-channels.ts'
import type { Composition } from './open-infrastructure.ts'
import type { OpenedSettlement } from './open-settlement.ts'
import type { SalePart } from './parts.ts'

export type OpenedGate = OpenedSettlement & {
  gate: Gate
  schemes: Schemes
  /** Those that were given, behind payment channels. */
  parts: readonly SalePart[]
  finishSales: FinishSales
  exposure: Exposure
  ownAddresses: OwnAddresses
  entitlements: Entitlements
  limits: GateLimits
}

export type GateSettings = {
  serviceName: string
  /** Where the `type` of a problem resolves. */
  docsOrigin: string
  statusUrl(paymentId: string): string
  answerUrl?(paymentId: string): string
  payees: Payees
  /** Nobody else is paid at these addresses, so money that no claim explains may be credited by itself. */
  payToExclusive: boolean
  exposureCapMicro: Micro
  jws: JwsPort
  parts: readonly SalePart[]
  /** Beside `exact`, in the order of `accepts`. */
  schemes?: readonly Scheme[]
  /** False where the Payment authentication scheme is not offered. */
  mpp?: boolean
  /** How long a request waits for its settlement. */
  settleMs?: number
  /** Limits that differ from the usual ones. Absent: nothing new is sold through payment channels. */
  channels?: Partial<ChannelPolicy> | undefined
  /** True while nothing is sold, beside the pause of sales. */
  refusesSales?(): Promise<boolean>
  routeOf(routeId: string): PaidRoute | undefined
}

/** The gate and everything it works with. */
export async function openGate(
  settings: GateSettings,
  composition: Composition,
  settlement: OpenedSettlement,
): Promise<OpenedGate> {
  const { ports, infrastructure } = composition
  const { clock, ids, log, metrics } = ports
  const limits = { ...defaultGateLimits, settleMs: settings.settleMs ?? defaultGateLimits.settleMs }
  const { assets, chains } = infrastructure
  const { database } = infrastructure.store
  const { jws, payees } = settings
  const channels = await openChannels(settings.channels, composition, { ...settlement, ...limits })
  const parts = [...(channels ? [channels] : []), ...settings.parts]
  const entitlements = createEntitlements(parts.flatMap((part) => part.entitlements ?? []))
  const { owner, screening, facilitator, pauses } = settlement
  const byName = new Map(assets.map((asset) => [asset.caip2, asset]))
  const termsOf = (call: PaidCall) => termsFor(byName, payees, call.route, call.priceMicro)
  const offers = createOffers(jws, clock)
  const schemes = createSchemes(
    [
      createExactScheme(assets),
      ...(settings.schemes ?? []),
      ...(await openPermit2Schemes({ chains, clock, facilitator })),
    ],
    parts.flatMap((part) => part.entitledSchemes ?? []),
  )
  const work = openSaleWork(settings, composition, owner)
  const own = await recordOwnAddresses(
    database,
    assets.map(({ caip2 }) => caip2),
    payees,
    settings.payToExclusive,
  )
  const dialects = [x402Dialect, await openMppDialect(settings, composition)]
  const gate = createGate({
    ...{ clock, ids, log, metrics, database, chains, schemes, facilitator, jws, offers },
    challenges: createChallenges({
      clock,
      offers,
      schemes,
      serviceName: settings.serviceName,
      docsOrigin: settings.docsOrigin,
      termsOf,
      dialects,
    }),
    dialects,
    claims: createClaims(database, owner, clock),
    ...work,
    isOurs: own.isOurs,
    losses: createLosses(database, clock, lossLimitsOf(assets)),
    ...{ owner, screening, entitlements, limits },
    salesPaused: async () => (await pauses.read()).get('sales').paused || ((await settings.refusesSales?.()) ?? false),
    termsOf,
    statusUrl: settings.statusUrl,
    ...(settings.answerUrl === undefined ? {} : { answerUrl: settings.answerUrl }),
  })
  return { ...settlement, gate, schemes, parts, ...work, ownAddresses: own, entitlements, limits }
}

async function openMppDialect({ mpp }: GateSettings, { ports, infrastructure }: Composition): Promise<PaymentDialect> {
  if (mpp === false) return refusedMppDialect
  const secrets = await openChallengeSecrets({ ...ports, database: infrastructure.store.database })
  return createMppDialect({ clock: ports.clock, rng: ports.rng, secrets })
}

/** What goes on beside and after the answer to a buyer. */
function openSaleWork(
  settings: GateSettings,
  { ports: { clock, log }, infrastructure, stops }: Composition,
  owner: Owner,
) {
  const { restoreDetection } = infrastructure
  const { database } = infrastructure.store
  const deliveries = createDeliveries(database, clock, log)
  stops.push(() => deliveries.idle())
  const deferred = createDeferredTransitions({ database, owner, clock, log })
  stops.push(() => deferred.stop())
  const saleHooks = settings.parts.flatMap((part) => part.saleHooks ?? [])
  const finishSales = createFinishSales({
    ...{ database, clock, log },
    jws: settings.jws,
    hooks: saleHooks,
    credit: (claim, evidence, reason) => creditPayment({ database, clock }, claim, evidence, reason),
    failPosted: (claim) => failPosted({ database, clock }, claim),
    served: restoreDetection.acknowledged.served,
  })
  const exposure = createExposure(database, clock, settings.exposureCapMicro, settings.routeOf)
  return { deliveries, deferred, saleHooks, finishSales, exposure }
}
