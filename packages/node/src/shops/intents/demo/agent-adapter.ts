import { authorizationTypes } from '@assay/protocol/typed-data/transfer-authorization'
import type { Network } from '@assay/till/chain'
import { sha256 } from '@assay/till/kernel/bytes'
import type { Clock } from '@assay/till/kernel/clock'
import { nowSeconds } from '@assay/till/kernel/clock'
import type { Rng } from '@assay/till/kernel/random'
import { keccak256, stringToHex } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'

/** A simulated agent: a wallet whose key is public knowledge, buying over HTTP as any other buyer does. */
export type DemoAgent = { account: PrivateKeyAccount; ready: boolean }

export type AgentPorts = {
  origin: string
  base: Network
  clock: Clock
  rng: Rng
  /** Ends a call that is under way: nobody answers it any more when the node stops. */
  stopping: AbortSignal
}

export function demoAgent(number: number): DemoAgent {
  return { account: privateKeyToAccount(keccak256(stringToHex(`assay demo agent ${number}`))), ready: false }
}

const timeoutMs = 30_000
const untilStop = (stopping: AbortSignal) => AbortSignal.any([stopping, AbortSignal.timeout(timeoutMs)])
const named = { 'user-agent': 'AssayDemoAgent/1.0' }

/** A request signed by the wallet (ERC-8128): paid from its credit where it costs something. */
export async function callSigned(
  { origin, base, clock, rng, stopping }: AgentPorts,
  { account }: DemoAgent,
  path: string,
  body: Record<string, unknown>,
): Promise<number> {
  const text = JSON.stringify(body)
  const digest = `sha-256=:${sha256(text).toString('base64')}:`
  const created = nowSeconds(clock)
  const covered = [
    ['@authority', new URL(origin).host],
    ['@method', 'POST'],
    ['@path', path],
    ['content-digest', digest],
  ] as const
  const names = covered.map(([name]) => `"${name}"`).join(' ')
  const keyId = `erc8128:${base.chainId}:${account.address.toLowerCase()}`
  const nonce = Buffer.from(rng.bytes(16)).toString('hex')
  const params = `(${names});created=${created};expires=${created + 60};nonce="${nonce}";keyid="${keyId}"`
  const lines = [...covered.map(([name, value]) => `"${name}": ${value}`), `"@signature-params": ${params}`]
  const signature = await account.signMessage({ message: lines.join('\n') })
  const response = await fetch(`${origin}${path}`, {
    method: 'POST',
    body: text,
    signal: untilStop(stopping),
    headers: {
      ...named,
      'content-type': 'application/json',
      'content-digest': digest,
      'signature-input': `eth=${params}`,
      signature: `eth=:${Buffer.from(signature.slice(2), 'hex').toString('base64')}:`,
    },
  })
  await response.arrayBuffer()
  return response.status
}

type Offer = { resource: unknown; accepts: Record<string, unknown>[] }

/** Pays in once, by an ordinary x402 payment. */
export async function topUp({ origin, base, clock, rng, stopping }: AgentPorts, { account }: DemoAgent, usd: string) {
  const url = `${origin}/v1/credit/topup?usd=${usd}`
  const first = await fetch(url, { headers: named, signal: untilStop(stopping) })
  await first.arrayBuffer()
  const header = first.headers.get('payment-required')
  if (first.status !== 402 || header === null) return first.status
  const offer = JSON.parse(Buffer.from(header, 'base64').toString('utf8')) as Offer
  const accepted = offer.accepts.find(({ network, scheme }) => network === base.caip2 && scheme === 'exact')
  if (!accepted) return first.status
  const message = {
    from: account.address,
    to: accepted['payTo'] as `0x${string}`,
    value: BigInt(accepted['amount'] as string),
    validAfter: 0n,
    validBefore: BigInt(nowSeconds(clock) + 120),
    nonce: `0x${Buffer.from(rng.bytes(32)).toString('hex')}` as const,
  }
  const signature = await account.signTypedData({
    domain: {
      name: base.usdc.name,
      version: base.usdc.version,
      chainId: base.chainId,
      verifyingContract: base.usdc.address,
    },
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message,
  })
  const authorization = Object.fromEntries(Object.entries(message).map(([name, value]) => [name, String(value)]))
  const payment = { x402Version: 2, resource: offer.resource, accepted, payload: { signature, authorization } }
  const paid = await fetch(url, {
    headers: { ...named, 'payment-signature': Buffer.from(JSON.stringify(payment)).toString('base64') },
    signal: untilStop(stopping),
  })
  await paid.arrayBuffer()
  return paid.status
}
