import { type Address, zeroAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { expect, test } from 'vitest'
import { roles, wad } from '../abi/b20.ts'
import type { Checked } from '../checker.ts'
import { evaluate } from '../evaluate/evaluate.ts'
import { exampleChecked, exampleFacts } from '../example.ts'
import { known, type TokenFacts } from '../facts.ts'
import type { ControlEvent } from '../read/decode-events.ts'
import type { PolicyEvent } from '../read/decode-policy-events.ts'
import { cursorText, endOf, loggedChanges, silentChanges } from './control-changes.ts'
import { toCloudEvent } from './follow-token.ts'

const alice = `0x${'aa'.repeat(20)}` as Address
const hash = (text: string): Hex => `0x${text.padStart(64, '0')}`
const place = (block: number, logIndex: number) => ({
  blockNumber: BigInt(block),
  blockHash: hash(String(block)),
  transaction: hash(`f${block}`),
  logIndex,
})
const granted = (block: number, logIndex: number): ControlEvent => ({
  kind: 'role_granted',
  role: roles.MINT_ROLE,
  account: alice,
  sender: alice,
  ...place(block, logIndex),
})
const listed = (block: number, logIndex: number): PolicyEvent => ({
  kind: 'policy_listed',
  policyId: 2n,
  updater: alice,
  accounts: [alice],
  ...place(block, logIndex),
})
const policy = (members: Address[]) => ({
  id: 2n,
  exists: known(true),
  admin: known(alice),
  pendingAdmin: known(zeroAddress),
  children: known([]),
  members,
  membersComplete: true,
})

function checked(changes: Partial<TokenFacts>): Checked {
  const facts = { ...exampleFacts(), ...changes }
  return { ...exampleChecked(), facts, evaluation: evaluate(facts) }
}
const kinds = (before: Partial<TokenFacts>, after: Partial<TokenFacts>) =>
  silentChanges(checked(before), checked(after)).map(({ kind }) => kind)

test('token and list changes are reported in the order of the chain, and none is skipped within a block', () => {
  const facts = {
    ...exampleFacts(),
    events: [granted(5, 1), granted(5, 4)],
    policyEvents: [listed(5, 2), listed(4, 0)],
  }
  const texts = loggedChanges(facts, endOf(-1n)).map(({ cursor }) => cursorText(cursor))
  expect(texts).toEqual(['4-0', '5-1', '5-2', '5-4'])
  expect(loggedChanges(facts, { block: 5n, logIndex: 1 }).map(({ kind }) => kind)).toEqual([
    'policy_listed',
    'role_granted',
  ])
})

test('no two events have one id, however much happens at one place', () => {
  const before = checked({ policies: new Map([[2n, policy([])]]) })
  const after = checked({ policies: new Map([[2n, policy([alice, `0x${'bb'.repeat(20)}`])]]) })
  const changes = silentChanges(before, after)
  const ids = changes.map(
    (change) => toCloudEvent({ jws: { sign: () => '', verify: () => undefined }, baseUrl: '' }, alice, change).id,
  )
  expect(changes).toHaveLength(2)
  expect(new Set(ids).size).toBe(2)
})

test('a list change that a log reports is not reported a second time', () => {
  const before = { policies: new Map([[2n, policy([])]]) }
  const after = { policies: new Map([[2n, policy([alice])]]) }
  expect(kinds(before, after)).toEqual(['policy_changed'])
  expect(kinds(before, { ...after, policyEvents: [listed(7, 0)] })).toEqual([])
})

test('what a reorg undid is retracted, of the token and of its lists', () => {
  const policies = new Map([[2n, policy([])]])
  expect(kinds({ policies, events: [granted(5, 1)], policyEvents: [listed(5, 2)] }, { policies })).toEqual([
    'retracted',
    'retracted',
  ])
  // A list the token no longer follows has not lost its past.
  expect(kinds({ policies, policyEvents: [listed(5, 2)] }, {})).toEqual([])
})

test('a multiplier that matures and a verdict that changes are reported although no log reports them', () => {
  const effectiveAt = exampleFacts().block.timestamp + 10
  const before = { multiplier: known({ current: wad, pending: { value: 2n * wad, effectiveAt } }) }
  const block = { ...exampleFacts().block, timestamp: effectiveAt }
  expect(kinds(before, { block, multiplier: known({ current: 2n * wad }) })).toEqual([
    'multiplier_took_effect',
    'verdict_changed',
  ])
})
