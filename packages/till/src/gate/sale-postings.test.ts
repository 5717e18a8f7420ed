import { expect, test } from 'vitest'
import type { LedgerTransaction } from '../ledger/index.ts'
import type { Tx } from '../store/database.ts'
import {
  expectClearingEmpty,
  type FinishedClaim,
  holdPostings,
  postingReference,
  salePostings,
} from './sale-postings.ts'

const network = 'eip155:8453'
const claim: FinishedClaim = {
  id: 'pay_1',
  network,
  asset: `${network}/erc20:0x${'aa'.repeat(20)}`,
  payer: `0x${'11'.repeat(20)}`,
  payTo: `0x${'22'.repeat(20)}`,
  paymentKey: `0x${'33'.repeat(32)}`,
  payee: 'pay_to',
  amountMicro: 20_000n,
  routeId: 'till.echo',
  resource: 'https://node.example/x',
  ref: null,
  aff: null,
}
const commit = async () => undefined
const transfer = { id: 1n, turn: 0 }
const arrived = { transfer }

const shown = (transactions: LedgerTransaction[]) =>
  transactions.map(
    ({ reference, kind, paymentId, lines }) =>
      `${reference} ${kind} ${paymentId}: ${lines.map(({ account, amount }) => `${account.name.split('@')[0]} ${amount}`).join(', ')}`,
  )

test('our own sale goes from the chain to revenue, and its costs beside it', () => {
  expect(shown(salePostings({ claim, feeMicro: 1_000n, gasGwei: 50n, commit: undefined }, arrived))).toEqual([
    'sale:pay_1 sale pay_1: onchain:pay_to 20000, revenue:till.echo -20000',
    'fee:pay_1 facilitator_fee pay_1: fees:till.echo 1000, payable_facilitator -1000',
    'gas:pay_1 gas pay_1: gas_spent:till.echo 50, gas:wallet -50',
  ])
})

test('what cost nothing is not posted', () => {
  expect(shown(salePostings({ claim, feeMicro: 0n, gasGwei: 0n, commit }, arrived))).toEqual([
    'sale:pay_1 sale pay_1: onchain:pay_to 20000, revenue:till.echo -20000',
  ])
})

test('money of others waits in clearing for the effect of the route, and is ours only where there is none', () => {
  const custody = { ...claim, payee: 'custody' as const }
  expect(shown(salePostings({ claim: custody, feeMicro: 0n, gasGwei: 0n, commit }, arrived))).toEqual([
    'sale:pay_1 sale pay_1: onchain:custody 20000, clearing:payments -20000',
  ])
  expect(shown(salePostings({ claim: custody, feeMicro: 0n, gasGwei: 0n, commit: undefined }, arrived))).toEqual([
    'sale:pay_1 sale pay_1: onchain:custody 20000, revenue:till.echo -20000',
  ])
})

test('money that was held has its costs posted already, and from clearing to clearing nothing moves', () => {
  const costs = { feeMicro: 1_000n, gasGwei: 50n }
  expect(shown(holdPostings({ claim, ...costs }, transfer))).toEqual([
    'settle:pay_1 settle pay_1: onchain:pay_to 20000, clearing:payments -20000',
    'fee:pay_1 facilitator_fee pay_1: fees:till.echo 1000, payable_facilitator -1000',
    'gas:pay_1 gas pay_1: gas_spent:till.echo 50, gas:wallet -50',
  ])
  expect(shown(salePostings({ claim, ...costs, commit: undefined }, 'held'))).toEqual([
    'sale:pay_1 sale pay_1: clearing:payments 20000, revenue:till.echo -20000',
  ])
  expect(salePostings({ claim: { ...claim, payee: 'custody' }, ...costs, commit }, 'held')).toEqual([])
})

test('the costs of a payment in another dollar are not in that dollar', () => {
  const dollar = `${network}/erc20:0x${'d0'.repeat(20)}`
  const postings = salePostings(
    { claim: { ...claim, network: dollar }, feeMicro: 1_000n, gasGwei: 50n, commit: undefined },
    arrived,
  )
  const units = postings.map(({ lines }) => [...new Set(lines.map(({ account }) => account.unit))])
  expect(units).toEqual([[dollar], [`${network}/usdc`], [`${network}/gas`]])
})

test('whatever touches our wallets names the transfer that moved the money, and nothing else does', () => {
  const costs = { feeMicro: 1_000n, gasGwei: 50n }
  const named = (transactions: LedgerTransaction[]) => transactions.map(({ kind, transfer: by }) => [kind, by])
  const rest = [
    ['facilitator_fee', undefined],
    ['gas', undefined],
  ]
  expect(named(salePostings({ claim, ...costs, commit }, arrived))).toEqual([['sale', transfer], ...rest])
  expect(named(holdPostings({ claim, ...costs }, transfer))).toEqual([['settle', transfer], ...rest])
  expect(named(salePostings({ claim, ...costs, commit }, 'held'))).toEqual([['sale', undefined]])
})

test('each time a reorg undid a payment its next ending has its own reference', () => {
  expect(postingReference('sale', { id: 'pay_1' })).toBe('sale:pay_1')
  expect(postingReference('sale', { id: 'pay_1', reorgs: 0 })).toBe('sale:pay_1')
  expect(postingReference('sale', { id: 'pay_1', reorgs: 2 })).toBe('sale:pay_1#2')
})

test('a route that leaves money in clearing gets an error, and nothing is committed', async () => {
  const asked: unknown[] = []
  const answering = (rows: unknown[]) =>
    ({
      query: async (query: unknown) => {
        asked.push(query)
        return { rows }
      },
    }) as unknown as Tx
  const sales = [{ paymentId: 'pay_1' }, { paymentId: 'pay_2' }]
  await expectClearingEmpty(answering([]), claim, sales)
  expect(asked).toMatchObject([{ values: [['pay_1', 'pay_2'], `clearing:payments@${network}`] }])
  await expect(expectClearingEmpty(answering([{ payment: 'pay_2', left: 7n }]), claim, sales)).rejects.toThrow(
    'route till.echo left 7 in clearing for pay_2',
  )
})
