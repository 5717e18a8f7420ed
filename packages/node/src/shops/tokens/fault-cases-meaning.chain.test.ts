import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { RpcRefusal } from '@assay/till/chain'
import { toFunctionSelector } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { errorSelectors, roles, scopes, selectors, tokenSlots } from './abi/b20.ts'
import { checkAnswer } from './check-answer.ts'
import { evaluate } from './evaluate/evaluate.ts'
import { type FaultChain, openFaultChain } from './fault-chain.fixture.ts'
import { readToken } from './read/read-token.ts'
import { panelOf, readerOver } from './reader.fixture.ts'
import { buildReport } from './report/build-report.ts'
import { renderHtml } from './report/render-html.ts'
import { renderMarkdown } from './report/render-markdown.ts'
import { show, validUntil } from './show.ts'
import { viewWallet } from './wallet-view.ts'

let chain: FaultChain['chain']
let issuer: FaultChain['issuer']
let guard: FaultChain['guard']
let honest: FaultChain['honest']
let locked: FaultChain['locked']
let faulty: FaultChain['faulty']
let evaluated: FaultChain['evaluated']
let verdict: FaultChain['verdict']
let codes: FaultChain['codes']

beforeAll(async () => {
  ;({ chain, issuer, guard, honest, locked, faulty, evaluated, verdict, codes } = await openFaultChain())
})
afterAll(() => chain.stop())

describe('meaning', () => {
  test('R3: a bound policy that does not exist is no permission', async () => {
    const token = await issuer.create('ghost policy')
    const id = (await issuer.registry('createPolicy', issuer.address, 0)) as bigint
    await issuer.call(token, 'updatePolicy', scopes.TRANSFER_SENDER_POLICY, id)
    await issuer.call(token, 'renounceLastAdmin')
    const ghost = faulty({
      view: (call, result) =>
        call.data.startsWith(selectors['policyExists(uint64)'])
          ? { success: true, data: `0x${'0'.repeat(64)}` }
          : result,
    })
    expect(await codes([ghost], token)).toContain('policy_missing')
    expect(await verdict([ghost], token)).toBe('UNKNOWN')
  })

  test('R4: sentinels, inversion and composites are taken apart; a type byte nobody knows is unknown', async () => {
    const token = await issuer.create('all kinds')
    const flags = async (endpoints = [honest]) =>
      (await evaluated(endpoints, token)).evaluation.flags.map(({ code }) => code)
    // Not "always allow": nobody may send.
    expect(await issuer.call(token, 'updatePolicy', scopes.TRANSFER_SENDER_POLICY, 1n << 63n)).toBe(true)
    expect(await flags()).toEqual(expect.arrayContaining(['inverted_policy', 'transfers_blocked_for_all']))
    const blocked = (await issuer.registry('createPolicyWithAccounts', issuer.address, 0, [guard.address])) as bigint
    const allowed = (await guard.registry('createPolicyWithAccounts', guard.address, 1, [guard.address])) as bigint
    const children = [blocked, allowed | (1n << 63n)]
    const id = (await issuer.registry('createCompositePolicy', issuer.address, 2, children)) as bigint
    expect(await issuer.call(token, 'updatePolicy', scopes.TRANSFER_SENDER_POLICY, id)).toBe(true)
    const checked = await evaluated([honest], token)
    expect(checked.evaluation.missing).toEqual([])
    expect(checked.facts.policies.get(id)?.children).toEqual({ known: true, value: children })
    // The issuer may replace both lists and needs nobody; the admin of the other list needs the issuer.
    expect(checked.evaluation.powers.freeze.who).toEqual([
      expect.objectContaining({ account: issuer.address, alone: true }),
      expect.objectContaining({ account: guard.address, alone: false }),
    ])
    // On the blocklist, and on the list whose opposite counts: both say no.
    const wallet = await viewWallet(panelOf(honest), readerOver([]).multicall3, checked, guard.address)
    expect(wallet.send.answer).toBe('no')
    const odd = `0x${(9n << 56n).toString(16).padStart(64, '0')}` as Hex
    const later = faulty({
      view: (call, result) =>
        call.data === `${selectors['policyId(bytes32)']}${scopes.MINT_RECEIVER_POLICY.slice(2)}`
          ? { success: true, data: odd }
          : result,
      answer: (call) =>
        call.method === 'eth_getStorageAt' && call.params[1] === tokenSlots.mintPolicyIds ? odd : undefined,
    })
    expect(await codes([later], token)).toContain('unknown_policy_type')
    expect(await verdict([later], locked)).toBe('UNKNOWN')
  })

  test('R6: an executor allowlist stops holders from Denim on, and not before', async () => {
    const token = await issuer.create('executors')
    const id = (await issuer.registry('createPolicyWithAccounts', issuer.address, 1, [issuer.address])) as bigint
    await issuer.call(token, 'updatePolicy', scopes.TRANSFER_EXECUTOR_POLICY, id)
    const send = async () => {
      const checked = await evaluated([honest], token)
      return (await viewWallet(panelOf(honest), readerOver([]).multicall3, checked, guard.address)).send.answer
    }
    expect(await send()).toBe('no')
    await chain.request('devnet_setB20Fork', ['cobalt'])
    try {
      expect(await send()).toBe('yes')
    } finally {
      await chain.request('devnet_setB20Fork', ['denim'])
    }
  })

  test('R7: a list changed by its own admin shows, and so does a staged hand-over', async () => {
    const token = await issuer.create('shared list')
    const id = (await guard.registry('createPolicy', guard.address, 0)) as bigint
    await issuer.call(token, 'updatePolicy', scopes.TRANSFER_SENDER_POLICY, id)
    await guard.registry('updateBlocklist', id, true, [issuer.address])
    await guard.registry('stageUpdateAdmin', id, issuer.address)
    const { facts, evaluation } = await evaluated([honest], token)
    expect(facts.policies.get(id)?.members).toEqual([issuer.address])
    expect(evaluation.flags.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['freeze_by_third_party', 'policy_admin_pending']),
    )
    const wallet = await viewWallet(
      panelOf(honest),
      readerOver([]).multicall3,
      { ...(await evaluated([honest], token)) },
      issuer.address,
    )
    expect([wallet.send.answer, wallet.be_frozen.answer]).toEqual(['no', 'yes'])
  })

  test('R8: a scheduled multiplier ends the validity of the answer', async () => {
    const token = await issuer.create('split')
    await issuer.call(token, 'grantRole', roles.OPERATOR_ROLE, issuer.address)
    const at = chain.control.head().timestamp + 20
    expect(await issuer.call(token, 'updateUIMultiplier', 2n * 10n ** 18n, BigInt(at))).toBe(true)
    const { facts } = await evaluated([honest], token)
    expect(facts.multiplier).toMatchObject({ known: true, value: { pending: { effectiveAt: at } } })
    expect(validUntil(facts)).toBe(at)
  })

  test('R9: renounced, while an earlier grant still works', async () => {
    const { evaluation } = await evaluated([honest])
    expect(evaluation.powers.mint).toMatchObject({ now: 'armed', who: [{ account: guard.address }] })
    expect(evaluation.flags.map(({ code }) => code)).toContain('minter_irrevocable')
  })

  test('R28: ids that do not fit a JavaScript number survive end to end', async () => {
    const token = await issuer.create('big ids')
    const id = (await issuer.registry('createPolicyWithAccounts', issuer.address, 1, [guard.address])) as bigint
    const inverted = id | (1n << 63n)
    expect(await issuer.call(token, 'updatePolicy', scopes.TRANSFER_SENDER_POLICY, inverted)).toBe(true)
    expect(await issuer.call(token, 'updatePolicy', scopes.TRANSFER_RECEIVER_POLICY, 72057594037927937n)).toBe(true)
    const checked = await evaluated([honest], token)
    const { facts, evaluation } = checked
    expect(facts.scopes.TRANSFER_SENDER_POLICY).toEqual({ known: true, value: inverted })
    expect(evaluation.flags.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['inverted_policy', 'transfers_blocked_for_all']),
    )
    const wallet = await viewWallet(panelOf(honest), readerOver([]).multicall3, checked, guard.address)
    expect([wallet.send.answer, wallet.receive.answer]).toEqual(['no', 'no'])
  })

  test('R24: an unknown variant is no verdict and no 404', async () => {
    const later = `0xb200000000000000000007${'5'.repeat(18)}` as Address
    const alive = faulty({
      view: (call, result) =>
        call.data.startsWith(selectors['isB20Initialized(address)'])
          ? { success: true, data: `0x${'1'.padStart(64, '0')}` }
          : result,
      answer: (call) => (call.method === 'eth_getCode' ? '0xef' : undefined),
    })
    expect(await verdict([alive], later)).toBe('UNKNOWN')
  })

  test('R11, R32: hostile names are cut, cleaned and escaped everywhere', async () => {
    const token = await issuer.create('hostile')
    await issuer.call(token, 'grantRole', roles.METADATA_ROLE, issuer.address)
    await issuer.call(token, 'updateName', `<script>alert(1)</script>\u202e${'x'.repeat(3_000)}`)
    await issuer.call(token, 'updateSymbol', '](http://evil) | `')
    const checked = await evaluated([honest], token)
    expect(checked.evaluation.complete).toBe(true)
    expect(checked.evaluation.flags.map(({ code }) => code)).toContain('tricky_text')
    const options = { network: 'eip155:8453', node: 'http://127.0.0.1', synthetic: false }
    const report = { ...buildReport(checked, options), attestation: {} }
    for (const page of [renderHtml(report), renderMarkdown(report)]) {
      expect(page).not.toContain('<script')
      expect(page).not.toContain('\u202e')
    }
    expect(renderMarkdown(report)).not.toContain('](http')
    const answer = checkAnswer(checked, { ...options, reportUrl: '', reportPriceUsd: '' })
    expect(String(show(checked.facts.name, String)).length).toBeLessThanOrEqual(1_024)
    expect(JSON.stringify(answer)).not.toContain('\u202e')
  })

  test('the same block gives the same verdict and the same report', async () => {
    const first = await evaluated([honest], locked)
    const again = await readToken(readerOver([honest]), locked, first.facts.block)
    if (again.status !== 'read') throw new Error(again.status)
    const options = { network: 'eip155:8453', node: 'http://127.0.0.1', synthetic: false }
    const of = (one: typeof first) => JSON.stringify({ ...buildReport(one, options), reading: null })
    expect(of({ ...again, evaluation: evaluate(again.facts) })).toBe(of(first))
  })
})

describe('polarity and selectors', () => {
  const everyone = 72057594037927937n

  /** Bound to each scope in turn, one policy that denies the wallet: what it means differs by scope. */
  test.each([
    ['TRANSFER_SENDER_POLICY', { send: 'no', receive: 'yes', be_seized: 'yes' }],
    ['TRANSFER_RECEIVER_POLICY', { send: 'yes', receive: 'no', be_seized: 'later' }],
    ['TRANSFER_EXECUTOR_POLICY', { send: 'no', receive: 'yes', be_seized: 'later' }],
    ['MINT_RECEIVER_POLICY', { send: 'yes', receive: 'yes', be_seized: 'later' }],
    ['SEIZE_EXEMPT_POLICY', { send: 'yes', receive: 'yes', be_seized: 'yes' }],
    ['SEIZE_RECEIVER_POLICY', { send: 'yes', receive: 'yes', be_seized: 'later' }],
  ] as const)('R5: to be denied by %s means what that scope says, and not the reverse', async (scope, expected) => {
    const token = await issuer.create(`denied by ${scope}`)
    for (const role of [roles.SEIZE_ROLE, roles.BURN_BLOCKED_ROLE])
      await issuer.call(token, 'grantRole', role, issuer.address)
    const id = (await issuer.registry('createPolicyWithAccounts', issuer.address, 0, [guard.address])) as bigint
    expect(await issuer.call(token, 'updatePolicy', scopes[scope], id)).toBe(true)
    const wallet = await viewWallet(
      panelOf(honest),
      readerOver([]).multicall3,
      await evaluated([honest], token),
      guard.address,
    )
    expect({
      send: wallet.send.answer,
      receive: wallet.receive.answer,
      be_seized: wallet.be_seized.answer,
    }).toEqual(expected)
  })

  test('R5: always-block exempts nobody on the seize scope, and stops everybody on the others', async () => {
    const token = await issuer.create('always block')
    await issuer.call(token, 'grantRole', roles.SEIZE_ROLE, guard.address)
    expect((await evaluated([honest], token)).evaluation.powers.seize.now).toBe('latent')
    await issuer.call(token, 'updatePolicy', scopes.SEIZE_EXEMPT_POLICY, everyone)
    const { evaluation } = await evaluated([honest], token)
    expect(evaluation.powers.seize.now).toBe('armed')
    expect(evaluation.flags.find(({ code }) => code === 'seizable_unless_listed')?.sentence).toContain('every account')
    // Denying every receiver of seized tokens is the one thing that stops it again.
    await issuer.call(token, 'updatePolicy', scopes.SEIZE_RECEIVER_POLICY, everyone)
    expect((await evaluated([honest], token)).evaluation.powers.seize.now).toBe('latent')
  })

  test('R12: an error of the same name with another selector is not the one that means an older fork', async () => {
    await chain.request('devnet_setB20Fork', ['beryl'])
    try {
      expect(await codes([honest], locked)).toEqual([])
      const [known, other] = ['UnsupportedPolicyType(bytes32)', 'UnsupportedPolicyType()'].map((name) =>
        toFunctionSelector(`function ${name}`),
      ) as [Hex, Hex]
      expect(errorSelectors['UnsupportedPolicyType(bytes32)']).toBe(known)
      const renamed = faulty({
        view: (_call, result) =>
          !result.success && result.data.startsWith(known) ? { success: false, data: other } : result,
      })
      expect(await codes([renamed], locked)).toContain('scope_unread')
      expect(await verdict([renamed], locked)).toBe('UNKNOWN')
    } finally {
      await chain.request('devnet_setB20Fork', ['denim'])
    }
  })

  test('R12: the error of a simulated transfer is identified by selector, not by name', async () => {
    const named = faulty({
      before: (call) => {
        const request = call.params[0] as { from?: string } | undefined
        if (call.method === 'eth_call' && request?.from !== undefined)
          throw new RpcRefusal(3, 'execution reverted: PolicyForbids', toFunctionSelector('function PolicyForbids()'))
      },
    })
    const wallet = await viewWallet(
      panelOf(named),
      readerOver([]).multicall3,
      await evaluated([honest], locked),
      guard.address,
    )
    expect(wallet.send).toEqual({ answer: 'yes', why: 'the views allow it; it was not simulated' })
  })
})
