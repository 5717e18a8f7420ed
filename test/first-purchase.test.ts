import { registerExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import type { PrivateKeyAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { expectSoundBooks, paymentRows, spentOnChain } from './harness/invariants.ts'
import { postJson } from './harness/post-json.ts'
import { decodeHeader, echoPath, quote } from './harness/till-fixture.ts'
import { useTill } from './harness/use-till.ts'

const till = useTill({ ownShops: 'till' })

/** The stock buyer, its code unmodified; the chain to pay on is chosen as its users do. */
function stockBuyer(account: PrivateKeyAccount, network: string) {
  const client = x402Client.fromConfig({
    schemes: [],
    spendControls: { allowedAssets: true, maxAmountPerPayment: false },
    paymentRequirementsSelector: (_version, accepts) =>
      accepts.find((accept) => accept.network === network) as (typeof accepts)[number],
  })
  registerExactEvmScheme(client, { signer: account })
  return wrapFetchWithPayment(fetch, client)
}

test.each(['eip155:8453', 'eip155:137'])(
  'an unmodified @x402/fetch buyer pays on %s and gets its answer',
  async (network) => {
    const account = await till.newBuyer()
    const response = await stockBuyer(account, network)(`${till.node.url}${echoPath}?message=hello`)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ echo: 'hello', paid_by: account.address })
    expect(decodeHeader(response.headers.get('payment-response'))).toMatchObject({
      success: true,
      network,
      amount: '1000',
    })
    expect(await spentOnChain(till, network === 'eip155:137' ? 'polygon' : 'base', account.address)).toBe(1000n)
    await expectSoundBooks(till)
  },
)

test('a stock buyer can pay for a POST with a body', async () => {
  const account = await till.newBuyer()
  const response = await stockBuyer(account, 'eip155:8453')(
    `${till.node.url}${echoPath}`,
    postJson({ message: 'with a body' }),
  )
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ echo: 'with a body' })
})

test('the 402 names our terms, fits in 3 kB and does no work', async () => {
  const before = (await paymentRows(till)).length
  const response = await fetch(`${till.node.url}${echoPath}`)
  expect(response.status).toBe(402)
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(response.headers.get('payment-required')?.length).toBeLessThan(3_072)
  const offer = await quote(`${till.node.url}${echoPath}`)
  expect(offer.accepts.map(({ scheme, network }) => `${scheme} ${network}`)).toEqual([
    'exact eip155:8453',
    'exact eip155:137',
    'credit eip155:8453',
  ])
  expect(offer.extensions['offer-receipt']).toBeDefined()
  expect((await paymentRows(till)).length).toBe(before)
})
