import { expect, test } from 'vitest'
import { explainClaimed } from './explain-transfer.ts'

test('a transfer with the key of a claim pays it in the asset that was claimed, and else is its own credit', () => {
  const [base, payTo] = ['eip155:8453', `0x${'a'.repeat(40)}`]
  const dollar = `${base}/erc20:0x${'d0'.repeat(20)}`
  const transfer = { network: dollar, recipient: payTo, amountMicro: 10n, blockNumber: 5n }
  const explain = (network: string, state: 'settling' | 'failed') =>
    explainClaimed({ network, state, payTo, amountMicro: 10n }, { payee: 'pay_to' }, transfer, undefined)
  expect([explain(dollar, 'settling'), explain(dollar, 'failed')]).toEqual([{ post: 'nothing' }, { post: 'claim' }])
  for (const state of ['settling', 'failed'] as const)
    expect(explain(base, state)).toEqual({ post: 'credit', micro: 10n })
})
