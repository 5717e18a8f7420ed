import { expect, test } from 'vitest'
import { destinationsOn, isAllowed } from './withdraw-policy.ts'

test('a destination is for every dollar of its chain, and for no other chain', () => {
  const cold = `0x${'c'.repeat(40)}` as const
  const policy = { destinations: [{ network: 'eip155:8453', address: cold }], minimumMicro: 0n }
  const dollar = `/erc20:0x${'d0'.repeat(20)}`
  const allowed = (network: string) => isAllowed(policy, network, cold)
  expect([allowed('eip155:8453'), allowed(`eip155:8453${dollar}`)]).toEqual([true, true])
  expect([allowed('eip155:84531'), allowed('eip155:137'), allowed(`eip155:137${dollar}`)]).toEqual([
    false,
    false,
    false,
  ])
  expect(destinationsOn(policy, `eip155:8453${dollar}`)).toEqual(policy.destinations)
})
