import { randomBytes } from 'node:crypto'
import { toClientEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { UptoEvmScheme } from '@x402/evm/upto/client'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { createPublicClient, encodeFunctionData, getAddress, type Hex, parseAbi } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Address } from '../../packages/protocol/src/address.ts'
import { permit2Address, permit2Proxies } from '../../packages/protocol/src/typed-data/permit2.ts'
import { type Devnet, devnetTransport } from '../../packages/till/src/devnet/index.ts'
import type { PaymentRequired, Requirements } from './till-fixture.ts'

const abi = parseAbi([
  'function approve(address,uint256)',
  'function transfer(address,uint256)',
  'function invalidateUnorderedNonces(uint256 word, uint256 mask)',
])

/** What a payer sends to the token once. */
export const approvePermit2 = (micro: bigint): Hex =>
  encodeFunctionData({ abi, functionName: 'approve', args: [permit2Address, micro] })

/** A plain transfer, as the payer sends it to the token. */
export const transferOf = (to: Address, micro: bigint): Hex =>
  encodeFunctionData({ abi, functionName: 'transfer', args: [to, micro] })

/** What a payer sends to Permit2 to cancel a permit. */
export const cancelPermit = (nonce: bigint): Hex =>
  encodeFunctionData({ abi, functionName: 'invalidateUnorderedNonces', args: [nonce >> 8n, 1n << (nonce & 0xffn)] })

const isPermit2 = ({ extra }: { extra?: Record<string, unknown> }) => extra?.['assetTransferMethod'] === 'permit2'

/** A wallet that also reads its chain, as buyers have it who sign approvals by themselves. */
export function readingSigner(account: PrivateKeyAccount, devnet: Devnet) {
  const reader = createPublicClient({ transport: devnetTransport(devnet) })
  return toClientEvmSigner(account, reader as never)
}

/** The buyers of @x402/fetch and @x402/evm, their code unmodified; the way to pay is chosen as their users do. */
export function permit2Buyer(account: PrivateKeyAccount | ReturnType<typeof readingSigner>, send = fetch) {
  const client = x402Client.fromConfig({
    schemes: [],
    spendControls: { allowedAssets: true, maxAmountPerPayment: false },
    paymentRequirementsSelector: (_version, accepts) => accepts.find(isPermit2) as (typeof accepts)[number],
  })
  client.register('eip155:*', new ExactEvmScheme(account))
  client.register('eip155:*', new UptoEvmScheme(account))
  return wrapFetchWithPayment(send, client)
}

export type PermitOptions = {
  scheme?: 'exact' | 'upto'
  nonce?: bigint
  amount?: bigint
  to?: Address
  token?: Address
  facilitator?: string
  spender?: Address
  deadline?: bigint
  validAfter?: bigint
  chainId?: number
  identifier?: string
  signature?(signature: Hex): Hex
}

const common = {
  PermitWitnessTransferFrom: [
    { name: 'permitted', type: 'TokenPermissions' },
    { name: 'spender', type: 'address' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
    { name: 'witness', type: 'Witness' },
  ],
  TokenPermissions: [
    { name: 'token', type: 'address' },
    { name: 'amount', type: 'uint256' },
  ],
} as const
const uptoWitness = [
  { name: 'to', type: 'address' },
  { name: 'facilitator', type: 'address' },
  { name: 'validAfter', type: 'uint256' },
] as const

/** Signs a permit as a client would, with every part open to being altered. */
export async function signPermit(account: PrivateKeyAccount, offer: PaymentRequired, options: PermitOptions = {}) {
  const scheme = options.scheme ?? 'upto'
  const offered = offer.accepts.find((one) => one.scheme === scheme && isPermit2(one)) as
    | (Requirements & { extra: { facilitatorAddress?: string } })
    | undefined
  const first = offer.accepts[0]
  if (!first) throw new Error('nothing is offered')
  const accepted = offered ?? { ...first, scheme, extra: { ...first.extra, facilitatorAddress: undefined } }
  const facilitator = options.facilitator ?? accepted.extra.facilitatorAddress
  const validAfter = options.validAfter ?? 0n
  const to = getAddress(options.to ?? accepted.payTo)
  const named = scheme === 'upto' && facilitator !== undefined ? { facilitator: getAddress(facilitator) } : {}
  const message = {
    permitted: {
      token: getAddress(options.token ?? accepted.asset),
      amount: options.amount ?? BigInt(accepted.amount),
    },
    spender: getAddress(options.spender ?? permit2Proxies[scheme]),
    nonce: options.nonce ?? BigInt(`0x${randomBytes(32).toString('hex')}`),
    deadline: options.deadline ?? BigInt(Math.floor(Date.now() / 1000) + accepted.maxTimeoutSeconds),
    witness: { to, ...named, validAfter },
  }
  const signature = await account.signTypedData({
    domain: { name: 'Permit2', chainId: options.chainId ?? 8453, verifyingContract: permit2Address },
    types: {
      ...common,
      Witness: scheme === 'upto' ? uptoWitness : uptoWitness.filter(({ name }) => name !== 'facilitator'),
    },
    primaryType: 'PermitWitnessTransferFrom',
    message,
  } as Parameters<PrivateKeyAccount['signTypedData']>[0])
  const { permitted, spender, nonce, deadline } = message
  return {
    x402Version: 2,
    resource: offer.resource,
    accepted,
    payload: {
      signature: options.signature?.(signature) ?? signature,
      permit2Authorization: {
        from: account.address,
        permitted: { token: permitted.token, amount: permitted.amount.toString() },
        ...{ spender, nonce: nonce.toString(), deadline: deadline.toString() },
        witness: { to, ...named, validAfter: validAfter.toString() },
      },
    },
    ...(options.identifier === undefined
      ? {}
      : { extensions: { 'payment-identifier': { info: { id: options.identifier } } } }),
  }
}
