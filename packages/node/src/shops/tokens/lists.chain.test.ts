import type { Address } from '@assay/protocol/address'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { policyRegistryAddress, roles, scopes, selectors } from './abi/b20.ts'
import { checkAnswer } from './check-answer.ts'
import { evaluate } from './evaluate/evaluate.ts'
import { type FaultChain, openFaultChain } from './fault-chain.fixture.ts'
import { readToken } from './read/read-token.ts'
import { readerOver } from './reader.fixture.ts'
import { buildReport } from './report/build-report.ts'

let fault: FaultChain
let token: Address
const listed = Array.from({ length: 640 }, (_, i) => `0x${(i + 0x10_0000).toString(16).padStart(40, '0')}` as Address)

beforeAll(async () => {
  fault = await openFaultChain()
  const { issuer } = fault
  const list = (await issuer.registry('createPolicyWithAccounts', issuer.address, 0, listed.slice(0, 64))) as bigint
  for (let at = 64; at < listed.length; at += 64)
    await issuer.registry('updateBlocklist', list, true, listed.slice(at, at + 64))
  token = await issuer.create('long list')
  await issuer.call(token, 'updatePolicy', scopes.TRANSFER_SENDER_POLICY, list)
  await issuer.call(token, 'renounceLastAdmin')
}, 120_000)
afterAll(() => fault.chain.stop())

const options = { network: 'eip155:8453', node: 'https://node.example', synthetic: true }

test('a list of 640 is counted exactly and named whole in the report', async () => {
  const checked = await fault.evaluated([fault.honest], token)
  expect(checked.evaluation.missing).toEqual([])
  expect(checked.evaluation.powers.freeze.exercised).toBe(640)
  const [policy] = buildReport(checked, options).policies
  expect([policy?.listed_count, policy?.listed.length, policy?.listed_complete]).toEqual([640, 640, true])
})

test('an account of a list that could not be asked about makes the answer incomplete', async () => {
  const endpoint = fault.faulty({
    view: (call, result) =>
      call.to === policyRegistryAddress &&
      call.data.startsWith(selectors['isAuthorized(uint64,address)']) &&
      call.data.endsWith((listed[600] as Address).slice(2))
        ? { success: true, data: '0x' }
        : result,
  })
  const { evaluation } = await fault.evaluated([endpoint], token)
  expect([evaluation.complete, evaluation.verdict]).toEqual([false, 'UNKNOWN'])
  expect(evaluation.missing.map(({ code }) => code)).toContain('list_unread')
})

test('logs of a list that nobody could read make the answer incomplete', async () => {
  const endpoint = fault.faulty({
    answer: (call) =>
      call.method === 'eth_getLogs' && (call.params[0] as { address: Address }).address === policyRegistryAddress
        ? 'garbled'
        : undefined,
  })
  const { evaluation } = await fault.evaluated([endpoint], token)
  expect(evaluation.missing.map(({ code }) => code)).toContain('list_unread')
})

test('of many holders a check names fifty and counts all, a report names all', { timeout: 60_000 }, async () => {
  const { issuer } = fault
  const many = await issuer.create('many minters')
  for (const account of listed.slice(0, 55)) await issuer.call(many, 'grantRole', roles.MINT_ROLE, account)
  const reading = await readToken(readerOver([fault.honest]), many)
  if (reading.status !== 'read') throw new Error(reading.status)
  const checked = { ...reading, evaluation: evaluate(reading.facts) }
  const answer = checkAnswer(checked, { ...options, reportUrl: '', reportPriceUsd: '0.02' })
  expect([answer.powers.mint?.who.length, answer.powers.mint?.who_count]).toEqual([50, 55])
  expect(buildReport(checked, options).powers.mint?.who.length).toBe(55)
})
