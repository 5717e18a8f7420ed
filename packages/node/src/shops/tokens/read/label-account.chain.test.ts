import { type Address, zeroAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { roles } from '../abi/b20.ts'
import { type FaultChain, openFaultChain } from '../fault-chain.fixture.ts'
import { showLabel } from '../show.ts'

let chain: FaultChain['chain']
let issuer: FaultChain['issuer']
let honest: FaultChain['honest']
let faulty: FaultChain['faulty']
let evaluated: FaultChain['evaluated']

beforeAll(async () => {
  ;({ chain, issuer, honest, faulty, evaluated } = await openFaultChain())
})
afterAll(() => chain.stop())

const owners = ['a1', 'a2', 'a3'].map((byte) => `0x${byte.repeat(20)}` as Address)

/** Answers getThreshold() and getOwners() as a Safe does, and reverts on everything else. */
function safeCode(threshold: number): Hex {
  const dispatch = '60003560e01c8063e75235b814601e5763a0e67e2b1460295760006000fd'
  const thresholdAnswer = `5b60${threshold.toString(16).padStart(2, '0')}60005260206000f3`
  const list = owners.map((owner, i) => `73${owner.slice(2)}60${(64 + i * 32).toString(16)}52`).join('')
  return `0x${dispatch}${thresholdAnswer}5b60206000526003602052${list}60a06000f3`
}

const account = (byte: string) => `0x${byte.repeat(20)}` as Address
const [eoa, contract, safe, liar, delegated] = ['e0', 'c0', '5a', '1a', 'de'].map(account) as Address[]
const dead: Address = '0x000000000000000000000000000000000000dead'

test('every holder is classified: account, contract, Safe with threshold, delegated, zero, dead, token', async () => {
  await chain.request('hardhat_setCode', [contract, '0x60006000fd'])
  await chain.request('hardhat_setCode', [safe, safeCode(2)])
  // More signatures wanted than there are owners: whatever it is, it is no Safe.
  await chain.request('hardhat_setCode', [liar, safeCode(5)])
  const token = await issuer.create('many holders')
  for (const holder of [eoa, contract, safe, liar, delegated, dead, zeroAddress, token])
    expect(await issuer.call(token, 'grantRole', roles.PAUSE_ROLE, holder)).toBe(true)
  const delegating = faulty({
    answer: (call) =>
      call.method === 'eth_getCode' && call.params[0] === delegated
        ? `0xef0100${(contract as Address).slice(2)}`
        : undefined,
  })
  const { facts, evaluation } = await evaluated([delegating], token)
  expect(evaluation.missing).toEqual([])
  const kindOf = (one: Address | undefined) => showLabel(facts.accounts.get(one as Address))
  expect(kindOf(eoa)).toEqual({ kind: 'eoa' })
  expect(kindOf(contract)).toEqual({ kind: 'contract' })
  expect(kindOf(safe)).toMatchObject({ kind: 'safe', threshold: 2, owners: { length: 3 } })
  expect(kindOf(liar)).toEqual({ kind: 'contract' })
  expect(kindOf(delegated)).toMatchObject({ kind: 'delegated_eoa' })
  expect(kindOf(dead)).toEqual({ kind: 'presumed_dead' })
  expect(kindOf(zeroAddress)).toEqual({ kind: 'zero' })
  expect(kindOf(token)).toEqual({ kind: 'token' })
  expect(evaluation.flags.map(({ code }) => code)).toContain('contract_holders')
})

test('a power in dead hands is not impossible: that nobody has the key is presumed, not proven', async () => {
  const token = await issuer.create('dead minter')
  await issuer.call(token, 'grantRole', roles.MINT_ROLE, dead)
  await issuer.call(token, 'renounceLastAdmin')
  const { evaluation } = await evaluated([honest], token)
  expect([evaluation.verdict, evaluation.powers.mint.now]).toEqual(['PARTIALLY_CONTROLLED', 'latent'])
  const unreachable = await issuer.create('minter at zero')
  await issuer.call(unreachable, 'grantRole', roles.MINT_ROLE, zeroAddress)
  await issuer.call(unreachable, 'renounceLastAdmin')
  expect((await evaluated([honest], unreachable)).evaluation.verdict).toBe('LOCKED')
})
