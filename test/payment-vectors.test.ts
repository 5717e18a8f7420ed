import { readFileSync } from 'node:fs'
import { decodePaymentSignatureHeader } from '@x402/core/http'
import {
  authorizationTypes,
  PERMIT2_ADDRESS,
  permit2WitnessTypes,
  uptoPermit2WitnessTypes,
  x402ExactPermit2ProxyAddress,
  x402UptoPermit2ProxyAddress,
} from '@x402/evm'
import {
  computeChannelId,
  createBatchSettlementEIP3009DepositPayload,
  signVoucher,
} from '@x402/evm/batch-settlement/client'
import {
  concat,
  encodeAbiParameters,
  type Hex,
  hashDomain,
  hashTypedData,
  keccak256,
  parseAbiParameters,
  recoverAddress,
  recoverTypedDataAddress,
  sha256,
  slice,
  toHex,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { depositNonce, erc3009Collector } from '../packages/protocol/src/typed-data/channel.ts'
import { receiveTypes } from '../packages/protocol/src/typed-data/transfer-authorization.ts'
import { decodeJson, mppClient } from './harness/mpp-client.ts'
import { evaluate, makeVectors, type Vectors, vectorsSchema } from './vectors/payments.ts'

const read = (name: string) => JSON.parse(readFileSync(new URL(`vectors/${name}`, import.meta.url), 'utf8'))
const vectors: Vectors = vectorsSchema.parse(read('payments.json'))
const named = (id: string) => vectors.payments.find((one) => one.id === id)

test('the vectors are what npm run vectors writes, and fit their schema', async () => {
  expect(await makeVectors()).toEqual(vectors)
  expect(z.toJSONSchema(vectorsSchema)).toEqual(read('payments.schema.json'))
})

test('our own code agrees with each, and refuses what is not honest', () => {
  for (const { id, header, ...expected } of vectors.payments) expect(evaluate(header), id).toEqual(expected)
  const good = vectors.payments.filter(({ verify }) => verify?.status === 'valid').map(({ id }) => id)
  expect(good).toEqual(['honest', 'bound-to-this-request', 'expires-in-12-seconds'])
})

test('the stock packages read the same payment and find the same digest and signer', async () => {
  const { name, version, chain_id: chainId, verifying_contract: verifyingContract } = vectors.domain
  const domain = { name, version, chainId, verifyingContract: verifyingContract as Hex }
  const types = { EIP712Domain: [...domainFields] }
  expect(hashDomain({ domain: { ...domain, chainId: BigInt(chainId) }, types })).toBe(vectors.domain_separator)
  for (const { id, header, digest, signer } of vectors.payments.filter((one) => one.digest)) {
    const { payload } = decodePaymentSignatureHeader(header) as unknown as { payload: Signed }
    const { from, to, value, validAfter, validBefore, nonce } = payload.authorization
    const hash = hashTypedData({
      ...{ domain, types: authorizationTypes, primaryType: 'TransferWithAuthorization' },
      message: {
        ...{ from: from as Hex, to: to as Hex, value: BigInt(value), nonce: nonce as Hex },
        ...{ validAfter: BigInt(validAfter), validBefore: BigInt(validBefore) },
      },
    })
    expect(hash, id).toBe(digest)
    expect((await recoverAddress({ hash, signature: payload.signature })).toLowerCase(), id).toBe(signer)
  }
})

test('request bindings follow from their definition', () => {
  const tag = slice(keccak256(toHex('assay:request-binding:v1')), 0, 8)
  for (const { method, resource, content_type, body, body_sha256, salt, nonce } of vectors.bindings) {
    expect(sha256(toHex(body))).toBe(body_sha256)
    const parts = encodeAbiParameters(parseAbiParameters('uint256, string, string, string, bytes32, bytes32'), [
      ...([1n, method, resource, content_type] as const),
      ...([body_sha256 as Hex, salt as Hex] as const),
    ])
    expect(concat([tag, slice(keccak256(parts), 0, 24)])).toBe(nonce)
  }
})

test('the types of the stock packages give the same digest of a permit, signed by its payer', async () => {
  expect(vectors.permits.map(({ scheme }) => scheme)).toEqual(['exact', 'upto'])
  for (const {
    scheme,
    chain_id: chainId,
    from,
    token,
    to,
    facilitator,
    digest,
    signature,
    ...one
  } of vectors.permits) {
    const hash = hashTypedData({
      domain: { name: 'Permit2', chainId, verifyingContract: PERMIT2_ADDRESS },
      types: scheme === 'upto' ? uptoPermit2WitnessTypes : permit2WitnessTypes,
      primaryType: 'PermitWitnessTransferFrom',
      message: {
        permitted: { token: token as Hex, amount: BigInt(one.amount) },
        spender: scheme === 'upto' ? x402UptoPermit2ProxyAddress : x402ExactPermit2ProxyAddress,
        ...{ nonce: BigInt(one.nonce), deadline: BigInt(one.deadline) },
        witness: { to, validAfter: BigInt(one.valid_after), ...(facilitator === undefined ? {} : { facilitator }) },
      },
    } as Parameters<typeof hashTypedData>[0])
    expect(hash).toBe(digest)
    expect((await recoverAddress({ hash, signature: signature as Hex })).toLowerCase()).toBe(from)
  }
})

test('the stock package finds the same channel, voucher and deposit', async () => {
  const payer = privateKeyToAccount(`0x${'11'.repeat(32)}`)
  for (const channel of vectors.channels) {
    const config = configOf(channel)
    expect(computeChannelId(config, channel.chain_id), channel.id).toBe(channel.channel_id)
    for (const { max_claimable, signature, digest } of channel.vouchers) {
      const id = channel.channel_id as Hex
      const signed = await signVoucher(payer, id, max_claimable, `eip155:${channel.chain_id}`)
      expect(signed.signature, `${channel.id} ${max_claimable}`).toBe(signature)
      expect((await recoverAddress({ hash: digest as Hex, signature: signed.signature })).toLowerCase()).toBe(
        payer.address.toLowerCase(),
      )
    }
    const { salt, nonce } = channel.deposit
    const words = encodeAbiParameters(parseAbiParameters('bytes32, uint256'), [channel.channel_id as Hex, BigInt(salt)])
    expect(keccak256(words)).toBe(nonce)
  }
  expect(new Set(vectors.channels.map((one) => one.channel_id)).size).toBe(vectors.channels.length)
})

test('a deposit of the stock client is signed over the nonce of its channel', async () => {
  const payer = privateKeyToAccount(`0x${'11'.repeat(32)}`)
  const [channel] = vectors.channels
  if (!channel) throw new Error('no channel')
  const { name, version, verifying_contract: verifyingContract } = vectors.domain
  const asked = {
    ...{ scheme: 'batch-settlement', network: 'eip155:8453' as const, amount: '1000', asset: verifyingContract },
    ...{ payTo: channel.receiver, maxTimeoutSeconds: 60, extra: { name, version } },
  }
  const { payload } = await createBatchSettlementEIP3009DepositPayload(
    payer,
    2,
    asked,
    configOf(channel),
    '5000',
    '1000',
  )
  const { deposit } = payload as unknown as { deposit: { authorization: { erc3009Authorization: Deposit } } }
  const { validAfter, validBefore, salt, signature } = deposit.authorization.erc3009Authorization
  const signer = await recoverTypedDataAddress({
    domain: { name, version, chainId: 8453, verifyingContract: verifyingContract as Hex },
    ...{ types: receiveTypes, primaryType: 'ReceiveWithAuthorization', signature },
    message: {
      ...{ from: payer.address, to: erc3009Collector, value: 5_000n },
      ...{ validAfter: BigInt(validAfter), validBefore: BigInt(validBefore) },
      nonce: depositNonce(channel.channel_id as Hex, BigInt(salt)),
    },
  })
  expect(signer).toBe(payer.address)
})

test('an unmodified mppx client signs with the same nonce for a challenge', async () => {
  const request = Buffer.from(
    JSON.stringify({
      ...{ amount: '1000', currency: vectors.terms.asset, recipient: vectors.terms.pay_to },
      methodDetails: { chainId: 8453, credentialTypes: ['authorization'], decimals: 6 },
    }),
  ).toString('base64url')
  for (const { id, realm, nonce } of vectors.mpp_nonces) {
    const challenge = `Payment id="${id}", realm="${realm}", method="evm", intent="charge", request="${request}"`
    const answer = new Response(null, { status: 402, headers: { 'www-authenticate': challenge } })
    const credential = await mppClient(privateKeyToAccount(`0x${'11'.repeat(32)}`)).createCredential(answer)
    expect(decodeJson(credential.slice('Payment '.length)).payload.nonce).toBe(nonce)
  }
  // Without a separator: these two are one nonce.
  expect(new Set(vectors.mpp_nonces.map(({ nonce }) => nonce)).size).toBe(1)
})

test('a changed vector is noticed', () => {
  const { header = '', ...expected } = named('one-unit-less') ?? {}
  expect(evaluate(header)).not.toEqual({ ...expected, match: { status: 'ok' } })
})

type Deposit = { validAfter: string; validBefore: string; salt: Hex; signature: Hex }

const configOf = (channel: Vectors['channels'][number]) => ({
  ...{ payer: channel.payer as Hex, payerAuthorizer: channel.payer_authorizer as Hex },
  ...{ receiver: channel.receiver as Hex, receiverAuthorizer: channel.receiver_authorizer as Hex },
  ...{ token: channel.token as Hex, withdrawDelay: channel.withdraw_delay, salt: channel.salt as Hex },
})

type Signed = {
  signature: Hex
  authorization: Record<'from' | 'to' | 'value' | 'validAfter' | 'validBefore' | 'nonce', string>
}

const domainFields = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
] as const
