import { toClientEvmSigner } from '@x402/evm'
import {
  BatchSettlementEvmScheme,
  createBatchSettlementEIP3009DepositPayload,
  InMemoryClientChannelStorage,
} from '@x402/evm/batch-settlement/client'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { createPublicClient, encodeFunctionData, type Hex, http } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Address } from '../../packages/protocol/src/address.ts'
import {
  type ChannelConfig,
  channelContract,
  createChannelHashes,
} from '../../packages/protocol/src/typed-data/channel.ts'
import { contractArtifacts, type Devnet } from '../../packages/till/src/devnet/index.ts'
import type { PaymentRequired, Requirements } from './till-fixture.ts'

export const channelAbi = contractArtifacts.batchSettlement.abi

type Terms = Requirements & { extra: { receiverAuthorizer: Address; withdrawDelay: number; minDeposit: string } }

/** The buyer of @x402/fetch and @x402/evm, its code unmodified. `fetchWith` stands for a network that may fail. */
export function channelBuyer(devnet: Devnet, account: PrivateKeyAccount, fetchWith: typeof fetch = fetch, salt?: Hex) {
  const reader = createPublicClient({ transport: http(devnet.url) })
  const storage = new InMemoryClientChannelStorage()
  const signer = toClientEvmSigner(account, reader as unknown as Parameters<typeof toClientEvmSigner>[1])
  const scheme = new BatchSettlementEvmScheme(signer, { storage, ...(salt === undefined ? {} : { salt }) })
  const client = x402Client.fromConfig({
    schemes: [],
    spendControls: { allowedAssets: true, maxAmountPerPayment: false },
    paymentRequirementsSelector: (_version, accepts) =>
      accepts.find(({ scheme: name }) => name === 'batch-settlement') as (typeof accepts)[number],
  })
  client.register('eip155:*', scheme)
  return { fetch: wrapFetchWithPayment(fetchWith, client), scheme, storage, reader }
}

export const channelTerms = ({ accepts }: PaymentRequired): Terms =>
  accepts.find(({ scheme }) => scheme === 'batch-settlement') as Terms

export function channelOf(account: PrivateKeyAccount, terms: Terms, changes: Partial<ChannelConfig> = {}) {
  const lower = (address: string) => address.toLowerCase() as Address
  const config: ChannelConfig = {
    payer: lower(account.address),
    payerAuthorizer: lower(account.address),
    receiver: lower(terms.payTo),
    receiverAuthorizer: lower(terms.extra.receiverAuthorizer),
    token: lower(terms.asset),
    withdrawDelay: terms.extra.withdrawDelay,
    salt: `0x${'0'.repeat(64)}`,
    ...changes,
  }
  return { config, id: createChannelHashes(8453).channelId(config) }
}

export type VoucherOptions = {
  max: bigint
  type?: 'voucher' | 'refund'
  chainId?: number
  contract?: Address
  signer?: PrivateKeyAccount
  config?: Partial<ChannelConfig>
  channelId?: Hex
  identifier?: string
  signature?(signature: Hex): Hex
}

/** A payload with a voucher, as a client could send it. */
export async function voucherPayload(account: PrivateKeyAccount, required: PaymentRequired, options: VoucherOptions) {
  const accepted = channelTerms(required)
  const { config, id } = channelOf(account, accepted, options.config)
  const channelId = options.channelId ?? id
  const signed = await (options.signer ?? account).signTypedData({
    domain: {
      ...{ name: 'x402 Batch Settlement', version: '1', chainId: options.chainId ?? 8453 },
      verifyingContract: options.contract ?? channelContract,
    },
    types: {
      Voucher: [
        { name: 'channelId', type: 'bytes32' },
        { name: 'maxClaimableAmount', type: 'uint128' },
      ],
    },
    primaryType: 'Voucher',
    message: { channelId, maxClaimableAmount: options.max },
  })
  const { signature = (same) => same, identifier } = options
  return {
    x402Version: 2,
    resource: required.resource,
    accepted,
    payload: {
      type: options.type ?? 'voucher',
      channelConfig: config,
      voucher: { channelId, maxClaimableAmount: options.max.toString(), signature: signature(signed) },
    },
    ...(identifier === undefined ? {} : { extensions: { 'payment-identifier': { info: { id: identifier } } } }),
  }
}

/** A payload with a deposit and the voucher of the first call, as the stock client makes it. */
export async function depositPayload(
  account: PrivateKeyAccount,
  required: PaymentRequired,
  { amount, validSeconds = 60 }: { amount: bigint; validSeconds?: number },
) {
  const accepted = channelTerms(required)
  const { config } = channelOf(account, accepted)
  const { payload } = await createBatchSettlementEIP3009DepositPayload(
    account,
    2,
    { ...accepted, network: 'eip155:8453', maxTimeoutSeconds: validSeconds },
    config,
    amount.toString(),
    accepted.amount,
  )
  return { x402Version: 2, resource: required.resource, accepted, payload }
}

export const channelCall = (functionName: string, args: readonly unknown[]): Hex =>
  encodeFunctionData({ abi: channelAbi, functionName, args })
