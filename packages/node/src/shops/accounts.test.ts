import { expect, test } from 'vitest'
import { creatorAccounts } from './attestations/accounts.ts'
import { optionAccounts } from './options/accounts.ts'
import { rewardAccounts } from './rewards/accounts.ts'

const network = 'eip155:8453'
const owner = `0x${'ab'.repeat(20)}` as const

test('the accounts of shops have the names, kinds and units that the books know', () => {
  const shown = [
    creatorAccounts.waiting(network, 'news.example', 3),
    creatorAccounts.distributor(network),
    optionAccounts.collateral(network, 'TC-52-20261204-100-C'),
    rewardAccounts.affiliatePending(network, owner),
    rewardAccounts.affiliateExpense(network, 'till.echo'),
    rewardAccounts.points(owner),
    rewardAccounts.pointsIssued(),
    rewardAccounts.pointsRedeemed(),
    rewardAccounts.pointsReceivable(owner),
  ].map(({ name, kind, unit, guarded }) =>
    `${name} ${kind} ${unit}${guarded ? ' guarded' : ''}`.replaceAll(network, 'N').replaceAll(owner, 'W'),
  )
  expect(shown).toEqual([
    'payable:creator_waiting.3:news.example@N liability N/usdc guarded',
    'onchain:distributor@N asset N/usdc',
    'option_collateral:TC-52-20261204-100-C@N liability N/usdc guarded',
    'payable:affiliate_pending:W@N liability N/usdc',
    'affiliate_expense:till.echo@N expense N/usdc',
    'points:W liability points guarded',
    'points_issued expense points',
    'points_redeemed income points',
    'points_receivable:W asset points',
  ])
})

test('what comes from outside cannot make up the name of an account', () => {
  for (const bad of ['0x', owner.toUpperCase(), `x${owner}`, `${owner}0`])
    expect(() => rewardAccounts.points(bad as never), bad).toThrow('lower-case addresses')
  for (const bad of ['', 'a b', 'A.example', 'a@b', 'a'.repeat(254)])
    expect(() => creatorAccounts.waiting(network, bad, 0), bad).toThrow('not a domain')
  for (const bad of ['', 'TC-', 'xTC-a', 'TC-a b', `TC-${'a'.repeat(61)}`])
    expect(() => optionAccounts.collateral(network, bad), bad).toThrow('not a series')
})
