import type { ExportedTransaction } from '@assay/node'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { accountName, amountOf, commodity, transactionText } from './beancount.ts'
import { cell, csvLines } from './csv.ts'
import { gasMicro, parseCoinPrices } from './gas-value.ts'
import { rangeOf } from './range.ts'

const wallet = `0x${'ab'.repeat(20)}`

test('accounts keep their names, in the letters that Beancount takes', () => {
  const names = [
    accountName({ name: 'onchain:custody@eip155:8453', kind: 'asset' }),
    accountName({ name: `credit_bonded:${wallet}@eip155:137`, kind: 'liability' }),
    accountName({ name: 'payable:creator_waiting.3:my-news.example@eip155:8453', kind: 'liability' }),
    accountName({ name: 'revenue:tokens.check_batch@eip155:8453', kind: 'income' }),
    accountName({ name: 'clearing:payments@eip155:8453', kind: 'clearing' }),
    accountName({ name: `onchain:pay_to@eip155:137/erc20:${wallet}`, kind: 'asset' }),
    accountName({ name: 'points_issued', kind: 'expense' }),
  ]
  expect(names).toEqual([
    'Assets:Onchain:Custody:Eip155-8453',
    `Liabilities:CreditBonded:${wallet}:Eip155-137`,
    'Liabilities:Payable:CreatorWaiting-3:My--news-example:Eip155-8453',
    'Income:Revenue:Tokens-checkBatch:Eip155-8453',
    'Equity:Clearing:Payments:Eip155-8453',
    `Assets:Onchain:PayTo:Eip155-137-erc20-${wallet}`,
    'Expenses:PointsIssued',
  ])
  for (const name of names) expect(name).toMatch(/^[A-Z][A-Za-z]*(:[A-Z0-9][A-Za-z0-9-]*)+$/)
})

test('different accounts have different names', () => {
  const label = fc.stringMatching(/^[a-z0-9]([a-z0-9_]{0,6}[a-z0-9])?$/)
  const name = fc.array(
    fc.array(label, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('.')),
    {
      minLength: 1,
      maxLength: 3,
    },
  )
  fc.assert(
    fc.property(name, name, (a, b) => {
      const [first, second] = [a.join(':'), b.join(':')]
      const same = accountName({ name: first, kind: 'asset' }) === accountName({ name: second, kind: 'asset' })
      expect(same).toBe(first === second)
    }),
  )
})

test('amounts keep their unit and every digit', () => {
  expect(['20000', '-1', '1234567890'].map((text) => amountOf(BigInt(text), 'eip155:8453/usdc'))).toEqual([
    '0.020000',
    '-0.000001',
    '1234.567890',
  ])
  expect(amountOf(-50n, 'eip155:137/gas')).toBe('-50')
  expect(['eip155:8453/usdc', 'eip155:137/gas', 'points', `eip155:8453/erc20:${wallet}`].map(commodity)).toEqual([
    'USDC.EIP155-8453',
    'GWEI.EIP155-137',
    'POINTS',
    'T8453-ABABABABAB',
  ])
})

const transaction: ExportedTransaction = {
  id: 7n,
  reference: 'sale:pay_1',
  kind: 'sale',
  paymentId: 'pay_1',
  memo: 'said "no",\nthen yes',
  createdAt: new Date('2026-01-31T23:59:59.999Z'),
  lines: [
    { account: 'onchain:pay_to@eip155:8453', kind: 'asset', unit: 'eip155:8453/usdc', amount: 20_000n },
    { account: 'revenue:tokens.report@eip155:8453', kind: 'income', unit: 'eip155:8453/usdc', amount: -20_000n },
  ],
}

test('a posting is one transaction; what people wrote cannot leave its quotes', () => {
  expect(transactionText(transaction).split('\n')).toEqual([
    '2026-01-31 * "sale" "said \\"no\\", then yes"',
    '  posting: "7"',
    '  reference: "sale:pay_1"',
    '  payment: "pay_1"',
    '  time: "2026-01-31T23:59:59.999Z"',
    '  Assets:Onchain:PayTo:Eip155-8453  0.020000 USDC.EIP155-8453',
    '  Income:Revenue:Tokens-report:Eip155-8453  -0.020000 USDC.EIP155-8453',
  ])
  expect(csvLines(transaction)).toContain(',0.020000,,"said ""no"",\nthen yes"')
  expect(['=1+1', '-x', 'plain', 'a,b'].map(cell)).toEqual(["'=1+1", "'-x", 'plain', '"a,b"'])
})

test('days are whole days in UTC', () => {
  const now = new Date('2026-03-01T12:00:00Z')
  expect(rangeOf({ from: '2026-02-27' }, now, '1970-01-01')).toEqual({
    from: new Date('2026-02-27T00:00:00Z'),
    until: new Date('2026-03-02T00:00:00Z'),
  })
  for (const from of ['2026-02-30', '2026-2-1', 'x', '2026-03-02'])
    expect(() => rangeOf({ from }, now, '1970-01-01'), from).toThrow()
})

test('gas is valued by the price that the operator gives, rounded up, and by no other', () => {
  const prices = parseCoinPrices('eip155:8453=3000,eip155:137=0.40')
  expect(gasMicro(prices, 'eip155:8453', 1_000_000_000n)).toBe(3_000_000_000n)
  expect(gasMicro(prices, 'eip155:8453', 1n)).toBe(3n)
  expect(gasMicro(prices, 'eip155:137', 1n)).toBe(1n)
  expect(gasMicro(prices, 'eip155:137', 0n)).toBe(0n)
  expect(gasMicro(prices, 'eip155:1', 5n)).toBeUndefined()
  expect(parseCoinPrices(undefined).size).toBe(0)
  for (const wrong of ['base=3000', 'eip155:8453', 'eip155:8453=-1'])
    expect(() => parseCoinPrices(wrong)).toThrow('--coin-usd')
})
