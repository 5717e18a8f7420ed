import { furtherDollar, knownNetworks, type Network, withDollars } from '@assay/till/chain'
import { expect, test } from 'vitest'
import { creditRoutes } from './credit-routes.ts'

const [base] = knownNetworks as [Network]
const token = (digit: string) => `0x${digit.repeat(40)}` as const
const dollars = [
  furtherDollar({ address: token('c'), symbol: 'USDX', name: 'USD X', version: '1' }),
  furtherDollar({ address: token('d'), symbol: 'USDP' }),
]

test('credit is paid in by every asset that the node can pay out', () => {
  const routes = creditRoutes({ base, assets: withDollars([{ ...base, dollars }]) } as never)
  const topUps = routes.flatMap(({ path, access }) =>
    path === '/v1/credit/topup' && access.kind === 'paid' ? [access.networks] : [],
  )
  const taken = [base.caip2, `${base.caip2}/erc20:${token('c')}`]
  expect(topUps).toEqual([taken, taken])
})
