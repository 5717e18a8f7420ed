import { describe, expect, it } from 'vitest'
import { testKey } from '../../chain/wallet/wallet.fixture.ts'
import type { SettleOutcome } from '../../contract/facilitator.ts'
import { demoAccount } from '../../devnet/index.ts'
import { systemClock } from '../../kernel/clock.ts'
import { paymentOf, shopAddress } from './local.fixture.ts'
import {
  alive,
  asIssuer,
  balanceOf,
  client,
  local,
  pauper,
  payer,
  payers,
  transactionOf,
  usdc,
  useLocalChain,
  world,
} from './use-local-chain.fixture.ts'

useLocalChain()

describe('settling one payment', () => {
  it('moves the money and reports hash and gas', async () => {
    const before = await balanceOf(shopAddress)
    const outcome = await local().settle(paymentOf(world.network, payer(0)), alive())
    expect(outcome).toMatchObject({ status: 'submitted', feeMicro: 0n })
    expect(outcome.status === 'submitted' && (outcome.gasGwei ?? 0n) > 0n).toBe(true)
    expect(await balanceOf(shopAddress)).toBe(before + 1_000n)
  })

  it('asks the chain for nothing that can be kept: no estimate, no chain id, no nonce, no fees per payment', async () => {
    const facilitator = local()
    await facilitator.settle(paymentOf(world.network, payer(0)), alive())
    world.methods = []
    await facilitator.settle(paymentOf(world.network, payer(0)), alive())
    expect(world.methods).toEqual(['eth_call', 'eth_sendRawTransaction', 'eth_getTransactionReceipt'])
  })

  it('settles in the name of nobody else: the same authorization is sent once', async () => {
    const facilitator = local()
    const payment = paymentOf(world.network, payer(1))
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
    ['an empty wallet', () => local().settle(paymentOf(world.network, pauper), alive()), 'insufficient_funds'],
    [
      'a foreign signature',
      () =>
        local().settle(
          Object.assign(paymentOf(world.network, payer(2)), {
            signature: paymentOf(world.network, payer(3)).signature,
          }),
          alive(),
        ),
      'invalid_exact_evm_payload_signature',
    ],
    [
      'an authorization that is over',
      () => local().settle(paymentOf(world.network, payer(2), { validBefore: 1n }), alive()),
      'invalid_exact_evm_payload_authorization_valid_before',
    ],
    [
      'one that has not begun',
      () => local().settle(paymentOf(world.network, payer(2), { validAfter: BigInt(systemClock.nowMs()) }), alive()),
      'invalid_exact_evm_payload_authorization_valid_after',
    ],
    [
      'another amount than quoted',
      () => local().settle({ ...paymentOf(world.network, payer(2)), amountMicro: 999n }, alive()),
      'invalid_exact_evm_payload_authorization_value_mismatch',
    ],
    [
      'another recipient than quoted',
      () => local().settle({ ...paymentOf(world.network, payer(2)), payTo: pauper.address }, alive()),
      'invalid_exact_evm_payload_recipient_mismatch',
    ],
    [
      'another asset',
      () => local().settle({ ...paymentOf(world.network, payer(2)), asset: pauper.address }, alive()),
      'invalid_payment_requirements',
    ],
    [
      'another network',
      () => local().settle({ ...paymentOf(world.network, payer(2)), network: 'eip155:1' }, alive()),
      'invalid_network',
    ],
  ]
  it.each(cases)('%s', async (_, settle, reason) => {
    expect(await settle()).toMatchObject({ status: 'refused', reason })
    expect(world.methods).not.toContain('eth_sendRawTransaction')
  })

  it('a payer the issuer has blocked, with the reason', async () => {
    await asIssuer('blacklist', [payer(4).address])
    expect(await local().settle(paymentOf(world.network, payer(4)), alive())).toMatchObject({
      status: 'refused',
      reason: 'account_blacklisted',
    })
    await asIssuer('unBlacklist', [payer(4).address])
  })

  it('everything while the issuer has paused the asset', async () => {
    await asIssuer('pause')
    expect(await local().settle(paymentOf(world.network, payer(4)), alive())).toMatchObject({
      status: 'refused',
      reason: 'asset_paused',
    })
    await asIssuer('unpause')
  })

  it('everything while the chain cannot be read, for nothing was sent', async () => {
    world.devnet.control.failNext('eth_call')
    expect(await local().settle(paymentOf(world.network, payer(4)), alive())).toMatchObject({
      status: 'refused',
      reason: 'facilitator_unavailable',
    })
  })
})

describe('many payments at once', () => {
  it('share a transaction and its cost', async () => {
    const outcomes = await Promise.all(payers.map((one) => local().settle(paymentOf(world.network, one), alive())))
    expect(outcomes.every((outcome) => outcome.status === 'submitted')).toBe(true)
    const facilitator = local()
    const shared = await Promise.all(payers.map((one) => facilitator.settle(paymentOf(world.network, one), alive())))
    expect(new Set(shared.map(transactionOf)).size).toBeLessThanOrEqual(2)
    expect(shared.every((outcome) => outcome.status === 'submitted' && (outcome.gasGwei ?? 0n) > 0n)).toBe(true)
  })

  it('settle all but the ones that fail, each with its own reason', async () => {
    const facilitator = local()
    const good = payers.slice(0, 10).map((one) => paymentOf(world.network, one))
    const spent = paymentOf(world.network, payer(11))
    await facilitator.settle(spent, alive())
    const bad = [
      paymentOf(world.network, pauper),
      { ...paymentOf(world.network, payer(12)), signature: good[0]?.signature as `0x${string}` },
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

  it('decide about a member by its log when it fails only in the block, and report success for the others', async () => {
    const facilitator = local()
    await world.devnet.control.holdMining()
    const fickle = payer(13)
    // Pending, so the simulation cannot see it; first in the block, so the settlement fails there.
    await client(testKey('payer 13').privateKey).writeContract({
      ...usdc(),
      functionName: 'transfer',
      args: [demoAccount('stranger').address, await balanceOf(fickle.address)],
      gas: 100_000n,
    })
    const all = [
      paymentOf(world.network, payer(14)),
      paymentOf(world.network, fickle),
      paymentOf(world.network, payer(15)),
    ]
    const settling = Promise.all(all.map((payment) => facilitator.settle(payment, alive())))
    await expect.poll(() => world.methods.includes('eth_sendRawTransaction')).toBe(true)
    await world.devnet.control.releaseMining()
    const outcomes = await settling
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['submitted', 'refused', 'submitted'])
    expect(outcomes[1]).toMatchObject({ reason: 'insufficient_funds' })
    expect(outcomes[1]?.status === 'refused' && (outcomes[1].gasGwei ?? 0n) > 0n).toBe(true)
    await world.devnet.control.fund(fickle.address)
  })

  it('gather while a transaction is on its way', async () => {
    const facilitator = local({ queue: { gatherMs: 60_000 } })
    await world.devnet.control.holdMining()
    const first = facilitator.settle(paymentOf(world.network, payer(16)), alive())
    await expect.poll(() => world.methods.includes('eth_sendRawTransaction')).toBe(true)
    const rest = [17, 18, 19].map((index) => facilitator.settle(paymentOf(world.network, payer(index)), alive()))
    expect(facilitator.pending()).toBe(4)
    // The chain answers something later than what they might have asked.
    await world.devnet.request('eth_blockNumber', [])
    expect(world.methods.filter((method) => method === 'eth_call')).toHaveLength(1)
    await world.devnet.control.releaseMining()
    expect(await first).toMatchObject({ status: 'submitted' })
    const outcomes = await Promise.all(rest)
    expect(new Set(outcomes.map(transactionOf)).size).toBe(1)
  })

  it('are refused beyond the bounds, per payer and in all, and nothing of them is sent', async () => {
    const facilitator = local({ queue: { perPayerMax: 2, waitingMax: 4 } })
    const busy = { status: 'refused', reason: 'facilitator_busy' }
    const ofOne = await Promise.all(
      [1, 2, 3].map(() => facilitator.settle(paymentOf(world.network, payer(20)), alive())),
    )
    expect(ofOne[2]).toMatchObject(busy)
    const outcomes = await Promise.all(
      [21, 22, 23, 24, 25].map((index) => facilitator.settle(paymentOf(world.network, payer(index)), alive())),
    )
    expect(outcomes[4]).toMatchObject(busy)
    expect(outcomes.slice(0, 4).every((outcome) => outcome.status === 'submitted')).toBe(true)
    expect(facilitator.pending()).toBe(0)
  })
})

describe('when the caller gives up', () => {
  it('a payment that still waited is not sent', async () => {
    const facilitator = local({ queue: { gatherMs: 60_000 } })
    await world.devnet.control.holdMining()
    const first = facilitator.settle(paymentOf(world.network, payer(26)), alive())
    await expect.poll(() => world.methods.includes('eth_sendRawTransaction')).toBe(true)
    const caller = new AbortController()
    const payment = paymentOf(world.network, payer(27))
    const second = facilitator.settle(payment, caller.signal)
    expect(facilitator.pending()).toBe(2)
    caller.abort()
    expect(await second).toMatchObject({ status: 'refused', reason: 'settlement_aborted' })
    await world.devnet.control.releaseMining()
    await first
    expect(await local().settle(payment, alive())).toMatchObject({ status: 'submitted' })
  })

  it('a payment on its way is unknown, with the hash to look for', async () => {
    await world.devnet.control.holdMining()
    const caller = new AbortController()
    const settling = local().settle(paymentOf(world.network, payer(26)), caller.signal)
    await expect.poll(() => world.methods.includes('eth_getTransactionReceipt')).toBe(true)
    caller.abort()
    expect(await settling).toMatchObject({ status: 'unknown', transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) })
  })
})

describe('verifying', () => {
  it('plays the transfer and sends nothing', async () => {
    const facilitator = local()
    expect(await facilitator.verify(paymentOf(world.network, payer(0)), alive())).toEqual({ status: 'valid' })
    expect(await facilitator.verify(paymentOf(world.network, pauper), alive())).toMatchObject({
      status: 'invalid',
      reason: 'insufficient_funds',
    })
    expect(world.methods).not.toContain('eth_sendRawTransaction')
  })

  it('says that it could not check when the chain is silent', async () => {
    world.devnet.control.failNext('eth_call')
    expect(await local().verify(paymentOf(world.network, payer(0)), alive())).toMatchObject({
      status: 'could_not_check',
    })
  })

  it('names the networks and wallets it settles with', async () => {
    expect(await local().supported(alive())).toEqual({
      kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:8453' }],
      signers: { 'eip155:*': [demoAccount('settler').address] },
    })
  })
})
