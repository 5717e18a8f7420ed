import type { Address } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import {
  type ChannelConfig,
  channelContract,
  createChannelHashes,
  depositNonce,
  erc3009Collector,
} from '@assay/protocol/typed-data/channel'
import { receiveTypes } from '@assay/protocol/typed-data/transfer-authorization'
import fc from 'fast-check'
import { BaseError, ContractFunctionRevertedError, createWalletClient, encodeAbiParameters, pad } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { silentLog } from '../kernel/log.ts'
import { contractArtifacts, type Devnet, demoAccount, devnetTransport, startDevnet } from './index.ts'
import { buyer, clients, settler, usdcBalance, usdcDomain, viemChain } from './test-chain.fixture.ts'

const { abi } = contractArtifacts.batchSettlement
const receiver = privateKeyToAccount(demoAccount('operator').privateKey)
const delay = 900

let devnet: Devnet
let salts = 0
beforeAll(async () => {
  devnet = await startDevnet({ chainId: 8453, clock: systemClock, log: silentLog })
})
afterAll(() => devnet.stop())

/** What the contract should hold, by its rules. */
type Model = { balance: bigint; claimed: bigint; nonce: bigint; pending: bigint; startedAt: bigint }
type Step =
  | { do: 'deposit' | 'refund' | 'initiate'; channel: number; amount: bigint }
  | { do: 'claim'; channel: number; max: bigint; total: bigint; forged: boolean }
  | { do: 'finalize'; channel: number }
  | { do: 'settle' }
  | { do: 'wait'; seconds: number }

const smaller = (a: bigint, b: bigint) => (a < b ? a : b)

/** Changes the model, or names the error of the contract. */
function expected(model: Model, step: Exclude<Step, { do: 'settle' | 'wait' }>, now: bigint): string | undefined {
  const free = model.balance - model.claimed
  switch (step.do) {
    case 'deposit':
      if (step.amount === 0n) return 'ZeroDeposit'
      model.balance += step.amount
      return undefined
    case 'claim':
      if (step.total <= model.claimed) return undefined
      if (step.total > step.max) return 'ClaimExceedsCeiling'
      if (step.total > model.balance) return 'ClaimExceedsBalance'
      if (step.forged) return 'InvalidSignature'
      model.claimed = step.total
      return undefined
    case 'refund': {
      if (step.amount === 0n) return 'ZeroRefund'
      model.nonce += 1n
      const given = smaller(step.amount, free)
      model.balance -= given
      if (given > 0n && model.startedAt > 0n) {
        if (given >= model.pending) Object.assign(model, { pending: 0n, startedAt: 0n })
        else model.pending -= given
      }
      return undefined
    }
    case 'initiate':
      if (step.amount === 0n) return 'NothingToWithdraw'
      if (model.startedAt > 0n) return 'WithdrawalAlreadyPending'
      if (step.amount > free) return 'WithdrawAmountExceedsAvailable'
      Object.assign(model, { pending: step.amount, startedAt: now })
      return undefined
    case 'finalize':
      if (model.startedAt === 0n) return 'WithdrawalNotPending'
      if (now < model.startedAt + BigInt(delay)) return 'WithdrawDelayNotElapsed'
      model.balance -= smaller(model.pending, free)
      Object.assign(model, { pending: 0n, startedAt: 0n })
      return undefined
  }
}

const wallet = (account: PrivateKeyAccount) =>
  createWalletClient({ chain: viemChain(devnet), transport: devnetTransport(devnet), account })

/** The error by which a call failed, if it did. */
async function call(account: PrivateKeyAccount, functionName: string, args: unknown[]): Promise<string | undefined> {
  const { reader } = clients(devnet)
  const request = { address: channelContract, abi, functionName, args, account }
  try {
    await reader.simulateContract(request)
  } catch (error) {
    const reverted = error instanceof BaseError && error.walk((one) => one instanceof ContractFunctionRevertedError)
    if (reverted instanceof ContractFunctionRevertedError) return reverted.data?.errorName ?? reverted.reason ?? 'none'
    throw error
  }
  const hash = await wallet(account).writeContract({ ...request, gas: 500_000n })
  expect((await reader.getTransactionReceipt({ hash })).status).toBe('success')
  return undefined
}

const read = async <T>(functionName: string, args: unknown[]): Promise<T> =>
  (await clients(devnet).reader.readContract({ address: channelContract, abi, functionName, args })) as T

const signVoucher = (account: PrivateKeyAccount, channelId: Hex, max: bigint) =>
  account.signTypedData({
    domain: { name: 'x402 Batch Settlement', version: '1', chainId: 8453, verifyingContract: channelContract },
    types: {
      Voucher: [
        { name: 'channelId', type: 'bytes32' },
        { name: 'maxClaimableAmount', type: 'uint128' },
      ],
    },
    primaryType: 'Voucher',
    message: { channelId, maxClaimableAmount: max },
  })

async function collectorData(channelId: Hex, amount: bigint): Promise<Hex> {
  salts += 1
  const salt = BigInt(salts)
  const times = { validAfter: 0n, validBefore: 10n ** 12n }
  const signature = await buyer.signTypedData({
    domain: usdcDomain(devnet),
    types: receiveTypes,
    primaryType: 'ReceiveWithAuthorization',
    message: {
      ...{ from: buyer.address, to: erc3009Collector, value: amount, ...times },
      nonce: depositNonce(channelId, salt),
    },
  })
  return encodeAbiParameters(
    [{ type: 'uint256' }, { type: 'uint256' }, { type: 'uint256' }, { type: 'bytes' }],
    [times.validAfter, times.validBefore, salt, signature],
  )
}

function channel(receiverAuthorizer: Address): { config: ChannelConfig; id: Hex } {
  salts += 1
  const config: ChannelConfig = {
    payer: buyer.address.toLowerCase() as Address,
    payerAuthorizer: buyer.address.toLowerCase() as Address,
    receiver: receiver.address.toLowerCase() as Address,
    receiverAuthorizer,
    token: devnet.usdc,
    withdrawDelay: delay,
    salt: pad(`0x${salts.toString(16)}`),
  }
  return { config, id: createChannelHashes(8453).channelId(config) }
}

async function run({ config, id }: { config: ChannelConfig; id: Hex }, step: Step): Promise<string | undefined> {
  switch (step.do) {
    case 'deposit':
      return call(settler, 'deposit', [config, step.amount, erc3009Collector, await collectorData(id, step.amount)])
    case 'claim': {
      const signature = await signVoucher(step.forged ? settler : buyer, id, step.max)
      const claim = { voucher: { channel: config, maxClaimableAmount: step.max }, signature, totalClaimed: step.total }
      return call(settler, 'claim', [[claim]])
    }
    case 'refund':
      return call(receiver, 'refund', [config, step.amount])
    case 'initiate':
      return call(buyer, 'initiateWithdraw', [config, step.amount])
    case 'finalize':
      return call(buyer, 'finalizeWithdraw', [config])
    case 'settle':
      return call(settler, 'settle', [receiver.address, devnet.usdc])
    case 'wait':
      devnet.control.advanceTime(step.seconds)
      await clients(devnet).tester.mine({ blocks: 1 })
      return undefined
  }
}

const amount = fc.bigInt({ min: 0n, max: 40n })
const which = fc.nat(1)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('deposit' as const), channel: which, amount }) },
  {
    weight: 5,
    arbitrary: fc.record({
      ...{ do: fc.constant('claim' as const), channel: which, max: amount, total: amount },
      forged: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('refund' as const), channel: which, amount }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('initiate' as const), channel: which, amount }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('finalize' as const), channel: which }) },
  { weight: 1, arbitrary: fc.constant({ do: 'settle' as const }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.constantFrom(10, delay) }) },
)

test('channels keep their rules in random histories', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 30 }), async (steps) => {
      const settlerAddress = settler.address.toLowerCase() as Address
      const channels = [channel(settlerAddress), channel(settlerAddress)]
      const models = channels.map((): Model => ({ balance: 0n, claimed: 0n, nonce: 0n, pending: 0n, startedAt: 0n }))
      const atStart = await usdcBalance(devnet, buyer.address)
      const earned = await read<[bigint, bigint]>('receivers', [receiver.address, devnet.usdc])
      for (const step of steps) {
        const place = 'channel' in step ? step.channel : 0
        const one = channels[place] as (typeof channels)[0]
        const before = models[place] as Model
        const failed = await run(one, step)
        if (step.do === 'settle' || step.do === 'wait') {
          expect(failed).toBeUndefined()
          continue
        }
        const { timestamp } = await clients(devnet).reader.getBlock()
        expect(failed, step.do).toBe(expected(before, step, timestamp))
        expect(await read('channels', [one.id])).toEqual([before.balance, before.claimed])
        expect(await read('refundNonce', [one.id])).toBe(before.nonce)
        const [pending, startedAt] = await read<[bigint, number]>('pendingWithdrawals', [one.id])
        expect([pending, BigInt(startedAt)]).toEqual([before.pending, before.startedAt])
      }
      const sum = (of: (model: Model) => bigint) => models.reduce((total, model) => total + of(model), 0n)
      const [claimed] = await read<[bigint, bigint]>('receivers', [receiver.address, devnet.usdc])
      expect(claimed - earned[0]).toBe(sum((model) => model.claimed))
      // What the payer does not have is in the channels, claimed or not.
      expect(atStart - (await usdcBalance(devnet, buyer.address))).toBe(sum((model) => model.balance))
    }),
    { numRuns: 6 },
  )
})

test('a stranger claims, refunds and withdraws nothing', async () => {
  const { config, id } = channel(settler.address.toLowerCase() as Address)
  await run({ config, id }, { do: 'deposit', channel: 0, amount: 10n })
  const claim = {
    voucher: { channel: config, maxClaimableAmount: 5n },
    signature: await signVoucher(buyer, id, 5n),
    totalClaimed: 5n,
  }
  const stranger = privateKeyToAccount(demoAccount('stranger').privateKey)
  expect(await call(stranger, 'claim', [[claim]])).toBe('NotAuthorizedToClaim')
  expect(await call(stranger, 'refund', [config, 1n])).toBe('NotAuthorizedToRefund')
  expect(await call(stranger, 'initiateWithdraw', [config, 1n])).toBe('InvalidChannel')
  expect(await call(settler, 'claim', [[]])).toBe('EmptyBatch')
  expect(await call(settler, 'deposit', [{ ...config, withdrawDelay: 899 }, 1n, erc3009Collector, '0x'])).toBe(
    'WithdrawDelayOutOfRange',
  )
})

test('digests and ids are those that the till computes', async () => {
  const { config, id } = channel(settler.address.toLowerCase() as Address)
  expect(await read('getChannelId', [config])).toBe(id)
  expect(await read('getVoucherDigest', [id, 7n])).toBe(toHex(createChannelHashes(8453).voucherDigest(id, 7n)))
})
