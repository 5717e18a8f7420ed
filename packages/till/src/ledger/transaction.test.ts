import { microMax } from '@assay/protocol/money'
import { describe, expect, test } from 'vitest'
import { accounts } from './accounts.ts'
import { InsufficientBalance, LedgerConflict, LedgerRefused } from './errors.ts'
import { assertPostable, credit, debit, type LedgerLine } from './transaction.ts'

const network = 'eip155:8453'
const owner = `0x${'ab'.repeat(20)}` as const
const [held, earned, gas] = [
  accounts.onchain(network, 'pay_to'),
  accounts.revenue(network, 'till.echo'),
  accounts.gasSpent(network, 'till.echo'),
]

describe('lines', () => {
  test('a debit is positive and a credit negative', () => {
    expect(debit(held, 5n)).toEqual({ account: held, amount: 5n })
    expect(credit(held, 5n)).toEqual({ account: held, amount: -5n })
    expect(debit(held, microMax).amount).toBe(microMax)
  })

  test('no other sign, no nothing, and nothing the books cannot hold', () => {
    for (const bad of [0n, -1n, microMax + 1n, 5 as unknown as bigint]) {
      expect(() => debit(held, bad)).toThrow(LedgerRefused)
      expect(() => credit(held, bad)).toThrow(LedgerRefused)
    }
  })
})

describe('what may be posted', () => {
  const post = (lines: LedgerLine[], reference = 'sale:1') => assertPostable({ reference, kind: 'sale', lines })
  const line = (account: LedgerLine['account'], amount: bigint) => ({ account, amount })

  test('two lines that balance, up to the largest amount', () => {
    expect(() => post([line(held, 5n), line(earned, -5n)])).not.toThrow()
    expect(() => post([line(held, microMax), line(earned, -microMax)])).not.toThrow()
    expect(() => post([line(held, 5n), line(earned, -2n), line(earned, -3n)])).not.toThrow()
  })

  test('each unit balances by itself', () => {
    const spent = accounts.gasWallet(network)
    expect(() => post([line(held, 5n), line(earned, -5n), line(gas, 7n), line(spent, -7n)])).not.toThrow()
    expect(() => post([line(held, 5n), line(gas, -5n)])).toThrow('does not balance')
    const abroad = accounts.revenue('eip155:84532', 'till.echo')
    expect(() => post([line(held, 5n), line(abroad, -5n)])).toThrow('does not balance')
  })

  test.each<[string, LedgerLine[], string]>([
    ['one line', [line(held, 5n)], 'fewer than two lines'],
    ['no line', [], 'fewer than two lines'],
    ['a line of nothing', [line(held, 0n), line(earned, 0n)], 'bad amount'],
    ['a number', [line(held, 5 as never), line(earned, -5n)], 'bad amount'],
    ['too much', [line(held, microMax + 1n), line(earned, -microMax - 1n)], 'out of range'],
    ['too little', [line(earned, -microMax - 1n), line(held, microMax + 1n)], 'out of range'],
    ['too much on one side', [line(held, microMax + 1n), line(earned, -microMax), line(earned, -1n)], 'out of range'],
    ['too little on one side', [line(earned, -microMax - 1n), line(held, microMax), line(held, 1n)], 'out of range'],
    ['one micro too many', [line(held, 5n), line(earned, -4n)], 'sale:1: does not balance'],
  ])('%s is refused', (_, lines, why) => {
    expect(() => post(lines)).toThrow(why)
    expect(() => post(lines)).toThrow(LedgerRefused)
  })

  test('a reference has 1 to 300 letters', () => {
    const lines = [line(held, 5n), line(earned, -5n)]
    expect(() => post(lines, 'r'.repeat(300))).not.toThrow()
    expect(() => post(lines, 'r')).not.toThrow()
    expect(() => post(lines, 'r'.repeat(301))).toThrow('bad reference')
    expect(() => post(lines, '')).toThrow('(no reference): bad reference')
  })
})

describe('accounts', () => {
  test('each has its name, its kind, its unit and its guard', () => {
    const shown = [
      held,
      accounts.onchain(network, 'custody'),
      accounts.clearingPayments(network),
      accounts.clearingPayouts(network),
      earned,
      accounts.credit(network, owner),
      accounts.creditBonded(network, owner),
      accounts.payable(network, owner, 'creator'),
      accounts.unmatched(network, 'custody'),
      accounts.feesFacilitator(network, 'till.echo'),
      accounts.payableFacilitator(network),
      accounts.reorgLoss(network),
      accounts.operator(network, 'usdc'),
      accounts.operator(network, 'gas'),
      accounts.gasWallet(network),
      gas,
      accounts.receivable(network, owner, 'creator'),
    ].map(({ name, kind, unit, guarded }) =>
      `${name} ${kind} ${unit}${guarded ? ' guarded' : ''}`.replaceAll(network, 'N').replaceAll(owner, 'W'),
    )
    expect(shown).toEqual([
      'onchain:pay_to@N asset N/usdc',
      'onchain:custody@N asset N/usdc',
      'clearing:payments@N clearing N/usdc',
      'clearing:payouts@N clearing N/usdc',
      'revenue:till.echo@N income N/usdc',
      'credit:W@N liability N/usdc guarded',
      'credit_bonded:W@N liability N/usdc guarded',
      'payable:creator:W@N liability N/usdc guarded',
      'unmatched:custody@N liability N/usdc guarded',
      'fees:till.echo@N expense N/usdc',
      'payable_facilitator@N liability N/usdc',
      'loss:reorg@N expense N/usdc',
      'operator:usdc@N liability N/usdc',
      'operator:gas@N liability N/gas',
      'gas:wallet@N asset N/gas',
      'gas_spent:till.echo@N expense N/gas',
      'receivable:creator:W@N asset N/usdc',
    ])
  })

  test('another dollar of a chain is its own unit, and gas is that of the chain', () => {
    const dollar = `${network}/erc20:0x${'c'.repeat(40)}`
    const shown = [
      accounts.credit(dollar, owner),
      accounts.operator(dollar, 'usdc'),
      accounts.gasSpent(dollar, 'till.echo'),
    ]
    expect(shown.map(({ name, unit }) => [name, unit])).toEqual([
      [`credit:${owner}@${dollar}`, dollar],
      [`operator:dollar@${dollar}`, dollar],
      [`gas_spent:till.echo@${network}`, `${network}/gas`],
    ])
  })

  test('what comes from outside cannot make up a name', () => {
    for (const bad of [
      `${network}/usdc`,
      `${network}/erc20:0xAB`,
      '',
      'eip155:',
      'eip155:0',
      'eip155:01',
      'x eip155:1',
      'eip155:1x',
      `eip155:1${'0'.repeat(19)}`,
    ])
      expect(() => accounts.unmatched(bad, 'custody'), bad).toThrow('not a network')
    for (const bad of ['0x', owner.toUpperCase(), `x${owner}`, `${owner}0`, owner.slice(0, -1)])
      expect(() => accounts.credit(network, bad as never), bad).toThrow('lower-case addresses')
    for (const bad of ['', '-x', 'a b', 'A', `a${'b'.repeat(100)}`, 'x:y', ' a'])
      expect(() => accounts.revenue(network, bad), bad).toThrow('not a word')
  })
})

test('errors of the books are distinguished by name, and keep their cause', () => {
  const cause = new Error('23505')
  expect([
    new LedgerConflict('a', { cause }),
    new InsufficientBalance({ cause }),
    new LedgerRefused('c', { cause }),
  ]).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ name: 'LedgerConflict', message: 'a', cause }),
      expect.objectContaining({ name: 'InsufficientBalance', cause }),
      expect.objectContaining({ name: 'LedgerRefused', message: 'c', cause }),
    ]),
  )
})
