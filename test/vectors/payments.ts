import { bytesToHex, type Hex, hexToBytes, sha256, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { z } from 'zod'
import type { Address } from '../../packages/protocol/src/address.ts'
import { bindingNonce } from '../../packages/protocol/src/request-binding.ts'
import {
  type ChannelConfig,
  createChannelHashes,
  depositNonce,
  withdrawDelays,
} from '../../packages/protocol/src/typed-data/channel.ts'
import { domainSeparator } from '../../packages/protocol/src/typed-data/domain-separator.ts'
import { type Permit2Scheme, permit2Digest } from '../../packages/protocol/src/typed-data/permit2.ts'
import { authorizationTypes } from '../../packages/protocol/src/typed-data/transfer-authorization.ts'
import { knownNetworks } from '../../packages/till/src/chain/index.ts'
import { hashTransferAuthorization } from '../../packages/till/src/kernel/eip3009.ts'
import { recoverAddress } from '../../packages/till/src/kernel/secp256k1.ts'
import { decodeHeader } from '../../packages/till/src/schemes/decode-header.ts'
import { decodeExact } from '../../packages/till/src/schemes/exact/decode-exact.ts'
import { matchTerms } from '../../packages/till/src/schemes/exact/match-terms.ts'
import { checkWindow } from '../../packages/till/src/schemes/exact/verify-authorization.ts'
import { nonceOf } from '../../packages/till/src/schemes/mpp/credential.ts'

const hex = (bytes?: number) => z.string().regex(new RegExp(`^0x[0-9a-f]${bytes ? `{${bytes * 2}}` : '*'}$`))
const decimal = z.string().regex(/^[0-9]+$/)
const outcome = z.strictObject({ status: z.string(), reason: z.string().optional() })

/** The shape of payments.json. */
export const vectorsSchema = z.strictObject({
  about: z.string(),
  domain: z.strictObject({ name: z.string(), version: z.string(), chain_id: z.number(), verifying_contract: hex(20) }),
  domain_separator: hex(32),
  terms: z.strictObject({
    ...{ network: z.string(), asset: hex(20), pay_to: hex(20), amount: z.string().regex(/^[0-9]+$/) },
    max_timeout_seconds: z.number(),
  }),
  now: z.number(),
  payments: z.array(
    z.strictObject({
      ...{ id: z.string(), header: z.string(), decode: outcome },
      match: outcome.optional(),
      /** Time window and signature; balances and nonces are read from a chain. */
      verify: outcome.optional(),
      digest: hex(32).optional(),
      signer: hex(20).optional(),
    }),
  ),
  bindings: z.array(
    z.strictObject({
      ...{ method: z.string(), resource: z.string(), content_type: z.string(), body: z.string() },
      ...{ body_sha256: hex(32), salt: hex(32), nonce: hex(32) },
    }),
  ),
  /** Transfers by Permit2; `facilitator` is there in the scheme `upto` only. */
  permits: z.array(
    z.strictObject({
      ...{ scheme: z.enum(['exact', 'upto']), chain_id: z.number(), from: hex(20), token: hex(20), to: hex(20) },
      ...{ amount: decimal, nonce: decimal, deadline: decimal, valid_after: decimal, facilitator: hex(20).optional() },
      ...{ digest: hex(32), signature: hex(65) },
    }),
  ),
  /** Channels of `batch-settlement`: with any other word of its configuration, or on another chain, it is another one. */
  channels: z.array(
    z.strictObject({
      ...{ id: z.string(), chain_id: z.number(), payer: hex(20), payer_authorizer: hex(20), receiver: hex(20) },
      ...{ receiver_authorizer: hex(20), token: hex(20), withdraw_delay: z.number(), salt: hex(32) },
      channel_id: hex(32),
      /** What the payer signs: up to so much may be claimed, counted from the beginning. */
      vouchers: z.array(z.strictObject({ max_claimable: decimal, digest: hex(32), signature: hex(65) })),
      /** The EIP-3009 nonce of a deposit with this salt. */
      deposit: z.strictObject({ salt: hex(32), nonce: hex(32) }),
    }),
  ),
  /** The nonce of an authorization that pays for a challenge of MPP. */
  mpp_nonces: z.array(z.strictObject({ id: z.string(), realm: z.string(), nonce: hex(32) })),
})
export type Vectors = z.infer<typeof vectorsSchema>

const payer = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const stranger = privateKeyToAccount(`0x${'22'.repeat(32)}`)
const lower = (text: string) => text.toLowerCase() as Address
const payTo = lower(stranger.address)
const [network] = knownNetworks.filter(({ caip2 }) => caip2 === 'eip155:8453')
if (!network) throw new Error('eip155:8453 is not known')
const now = 1_800_000_000
const amount = 1_000n
const asset = network.usdc.address
const domain = { name: 'USD Coin', version: '2', chainId: 8453, verifyingContract: asset }
const terms = { network, asset, payTo, amountMicro: amount, maxTimeoutSeconds: 90 }
const separator = domainSeparator({ name: domain.name, version: domain.version, chainId: 8453, address: asset })

const right = {
  ...{ from: lower(payer.address) as string, to: payTo as string, value: amount.toString() },
  ...{ validAfter: '0', validBefore: String(now + 60), nonce: `0x${'ab'.repeat(32)}` },
}
const accepted = { scheme: 'exact', network: network.caip2, amount: amount.toString(), asset, payTo }
const rightBinding = {
  ...{ method: 'GET', resource: 'https://seller.example/weather?city=paris', contentType: '' },
  ...{ bodyDigest: hexToBytes(sha256('0x')), salt: `0x${'5a'.repeat(32)}` as Hex },
}

type Change = {
  authorization?: Partial<typeof right>
  accepted?: Record<string, unknown>
  document?: Record<string, unknown>
  signer?: typeof payer
  chainId?: number
  text?(json: string): string
}

async function header(change: Change): Promise<string> {
  const authorization = { ...right, ...change.authorization }
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  const signature = await (change.signer ?? payer).signTypedData({
    domain: { ...domain, chainId: change.chainId ?? domain.chainId },
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message: {
      ...{ from: from as Hex, to: to as Hex, value: BigInt(value), nonce: nonce as Hex },
      ...{ validAfter: BigInt(validAfter), validBefore: BigInt(validBefore) },
    },
  })
  const json = JSON.stringify({
    ...{ x402Version: 2, resource: { url: rightBinding.resource }, accepted: { ...accepted, ...change.accepted } },
    payload: { signature, authorization },
    ...change.document,
  })
  return Buffer.from(change.text?.(json) ?? json).toString('base64')
}

const withSalt = (salt: Hex) => ({ extensions: { 'request-binding': { info: { salt } } } })

const changes: Record<string, Change> = {
  honest: {},
  'version-1': { document: { x402Version: 1 } },
  'version-3': { document: { x402Version: 3 } },
  'duplicate-key': { text: (json) => json.replace('{', '{"payload":{},') },
  'cut-short': { text: (json) => json.slice(0, -9) },
  'amount-with-point': { accepted: { amount: '1000.0' } },
  'no-accepted': { document: { accepted: null } },
  'nonce-of-31-bytes': { text: (json) => json.replace('ab'.repeat(32), 'ab'.repeat(31)) },
  'value-as-number': { text: (json) => json.replace('"value":"1000"', '"value":1000') },
  'one-unit-less': { authorization: { value: '999' } },
  'one-unit-more': { authorization: { value: '1001' } },
  'less-in-both': { authorization: { value: '999' }, accepted: { amount: '999' } },
  'other-payee': { authorization: { to: lower(payer.address) } },
  'other-asset': { accepted: { asset: payTo } },
  'other-network': { accepted: { network: 'eip155:1' } },
  'bound-to-this-request': {
    authorization: { nonce: bindingNonce(rightBinding) },
    document: withSalt(rightBinding.salt),
  },
  'bound-to-another-request': {
    authorization: { nonce: bindingNonce({ ...rightBinding, method: 'POST' }) },
    document: withSalt(rightBinding.salt),
  },
  'bound-without-salt': { authorization: { nonce: bindingNonce(rightBinding) } },
  expired: { authorization: { validBefore: String(now - 1) } },
  'expires-in-11-seconds': { authorization: { validBefore: String(now + 11) } },
  'expires-in-12-seconds': { authorization: { validBefore: String(now + 12) } },
  'not-yet-valid': { authorization: { validAfter: String(now + 1) } },
  'valid-for-a-year': { authorization: { validBefore: String(now + 31_536_000) } },
  'signed-by-a-stranger': { signer: stranger },
  'signed-for-another-chain': { chainId: 1 },
}

/** What our own code says about a header. */
export function evaluate(text: string): Omit<Vectors['payments'][number], 'id' | 'header'> {
  const envelope = decodeHeader(text)
  if (envelope.status !== 'ok') return { decode: { status: envelope.status } }
  const decoded = decodeExact(envelope.envelope)
  if (decoded.status !== 'ok') return { decode: { status: decoded.status } }
  const { payment } = decoded
  const { method, resource, contentType, bodyDigest } = rightBinding
  const call = { method, resourceUrl: resource, contentType, bodyDigest } as Parameters<typeof matchTerms>[1]
  const offers = { honour: () => undefined } as unknown as Parameters<typeof matchTerms>[3]
  const matched = matchTerms(payment, call, [terms], offers)
  const digest = hashTransferAuthorization(separator, payment.signed.authorization)
  const signer = recoverAddress(digest, hexToBytes(payment.signed.signature))
  const facts = { decode: { status: 'ok' }, digest: bytesToHex(digest), signer }
  if (matched.status !== 'ok') return { ...facts, match: { status: 'invalid', reason: matched.reason } }
  const window = checkWindow(payment, terms, now)
  const bySigner =
    signer === payment.payer
      ? { status: 'valid' }
      : { status: 'invalid', reason: 'invalid_exact_evm_payload_signature' }
  const verify = window.status === 'valid' ? bySigner : { status: window.status, reason: window.reason }
  return { ...facts, match: { status: 'ok' }, verify }
}

async function makePermit(scheme: Permit2Scheme): Promise<Vectors['permits'][number]> {
  const transfer = {
    ...{ from: lower(payer.address), token: asset, to: payTo, amount, nonce: (1n << 200n) + 7n },
    ...{ deadline: BigInt(now + 60), validAfter: 0n },
    ...(scheme === 'upto' ? { facilitator: lower(stranger.address) } : {}),
  }
  const digest = bytesToHex(permit2Digest(scheme, 8453, transfer))
  const { nonce, deadline, validAfter, ...rest } = transfer
  return {
    ...{ scheme, chain_id: 8453, ...rest, amount: amount.toString(), nonce: nonce.toString() },
    ...{ deadline: deadline.toString(), valid_after: validAfter.toString() },
    ...{ digest, signature: await payer.sign({ hash: digest }) },
  }
}

const channelConfig: ChannelConfig = {
  ...{ payer: lower(payer.address), payerAuthorizer: lower(payer.address), receiver: payTo },
  ...{ receiverAuthorizer: payTo, token: asset, withdrawDelay: 86_400, salt: `0x${'00'.repeat(32)}` },
}
const otherChannels: Record<string, { chainId?: number } & Partial<ChannelConfig>> = {
  honest: {},
  'other-salt': { salt: `0x${'5a'.repeat(32)}` },
  'other-chain': { chainId: 137 },
  'other-payer': { payer: payTo },
  'other-signer': { payerAuthorizer: payTo },
  'other-receiver': { receiver: lower(payer.address) },
  'other-claimer': { receiverAuthorizer: lower(payer.address) },
  'other-token': { token: payTo },
  'shortest-delay': { withdrawDelay: withdrawDelays.min },
}

async function makeChannel([id, { chainId = 8453, ...change }]: [string, (typeof otherChannels)[string]]) {
  const config = { ...channelConfig, ...change }
  const { channelId, voucherDigest } = createChannelHashes(chainId)
  const channel = channelId(config)
  const salt: Hex = `0x${'77'.repeat(32)}`
  const vouchers = [0n, 1_000n, 2n ** 128n - 1n].map(async (max) => {
    const digest = bytesToHex(voucherDigest(channel, max))
    return { max_claimable: max.toString(), digest, signature: await payer.sign({ hash: digest }) }
  })
  return {
    ...{ id, chain_id: chainId, payer: config.payer, payer_authorizer: config.payerAuthorizer },
    ...{ receiver: config.receiver, receiver_authorizer: config.receiverAuthorizer, token: config.token },
    ...{ withdraw_delay: config.withdrawDelay, salt: config.salt, channel_id: channel },
    vouchers: await Promise.all(vouchers),
    deposit: { salt, nonce: depositNonce(channel, BigInt(salt)) },
  }
}

export async function makeVectors(): Promise<Vectors> {
  const payments = Object.entries(changes).map(async ([id, change]) => {
    const text = await header(change)
    return { id, header: text, ...evaluate(text) }
  })
  const bindings = [
    { method: 'GET', resource: rightBinding.resource, content_type: '', body: '' },
    { method: 'POST', resource: 'https://seller.example/match', content_type: 'application/json', body: '{"q":"ä"}' },
  ].map((one, index) => {
    const digest = sha256(toHex(one.body))
    const salt: Hex = `0x${String(index + 1)
      .padStart(2, '0')
      .repeat(32)}`
    const nonce = bindingNonce({ ...one, contentType: one.content_type, bodyDigest: hexToBytes(digest), salt })
    return { ...one, body_sha256: digest, salt, nonce }
  })
  const mppNonces = [
    { id: 'kM9xPqWvT2nJrHsY4aDfEb3c5g7h9i1k', realm: 'seller.example' },
    { id: 'kM9xPqWvT2nJrHsY4aDfEb3c5g7h9i1', realm: 'kseller.example' },
  ].map((one) => ({ ...one, nonce: nonceOf(one.id, one.realm) }))
  return vectorsSchema.parse({
    about: 'x402 version 2: exact by EIP-3009 and Permit2, upto, channels; nonces of MPP. Written by npm run vectors.',
    domain: { name: domain.name, version: domain.version, chain_id: 8453, verifying_contract: asset },
    domain_separator: bytesToHex(separator),
    terms: { network: network?.caip2, asset, pay_to: payTo, amount: amount.toString(), max_timeout_seconds: 90 },
    ...{ now, payments: await Promise.all(payments), bindings },
    permits: await Promise.all([makePermit('exact'), makePermit('upto')]),
    channels: await Promise.all(Object.entries(otherChannels).map(makeChannel)),
    mpp_nonces: mppNonces,
  })
}
