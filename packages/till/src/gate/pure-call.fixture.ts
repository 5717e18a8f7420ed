import type { Json } from '@assay/protocol/canonical-json'
import { knownNetworks, type Network } from '../chain/index.ts'
import type { JwsPort } from '../contract/offers.ts'
import type { PaidCall, PaidRoute } from '../contract/paid-call.ts'
import type { Terms } from '../contract/terms.ts'
import { sha256 } from '../kernel/bytes.ts'
import { type Clock, systemClock } from '../kernel/clock.ts'

export const [base, polygon] = ['eip155:8453', 'eip155:137'].map((caip2) =>
  knownNetworks.find((network) => network.caip2 === caip2),
) as [Network, Network]

export const payTo = `0x${'aa'.repeat(20)}` as const

export const routeWith = (changes: Partial<PaidRoute> = {}): PaidRoute => ({
  id: 'till.echo',
  networks: [base.caip2, polygon.caip2],
  payee: 'pay_to',
  revocable: false,
  description: 'Echoes',
  mimeType: 'application/json',
  ...changes,
})

/** A plain GET without a body, and what a test wants otherwise. */
export function callWith(changes: Partial<PaidCall> = {}): PaidCall {
  return {
    route: routeWith(),
    method: 'GET',
    resourceUrl: 'https://node.example/v1/echo?a=1',
    contentType: '',
    received: { authority: 'node.example', path: '/v1/echo', query: 'a=1' },
    rawBody: Buffer.alloc(0),
    bodyDigest: sha256(''),
    representation: 'application/json',
    priceMicro: 20_000n,
    attribution: {},
    headers: new Map(),
    remoteAddress: '127.0.0.1',
    clientGone: new AbortController().signal,
    prepare: async () => {
      throw new Error('nothing is prepared here')
    },
    ...changes,
  }
}

export const termsOn = (network: Network, changes: Partial<Terms> = {}): Terms => ({
  network,
  asset: network.usdc.address,
  payTo,
  amountMicro: 20_000n,
  maxTimeoutSeconds: 90,
  ...changes,
})

/** Signs by writing it down; what was not written here is not ours. */
export const plainJws: JwsPort = {
  sign: (payload) => `ours.${Buffer.from(JSON.stringify(payload)).toString('base64url')}`,
  verify: (jws) =>
    jws.startsWith('ours.') ? (JSON.parse(Buffer.from(jws.slice(5), 'base64url').toString()) as Json) : undefined,
}

/** Time that a test moves; the monotonic one follows. */
export function movedClock(startMs = 1_700_000_000_000): Clock & { forward(ms: number): void } {
  let passed = 0
  return {
    ...systemClock,
    nowMs: () => startMs + passed,
    monotonicMs: () => 5_000 + passed,
    forward: (ms) => {
      passed += ms
    },
  }
}
