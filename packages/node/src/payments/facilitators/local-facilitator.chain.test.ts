import { createWalletClient, encodeFunctionData, serializeErc6492Signature, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { base } from 'viem/chains'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import gasBurning from '../../../../../contracts/artifacts/GasBurningWallet.json' with { type: 'json' }
import switchWallet from '../../../../../contracts/artifacts/SwitchWallet.json' with { type: 'json' }
import { createRpc, type Network, type RpcEndpoint } from '../../chain/index.ts'
import type { SettlementWallets } from '../../chain/wallet/index.ts'
import {
  demoNetwork,
  devnetEndpoint,
  type TestHolder,
  testHolder,
  testKey,
  testPayer,
  testWallets,
} from '../../chain/wallet/wallet.fixture.ts'
import {
  type ContractArtifact,
  contractArtifacts,
  type Devnet,
  demoAccount,
  demoIssuer,
  devnetTransport,
  startDevnet,
} from '../../devnet/index.ts'
import type { Address } from '../../kernel/address.ts'
import { systemClock } from '../../kernel/clock.ts'
import { silentLog } from '../../kernel/log.ts'
import { silentMetrics } from '../../kernel/metrics.ts'
import { openTestDatabase, type TestDatabase } from '../../store/testing.ts'
import { paymentOf, shopAddress } from './local.fixture.ts'
import { createLocalFacilitator, type LocalFacilitator, type LocalFacilitatorOptions } from './local-facilitator.ts'
import type { SettleOutcome } from './port.ts'

const payers = Array.from({ length: 30 }, (_, index) => testPayer(`payer ${index}`))
const payer = (index: number) => payers[index] as (typeof payers)[number]
const pauper = testPayer('pauper')

let devnet: Devnet
let store: TestDatabase
let network: Network
let endpoint: RpcEndpoint
let holder: TestHolder
let wallets: SettlementWallets
let methods: string[]

beforeAll(async () => {
  store = await openTestDatabase()
  const deployer = demoAccount('creator').address
  devnet = await startDevnet({
    chainId: 8453,
    clock: systemClock,
    log: silentLog,
    fund: [...payers.map((one) => one.address), deployer],
  })
  network = demoNetwork(devnet)
  const inner = devnetEndpoint(devnet)
  endpoint = {
    name: 'counted',
    send: (calls) => {
      methods.push(...calls.map((call) => call.method))
      return inner.send(calls)
    },
  }
})
afterAll(async () => {
  await devnet?.stop()
  await store?.close()
})
beforeEach(async () => {
  methods = []
  holder = await testHolder(store.database)
  wallets = testWallets({ network, endpoints: [endpoint], database: store.database, holder, limits: { idleMs: 5_000 } })
})
afterEach(async () => {
  devnet.control.clearFaults()
  await devnet.control.releaseMining()
  await wallets.stop()
  await holder.die()
})

function local(overrides: Partial<LocalFacilitatorOptions> = {}): LocalFacilitator {
  const chains = [{ network, rpc: createRpc([endpoint]), wallets }]
  return createLocalFacilitator({ chains, clock: systemClock, log: silentLog, metrics: silentMetrics, ...overrides })
}

const alive = () => new AbortController().signal
const balanceOf = async (address: Address): Promise<bigint> =>
  BigInt(
    (await devnet.request('eth_call', [
      { to: network.usdc.address, data: `0x70a08231${address.slice(2).padStart(64, '0')}` },
      'latest',
    ])) as string,
  )
const transactionOf = (outcome: SettleOutcome) => (outcome.status === 'submitted' ? outcome.transaction : undefined)

const client = (privateKey = demoAccount('creator').privateKey) =>
  createWalletClient({ chain: base, transport: devnetTransport(devnet), account: privateKeyToAccount(privateKey) })

async function deploy(artifact: ContractArtifact, args: readonly unknown[] = []): Promise<Address> {
  const hash = await client().deployContract({ abi: artifact.abi, bytecode: artifact.bytecode, args })
  const receipt = (await devnet.request('eth_getTransactionReceipt', [hash])) as { contractAddress: Address }
  return receipt.contractAddress
}

const usdc = () => ({ address: network.usdc.address, abi: contractArtifacts.testUsdc.abi })

const asIssuer = (functionName: string, args: readonly unknown[] = []) =>
  client(demoIssuer(8453).privateKey).writeContract({ ...usdc(), functionName, args })

describe('settling one payment', () => {
  it('moves the money and reports hash and gas', async () => {
    const before = await balanceOf(shopAddress)
    const outcome = await local().settle(paymentOf(network, payer(0)), alive())
    expect(outcome).toMatchObject({ status: 'submitted', feeMicro: 0n })
    expect(outcome.status === 'submitted' && (outcome.gasGwei ?? 0n) > 0n).toBe(true)
    expect(await balanceOf(shopAddress)).toBe(before + 1_000n)
  })

  it('asks the chain for nothing that can be kept: no estimate, no chain id, no nonce, no fees per payment', async () => {
    const facilitator = local()
    await facilitator.settle(paymentOf(network, payer(0)), alive())
    methods = []
    await facilitator.settle(paymentOf(network, payer(0)), alive())
    expect(methods).toEqual(['eth_call', 'eth_sendRawTransaction', 'eth_getTransactionReceipt'])
  })

  it('settles in the name of nobody else: the same authorization is sent once', async () => {
    const facilitator = local()
    const payment = paymentOf(network, payer(1))
    const outcomes = await Promise.all([facilitator.settle(payment, alive()), facilitator.settle(payment, alive())])
    expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['submitted', 'unknown'])
    expect(await facilitator.settle(payment, alive())).toMatchObject({
      status: 'refused',
      reason: 'invalid_exact_evm_nonce_already_used',
    })
  })
})

describe('what cannot settle is refused before it costs gas', () => {
  const cases: [string, () => Promise<SettleOutcome>, string][] = [
    ['an empty wallet', () => local().settle(paymentOf(network, pauper), alive()), 'insufficient_funds'],
    [
      'a foreign signature',
      () =>
        local().settle({ ...paymentOf(network, payer(2)), signature: paymentOf(network, payer(3)).signature }, alive()),
      'invalid_exact_evm_payload_signature',
    ],
    [
      'an authorization that is over',
      () => local().settle(paymentOf(network, payer(2), { validBefore: 1n }), alive()),
      'invalid_exact_evm_payload_authorization_valid_before',
    ],
    [
      'one that has not begun',
      () => local().settle(paymentOf(network, payer(2), { validAfter: BigInt(systemClock.nowMs()) }), alive()),
      'invalid_exact_evm_payload_authorization_valid_after',
    ],
    [
      'another amount than quoted',
      () => local().settle({ ...paymentOf(network, payer(2)), amountMicro: 999n }, alive()),
      'invalid_exact_evm_payload_authorization_value_mismatch',
    ],
    [
      'another recipient than quoted',
      () => local().settle({ ...paymentOf(network, payer(2)), payTo: pauper.address }, alive()),
      'invalid_exact_evm_payload_recipient_mismatch',
    ],
    [
      'another asset',
      () => local().settle({ ...paymentOf(network, payer(2)), asset: pauper.address }, alive()),
      'invalid_payment_requirements',
    ],
    [
      'another network',
      () => local().settle({ ...paymentOf(network, payer(2)), network: 'eip155:1' }, alive()),
      'invalid_network',
    ],
  ]
  it.each(cases)('%s', async (_, settle, reason) => {
    expect(await settle()).toMatchObject({ status: 'refused', reason })
    expect(methods).not.toContain('eth_sendRawTransaction')
  })

  it('a payer the issuer has blocked, with the reason', async () => {
    await asIssuer('blacklist', [payer(4).address])
    expect(await local().settle(paymentOf(network, payer(4)), alive())).toMatchObject({
      status: 'refused',
      reason: 'account_blacklisted',
    })
    await asIssuer('unBlacklist', [payer(4).address])
  })

  it('everything while the issuer has paused the asset', async () => {
    await asIssuer('pause')
    expect(await local().settle(paymentOf(network, payer(4)), alive())).toMatchObject({
      status: 'refused',
      reason: 'asset_paused',
    })
    await asIssuer('unpause')
  })

  it('everything while the chain cannot be read, for nothing was sent', async () => {
    devnet.control.failNext('eth_call')
    expect(await local().settle(paymentOf(network, payer(4)), alive())).toMatchObject({
      status: 'refused',
      reason: 'facilitator_unavailable',
    })
  })
})

describe('many payments at once', () => {
  it('share a transaction and its cost', async () => {
    const outcomes = await Promise.all(payers.map((one) => local().settle(paymentOf(network, one), alive())))
    expect(outcomes.every((outcome) => outcome.status === 'submitted')).toBe(true)
    const facilitator = local()
    const shared = await Promise.all(payers.map((one) => facilitator.settle(paymentOf(network, one), alive())))
    expect(new Set(shared.map(transactionOf)).size).toBeLessThanOrEqual(2)
    expect(shared.every((outcome) => outcome.status === 'submitted' && (outcome.gasGwei ?? 0n) > 0n)).toBe(true)
  })

  it('settle all but the ones that fail, each with its own reason', async () => {
    const facilitator = local()
    const good = payers.slice(0, 10).map((one) => paymentOf(network, one))
    const spent = paymentOf(network, payer(11))
    await facilitator.settle(spent, alive())
    const bad = [
      paymentOf(network, pauper),
      { ...paymentOf(network, payer(12)), signature: good[0]?.signature as `0x${string}` },
      spent,
    ]
    const outcomes = await Promise.all([...good, ...bad].map((payment) => facilitator.settle(payment, alive())))
    expect(outcomes.slice(0, 10).every((outcome) => outcome.status === 'submitted')).toBe(true)
    expect(outcomes.slice(10).map((outcome) => outcome.status === 'refused' && outcome.reason)).toEqual([
      'insufficient_funds',
      'invalid_exact_evm_payload_signature',
      'invalid_exact_evm_nonce_already_used',
    ])
  })

  it('judge a member by its log when it fails only in the block, and tell the others success', async () => {
    const facilitator = local()
    await devnet.control.holdMining()
    const fickle = payer(13)
    // Pending, so the simulation cannot see it; first in the block, so the settlement fails there.
    await client(testKey('payer 13').privateKey).writeContract({
      ...usdc(),
      functionName: 'transfer',
      args: [demoAccount('creator').address, await balanceOf(fickle.address)],
      gas: 100_000n,
    })
    const all = [paymentOf(network, payer(14)), paymentOf(network, fickle), paymentOf(network, payer(15))]
    const settling = Promise.all(all.map((payment) => facilitator.settle(payment, alive())))
    await expect.poll(() => methods.includes('eth_sendRawTransaction')).toBe(true)
    await devnet.control.releaseMining()
    const outcomes = await settling
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['submitted', 'refused', 'submitted'])
    expect(outcomes[1]).toMatchObject({ reason: 'insufficient_funds' })
    expect(outcomes[1]?.status === 'refused' && (outcomes[1].gasGwei ?? 0n) > 0n).toBe(true)
    await devnet.control.fund(fickle.address)
  })

  it('gather while a transaction is on its way', async () => {
    const facilitator = local({ queue: { gatherMs: 60_000 } })
    await devnet.control.holdMining()
    const first = facilitator.settle(paymentOf(network, payer(16)), alive())
    await expect.poll(() => methods.includes('eth_sendRawTransaction')).toBe(true)
    const rest = [17, 18, 19].map((index) => facilitator.settle(paymentOf(network, payer(index)), alive()))
    await systemClock.sleep(50)
    expect(methods.filter((method) => method === 'eth_call')).toHaveLength(1)
    await devnet.control.releaseMining()
    expect(await first).toMatchObject({ status: 'submitted' })
    const outcomes = await Promise.all(rest)
    expect(new Set(outcomes.map(transactionOf)).size).toBe(1)
  })

  it('are refused beyond the bounds, per payer and in all, and nothing of them is sent', async () => {
    const facilitator = local({ queue: { perPayerMax: 2, waitingMax: 4 } })
    const busy = { status: 'refused', reason: 'facilitator_busy' }
    const ofOne = await Promise.all([1, 2, 3].map(() => facilitator.settle(paymentOf(network, payer(20)), alive())))
    expect(ofOne[2]).toMatchObject(busy)
    const outcomes = await Promise.all(
      [21, 22, 23, 24, 25].map((index) => facilitator.settle(paymentOf(network, payer(index)), alive())),
    )
    expect(outcomes[4]).toMatchObject(busy)
    expect(outcomes.slice(0, 4).every((outcome) => outcome.status === 'submitted')).toBe(true)
    expect(facilitator.pending()).toBe(0)
  })
})

describe('when the caller gives up', () => {
  it('a payment that still waited is not sent', async () => {
    const facilitator = local({ queue: { gatherMs: 60_000 } })
    await devnet.control.holdMining()
    const first = facilitator.settle(paymentOf(network, payer(26)), alive())
    await expect.poll(() => methods.includes('eth_sendRawTransaction')).toBe(true)
    const caller = new AbortController()
    const payment = paymentOf(network, payer(27))
    const second = facilitator.settle(payment, caller.signal)
    await systemClock.sleep(10)
    caller.abort()
    expect(await second).toMatchObject({ status: 'refused', reason: 'settlement_aborted' })
    await devnet.control.releaseMining()
    await first
    expect(await local().settle(payment, alive())).toMatchObject({ status: 'submitted' })
  })

  it('a payment on its way is unknown, with the hash to look for', async () => {
    await devnet.control.holdMining()
    const caller = new AbortController()
    const settling = local().settle(paymentOf(network, payer(26)), caller.signal)
    await expect.poll(() => methods.includes('eth_getTransactionReceipt')).toBe(true)
    await systemClock.sleep(20)
    caller.abort()
    expect(await settling).toMatchObject({ status: 'unknown', transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) })
  })
})

describe('contract wallets', () => {
  const owner = testPayer('wallet owner')

  it('pay with the signature of their owner, alone and under a gas limit', async () => {
    const wallet = await deploy(contractArtifacts.smartWallet, [owner.address])
    await devnet.control.fund(wallet)
    const facilitator = local()
    const outcomes = await Promise.all(
      [testPayer('wallet owner', wallet), payer(28), payer(29)].map((one) =>
        facilitator.settle(paymentOf(network, one), alive()),
      ),
    )
    expect(outcomes.every((outcome) => outcome.status === 'submitted')).toBe(true)
    expect(transactionOf(outcomes[0] as SettleOutcome)).not.toBe(transactionOf(outcomes[1] as SettleOutcome))
    expect(transactionOf(outcomes[1] as SettleOutcome)).toBe(transactionOf(outcomes[2] as SettleOutcome))
  })

  it('that burn all gas are refused in the simulation', async () => {
    const wallet = await deploy(gasBurning as ContractArtifact)
    await devnet.control.fund(wallet)
    const outcome = await local().settle(paymentOf(network, testPayer('x', wallet)), alive())
    expect(outcome.status).toBe('refused')
    expect(methods).not.toContain('eth_sendRawTransaction')
  })

  it('that change their mind in the block cost one capped transaction and harm nobody else', async () => {
    const wallet = await deploy(switchWallet as ContractArtifact)
    await devnet.control.fund(wallet)
    await devnet.control.holdMining()
    const abi = (switchWallet as ContractArtifact).abi
    await client().writeContract({ address: wallet, abi, functionName: 'setValid', args: [false], gas: 100_000n })
    const settling = local().settle(paymentOf(network, testPayer('x', wallet)), alive())
    await expect.poll(() => methods.includes('eth_sendRawTransaction')).toBe(true)
    await devnet.control.releaseMining()
    expect(await settling).toMatchObject({ status: 'refused', reason: 'invalid_exact_evm_payload_signature' })
  })

  it('that are not deployed yet pay only through a factory on the list', async () => {
    const factory = await deploy(contractArtifacts.smartWalletFactory)
    const abi = contractArtifacts.smartWalletFactory.abi
    const args = [owner.address, toHex(7, { size: 32 })] as const
    const answer = (await devnet.request('eth_call', [
      { to: factory, data: encodeFunctionData({ abi, functionName: 'walletAddress', args }) },
      'latest',
    ])) as string
    const address = `0x${answer.slice(-40)}` as Address
    await devnet.control.fund(address)
    const plain = paymentOf(network, testPayer('wallet owner', address))
    const data = encodeFunctionData({ abi, functionName: 'createWallet', args })
    const payment = {
      ...plain,
      signature: serializeErc6492Signature({ address: factory, data, signature: plain.signature }),
    }
    expect(await local().settle(payment, alive())).toMatchObject({
      status: 'refused',
      reason: 'eip6492_factory_not_allowed',
    })
    expect(await local({ factories: [factory] }).settle(payment, alive())).toMatchObject({ status: 'submitted' })
    const again = paymentOf(network, testPayer('wallet owner', address))
    const wrapped = {
      ...again,
      signature: serializeErc6492Signature({ address: factory, data, signature: again.signature }),
    }
    expect(await local().settle(wrapped, alive())).toMatchObject({ status: 'submitted' })
  })
})

describe('verifying', () => {
  it('plays the transfer and sends nothing', async () => {
    const facilitator = local()
    expect(await facilitator.verify(paymentOf(network, payer(0)), alive())).toEqual({ status: 'valid' })
    expect(await facilitator.verify(paymentOf(network, pauper), alive())).toMatchObject({
      status: 'invalid',
      reason: 'insufficient_funds',
    })
    expect(methods).not.toContain('eth_sendRawTransaction')
  })

  it('says that it could not check when the chain is silent', async () => {
    devnet.control.failNext('eth_call')
    expect(await local().verify(paymentOf(network, payer(0)), alive())).toMatchObject({ status: 'could_not_check' })
  })

  it('names the networks and wallets it settles with', async () => {
    expect(await local().supported(alive())).toEqual({
      kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:8453' }],
      signers: { 'eip155:*': [demoAccount('settler').address] },
    })
  })
})
