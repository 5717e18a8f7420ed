import { randomBytes } from 'node:crypto'
import { concatHex, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { parseAddress } from '../../packages/protocol/src/address.ts'
import { isHex } from '../../packages/protocol/src/bytes.ts'
import type { ChainPort, ChainTransfer, SettlementEvidence } from '../../packages/till/src/chain/index.ts'
import type { ClaimedTransfer, ClaimKey, Scheme } from '../../packages/till/src/contract/scheme.ts'
import { fromHex } from '../../packages/till/src/kernel/bytes.ts'
import { keccak256 } from '../../packages/till/src/kernel/keccak.ts'
import { recoverAddress } from '../../packages/till/src/kernel/secp256k1.ts'
import { termsForAmount } from '../../packages/till/src/schemes/match-offer.ts'
import { own, uint } from '../../packages/till/src/schemes/read-fields.ts'
import type { PaymentRequired } from '../harness/till-fixture.ts'

const network = 'eip155:8453'

/**
 * A payment scheme in one file, registered by one line. The payer approves the collector once, and for each purchase
 * signs a key, a maximum and the request; the collector then pulls what the answer costs with `transferFrom` and writes
 * the key behind the call. (The token does not guard the key, so this is nothing for real money.)
 */
export type Pull = { maximum: bigint; signature: Hex }
type Request = (method: string, params: unknown[]) => Promise<unknown>

const abi = parseAbi([
  'function approve(address,uint256)',
  'function transferFrom(address,address,uint256)',
  'function allowance(address,address) view returns (uint256)',
])
export const collector = privateKeyToAccount(generatePrivateKey())
const keyLength = 64
const callLength = 2 + 8 + 3 * 64

const digestOf = (parts: readonly (string | bigint)[]) => keccak256(Buffer.from(parts.join('\n')))
const invalid = (reason: string, detail = reason) => ({ status: 'invalid', reason, detail }) as const

export function createPullScheme(request: Request, collect: (data: Hex) => Promise<Hex>): Scheme<Pull> {
  /** The data after the arguments of the call that made a transfer. */
  const keyIn = async (transaction: Hex): Promise<Hex | undefined> => {
    const { input = '0x' } = ((await request('eth_getTransactionByHash', [transaction])) ?? {}) as { input?: Hex }
    return input.length === callLength + keyLength ? `0x${input.slice(-keyLength)}` : undefined
  }
  const submittedIn = async (chain: ChainPort, { payer, paymentKey }: ClaimKey, transaction: Hex) =>
    (await keyIn(transaction)) === paymentKey
      ? (await chain.transfersIn(transaction).catch(() => [])).find(({ sender }) => sender === payer)
      : undefined
  const search = async (chain: ChainPort, key: ClaimKey, from: bigint, to: bigint) => {
    for (const { transaction } of await chain.transferLogs(key.payer, from, to)) {
      const transfer = await submittedIn(chain, key, transaction)
      if (transfer) return transfer
    }
    return undefined
  }
  const evidenceOf = (claim: ClaimedTransfer, transfer: ChainTransfer): SettlementEvidence =>
    transfer.recipient === claim.payTo && transfer.amountMicro === claim.amountMicro
      ? { ...transfer, status: 'confirmed', gasGwei: 0n }
      : { status: 'used_otherwise', transfer }
  const headOf = async (chain: ChainPort) => (await chain.head()).number
  const isUsed: Scheme['evidence']['isUsed'] = async (chain, key, at) =>
    (await search(chain, key, 0n, at === 'latest' ? await headOf(chain) : at)) !== undefined
  return {
    id: 'pull',
    name: 'pull',
    chargesLess: true,
    supports: (network) => network === 'eip155:8453',
    requirements: ({ network, asset, payTo, amountMicro, maxTimeoutSeconds }) => ({
      scheme: 'pull',
      network: network.caip2,
      amount: amountMicro.toString(),
      asset,
      payTo,
      maxTimeoutSeconds,
      extra: { collector: collector.address },
    }),
    decode(envelope) {
      const { payload, payTo, network } = envelope
      const payer = parseAddress(own(payload, 'payer'))
      const [key, signature] = [own(payload, 'key'), own(payload, 'signature')]
      const [maximum, validBefore] = [uint(own(payload, 'maximum')), uint(own(payload, 'validBefore'))]
      if (!payer || !payTo || !isHex(key, 32) || !isHex(signature, 65))
        return { status: 'malformed', detail: 'payload' }
      if (maximum === undefined || validBefore === undefined) return { status: 'malformed', detail: 'amounts' }
      return {
        status: 'ok',
        payment: { envelope, network, payer, paymentKey: key, payTo, validBefore, signed: { maximum, signature } },
      }
    },
    match({ envelope, network, payTo, signed }, call, current, offers) {
      const terms = current.find((one) => one.network.caip2 === network && one.payTo === payTo)
      const priced = terms && termsForAmount(envelope, call, terms, offers)
      if (!priced || signed.maximum !== priced.amountMicro) return invalid('pull_terms')
      if (envelope.resourceUrl === undefined) return invalid('pull_resource', 'The payment must name its resource.')
      return { status: 'ok', terms: priced }
    },
    // However long it is valid: the gate has a limit for every scheme.
    checkWindow: ({ validBefore }, _terms, now) =>
      validBefore > BigInt(now + 5) ? { status: 'valid' } : invalid('pull_window'),
    async checkSignature({ envelope, network, payer, paymentKey, payTo, validBefore, signed }) {
      const digest = digestOf([network, payTo, signed.maximum, validBefore, paymentKey, envelope.resourceUrl ?? ''])
      return recoverAddress(digest, fromHex(signed.signature)) === payer
        ? { status: 'valid', by: 'key', digest }
        : invalid('pull_signature')
    },
    async readFunds({ payment }, chain) {
      const { payer } = payment
      const data = encodeFunctionData({ abi, functionName: 'allowance', args: [payer, collector.address] })
      const allowed = BigInt((await request('eth_call', [{ to: chain.network.usdc.address, data }, 'latest'])) as Hex)
      const balance = await chain.usdcBalance(payer)
      return {
        status: 'ok',
        balanceMicro: allowed < balance ? allowed : balance,
        used: await isUsed(chain, payment, 'latest'),
        payerIsKey: true,
      }
    },
    checkAgain: async ({ payment }, _chain, now) =>
      payment.validBefore > BigInt(now) ? { status: 'valid' } : { ...invalid('pull_window'), released: 'pull_late' },
    async settle(_verified, { payer, payTo, amountMicro, paymentKey }) {
      const args = [payer, payTo, amountMicro] as const
      const call = encodeFunctionData({ abi, functionName: 'transferFrom', args })
      return { status: 'submitted', transaction: await collect(concatHex([call, paymentKey])), feeMicro: 0n }
    },
    confirmsRefusal: async () => false,
    evidence: {
      isUsed,
      async byTransaction(chain, claim, transaction) {
        const transfer = await submittedIn(chain, claim, transaction)
        return transfer ? evidenceOf(claim, transfer) : { status: 'absent' }
      },
      async byKey(chain, claim, fromBlock) {
        const transfer = await search(chain, claim, fromBlock, await headOf(chain))
        return transfer ? evidenceOf(claim, transfer) : { status: 'absent' }
      },
      async useOf(chain, key, fromBlock) {
        const transfer = await search(chain, key, fromBlock, await headOf(chain))
        return transfer ? { status: 'transfer', transfer } : { status: 'absent' }
      },
      keyOf: ({ transaction }) => keyIn(transaction),
    },
    reasons: {
      reused: 'payment_used',
      usedBefore: 'pull_used',
      usedUp: 'The key is used up.',
      usedOtherwise: 'The key was used for something else.',
      usedForDust: 'The key was used for less than 0.001 USDC.',
      paidToOthers: { reason: 'pull_elsewhere', detail: 'The key was used for another transfer.' },
      canceled: { reason: 'pull_canceled', detail: 'The key was cancelled.' },
      expired: 'pull_expired',
    },
  }
}

/** What a payer sends to the token once. */
export const approveCollector = (micro: bigint): Hex =>
  encodeFunctionData({ abi, functionName: 'approve', args: [collector.address, micro] })

export async function signPull(payer: PrivateKeyAccount, offer: PaymentRequired, identifier?: string, seconds = 60) {
  const accepted = offer.accepts.find(({ scheme }) => scheme === 'pull')
  if (!accepted) throw new Error('the scheme is not offered')
  const key: Hex = `0x${randomBytes(32).toString('hex')}`
  const validBefore = BigInt(Math.floor(Date.now() / 1000) + seconds)
  const { payTo, amount } = accepted
  const digest = digestOf([network, payTo.toLowerCase(), BigInt(amount), validBefore, key, offer.resource.url])
  const signature = await payer.sign({ hash: `0x${digest.toString('hex')}` })
  return {
    x402Version: 2,
    resource: offer.resource,
    accepted,
    payload: { payer: payer.address, key, maximum: amount, validBefore: validBefore.toString(), signature },
    ...(identifier === undefined ? {} : { extensions: { 'payment-identifier': { info: { id: identifier } } } }),
  }
}
