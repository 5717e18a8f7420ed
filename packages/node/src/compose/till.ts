import type { Config } from '../config.ts'
import type { Json } from '../kernel/canonical-json.ts'
import type { Clock } from '../kernel/clock.ts'
import { usdcDomainSeparator } from '../kernel/eip3009.ts'
import {
  createChallenges,
  createClaims,
  createDeliveries,
  createExposure,
  createFinishSales,
  createGate,
  createLosses,
  createOffers,
  creditPayment,
  defaultGateLimits,
  defaultLossLimits,
  type EntitlementPort,
  type Facilitator,
  type FinishSales,
  findDeadOwners,
  type Gate,
  type JwsPort,
  type Owner,
  type PaidCall,
  type Payees,
  registerOwner,
  type SaleHook,
  termsFor,
} from '../payments/index.ts'
import { createJwsSigner, didKeyUrl, type Keyring, verifyJws } from '../signing/index.ts'
import { createSwitchReader, type SwitchReader } from '../store/kill-switches.ts'
import type { Ground, Ports, Stops } from './ground.ts'

export type Origins = { baseUrl: string; apiUrl: string }

export type Till = {
  gate: Gate
  owner: Owner
  payees: Payees
  jws: JwsPort
  facilitator: Facilitator
  finishSales: FinishSales
  switches: SwitchReader
}

/** What the shops hang on the till: what a wallet may use without paying, and who else learns of a sale. */
export type TillExtensions = { entitlements: readonly EntitlementPort[]; saleHooks: readonly SaleHook[] }

export type OpenFacilitator = (owner: Owner) => Promise<Facilitator>

/** The gate and everything it works with. */
export async function openTill(
  config: Config,
  ports: Ports,
  ground: Ground,
  origins: Origins,
  openFacilitator: OpenFacilitator,
  extensions: TillExtensions,
  stops: Stops,
): Promise<Till> {
  const { clock, ids, log, metrics } = ports
  const { networks, chains } = ground
  const { database } = ground.store
  const owner = await registerOwner(database, clock, ports.rng)
  stops.push(() => owner.release())
  await findDeadOwners({ database, owner, clock })

  const facilitator = await openFacilitator(owner)
  const jws = jwsPort(ground.keyring, new URL(origins.baseUrl).host, clock)
  const payees = {
    pay_to: config.payTo,
    custody: Object.fromEntries(
      networks.map((network, index) => [network.caip2, config.custody[index] ?? config.payTo]),
    ),
  }
  const byName = new Map(networks.map((network) => [network.caip2, network]))
  const termsOf = (call: PaidCall) => termsFor(byName, payees, call.route, call.priceMicro)
  const offers = createOffers(jws, clock)
  const deliveries = createDeliveries(database, clock, log)
  stops.push(() => deliveries.idle())
  const switches = await createSwitchReader(database, clock)
  stops.push(() => switches.stop())
  const finishSales = createFinishSales({
    database,
    clock,
    log,
    jws,
    hooks: extensions.saleHooks,
    credit: (claim, evidence, reason) => creditPayment({ database, clock }, claim, evidence, reason),
  })
  const gate = createGate({
    clock,
    ids,
    log,
    metrics,
    database,
    chains,
    domainSeparators: new Map(
      networks.map((network) => [network.caip2, usdcDomainSeparator({ ...network.usdc, chainId: network.chainId })]),
    ),
    facilitator,
    jws,
    offers,
    challenges: createChallenges({ clock, offers, serviceName: 'Assay', docsOrigin: origins.baseUrl, termsOf }),
    claims: createClaims(database, owner, clock),
    deliveries,
    finishSales,
    exposure: createExposure(database, clock, config.exposureCapMicro),
    losses: createLosses(database, clock, defaultLossLimits),
    owner,
    entitlements: extensions.entitlements,
    limits: defaultGateLimits,
    paidSwitchedOn: async () => !(await switches.read()).paid.on,
    termsOf,
    statusUrl: (paymentId) => `${origins.baseUrl}/v1/payments/${paymentId}`,
  })
  return { gate, owner, payees, jws, facilitator, finishSales, switches }
}

/** Offers and receipts: signed with the active key, believed only under a key of our own that was not revoked. */
export function jwsPort(keyring: Keyring, authority: string, clock: Clock): JwsPort {
  const signer = createJwsSigner(keyring, { authority, clock })
  const publicKeyOf = (kid: string) =>
    keyring.keys().find((key) => key.revokedAtMs === undefined && didKeyUrl(authority, key.keyId) === kid)?.x
  return {
    sign: (payload) => signer.sign(JSON.stringify(payload)),
    verify: (jws) => {
      const parts = verifyJws(jws, publicKeyOf)
      return parts && (JSON.parse(parts.json) as Json)
    },
  }
}
