import { createHash } from 'node:crypto'
import type { Address } from '@assay/protocol/address'
import type { Clock } from '@assay/till/kernel/clock'
import { silentLog } from '@assay/till/kernel/log'
import { createTestDeps } from '@assay/till/proofs/proof-deps.fixture'
import { createFixedKeyring, privateKeyFromSeed } from '@assay/till/signing'
import type { Database } from '@assay/till/store/database'
import { shares } from '../attestations/attest/shares-sql.ts'
import { referrers } from '../rewards/referrers-sql.ts'
import { disputes } from '../sources/score/disputes-sql.ts'
import type { IdentityDeps } from './deps.ts'
import { type EvidenceSql, emptyPorts, type IdentityPorts } from './ports.ts'
import type { Registries } from './registry.ts'

export const operator = `0x${'ee'.repeat(20)}` as Address
export const startMs = Date.UTC(2026, 5, 1, 12)

export const addressOf = (name: string) =>
  `0x${createHash('sha256').update(name).digest('hex').slice(0, 40)}` as Address

export type TestIdentity = IdentityDeps & { moveTo(ms: number): void }

/** As where all shops are open. */
export const allEvidence: EvidenceSql = {
  ...shares,
  referrersSql: referrers.walletsSql,
  disputesSql: disputes.countSql,
}

/** Everything but the database is made up. */
export function createTestIdentity(
  database: Database,
  given: { ports?: Partial<IdentityPorts>; registries?: Registries } = {},
): TestIdentity {
  let nowMs = startMs
  const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, sleep: async () => {} }
  return {
    database,
    clock,
    jws: { sign: (payload) => Buffer.from(JSON.stringify(payload)).toString('base64url'), verify: () => undefined },
    proofs: { ...createTestDeps(), clock },
    keyring: createFixedKeyring(privateKeyFromSeed(Buffer.alloc(32, 7).toString('base64url')), 0),
    log: silentLog,
    baseUrl: 'http://node.test:4020',
    apiUrl: 'http://node.test:4020',
    didMethod: 'x402',
    chainIds: [8453, 137],
    issuer: 'did:web:node.test%3A4020',
    operator,
    ports: { ...emptyPorts, evidence: allEvidence, ...given.ports },
    registries: given.registries ?? { registryOn: async () => undefined, walletOf: async () => undefined },
    moveTo: (ms) => {
      nowMs = ms
    },
  }
}

export type TestPayment = {
  id: string
  payer: Address
  atMs: number
  state?: string
  reason?: string
  micro?: bigint
  network?: string
  route?: string
  ref?: Address
  aff?: Address
}

/** A payment as the till leaves it behind. */
export async function insertPayment(database: Database, payment: TestPayment): Promise<void> {
  const at = new Date(payment.atMs)
  await database.query(
    `insert into payment (scheme, quoted_micro, id, state, network, asset, payer, payment_key, pay_to, payee, amount_micro, valid_before, route_id, resource,
       fingerprint, revocable, owner, lease_until, claimed_at, head_block, reason, settled_at, ended_at, ref, aff)
     values ('exact', greatest($7::bigint, 1), $1, $2, $3::text, $3::text || '/erc20:0xa', $4, $5, $6, 'pay_to', $7, 0, $8, 'r', '\\x00', false, 1, $9, $9, 0, $10, $9, $9, $11, $12)`,
    [
      payment.id,
      payment.state ?? 'served',
      payment.network ?? 'eip155:8453',
      payment.payer,
      createHash('sha256').update(payment.id).digest(),
      operator,
      payment.micro ?? 20_000n,
      payment.route ?? 'tokens.report',
      at,
      payment.reason ?? null,
      payment.ref ?? null,
      payment.aff ?? null,
    ],
  )
}

/** The share of a payment that the owner of a source gets; null while nobody has proven it. */
export async function insertAccrual(
  database: Database,
  accrual: { paymentId: string; payer: Address; wallet: Address | null },
): Promise<void> {
  await database.query(
    `insert into creator_accrual (subject, payment_id, source, payer, network, domain, registrable, wallet, shard, micro, state, created_at)
     values ($1, $1, 'payment', $2, 'eip155:8453', 'a.test', 'a.test', $3, 0, 4500, $4, now())`,
    [accrual.paymentId, accrual.payer, accrual.wallet, accrual.wallet === null ? 'waiting' : 'accrued'],
  )
}

export type ToSign = {
  method: string
  target: string
  body?: string
  host?: string
  chainId?: number
  createdMs: number
  expiresInSeconds?: number
  nonce?: string
}

/** Headers of a request signed as ERC-8128 has it; what is signed need not be what is sent. */
export async function signedHeaders(
  account: { address: string; signMessage(given: { message: string }): Promise<string> },
  given: ToSign,
): Promise<Record<string, string>> {
  const [path = '', query] = given.target.split('?')
  const covered: [string, string][] = [
    ['@method', given.method],
    ['@authority', given.host ?? 'node.test:4020'],
    ['@path', path],
    ...(query === undefined ? [] : [['@query', `?${query}`] as [string, string]]),
  ]
  const headers: Record<string, string> = {}
  if (given.body !== undefined) {
    headers['Content-Digest'] = `sha-256=:${createHash('sha256').update(given.body).digest('base64')}:`
    covered.push(['content-digest', headers['Content-Digest']])
  }
  const created = Math.floor(given.createdMs / 1000)
  const keyId = `erc8128:${given.chainId ?? 8453}:${account.address.toLowerCase()}`
  const params = `(${covered.map(([name]) => `"${name}"`).join(' ')});created=${created};expires=${created + (given.expiresInSeconds ?? 60)};nonce="${given.nonce ?? createHash('sha256').update(`${given.target} ${given.body} ${created}`).digest('hex').slice(0, 32)}";keyid="${keyId}"`
  const base = [...covered.map(([name, value]) => `"${name}": ${value}`), `"@signature-params": ${params}`].join('\n')
  headers['Signature-Input'] = `eth=${params}`
  headers.Signature = `eth=:${Buffer.from((await account.signMessage({ message: base })).slice(2), 'hex').toString('base64')}:`
  return headers
}
