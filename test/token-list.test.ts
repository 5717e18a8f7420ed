import { expect, test } from 'vitest'
import { roles } from '../packages/node/src/shops/tokens/abi/b20.ts'
import { createActor } from '../packages/node/src/shops/tokens/issuer.fixture.ts'
import { checksumAddress } from '../packages/protocol/src/address.ts'
import { until } from './harness/until.ts'
import { useTill } from './harness/use-till.ts'

type Listed = { address: string; verdict: string | null; name: string | null }
type List = { data: Listed[]; next_cursor: string | null; index: { to_block_number: string | null } }

const till = useTill({ ownShops: ['account', 'sandbox', 'tokens'] })
const get = async <T>(path: string) => (await (await fetch(`${till.node.url}${path}`)).json()) as T
const list = (query = '') => get<List>(`/v1/tokens${query}`)

const whole = async (query = '') => {
  const all: Listed[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page: List = await list(`?limit=3${query}${cursor === '' ? '' : `&cursor=${cursor}`}`)
    all.push(...page.data)
    cursor = page.next_cursor
  }
  return all
}

test('every token of the factory is listed with the verdict of the check, page by page and by verdict', async () => {
  const { demo } = await get<{ demo: { tokens: { address: string; what: string }[] } }>('/')
  await until('all tokens were read', async () => {
    const { data, index } = await list('?limit=100')
    return index.to_block_number !== null && data.length >= demo.tokens.length && data.every(({ verdict }) => verdict)
  })
  const all = await whole()
  expect(new Set(all.map(({ address }) => address)).size).toBe(all.length)
  for (const { address, what } of demo.tokens)
    expect(all.find((one) => one.address === address)?.verdict, what).toBe(what.split(':')[0])
  for (const verdict of ['LOCKED', 'UNKNOWN', 'ISSUER_CONTROLLED']) {
    const expected = all.filter((one) => one.verdict === verdict).map(({ address }) => address)
    expect((await whole(`&verdict=${verdict}`)).map(({ address }) => address)).toEqual(expected)
  }
  expect((await fetch(`${till.node.url}/v1/tokens?verdict=SAFE`)).status).toBe(400)
})

test('a token created now appears, its verdict follows its control, and a check reads only what is new', async () => {
  const issuer = await createActor(till.base)
  const token = checksumAddress(await issuer.create('fresh'))
  const found = async () => (await list('?limit=100')).data.find(({ address }) => address === token)
  await until('the new token is listed', async () => (await found())?.verdict === 'ISSUER_CONTROLLED')
  await issuer.call(token, 'grantRole', roles.MINT_ROLE, issuer.address)
  await issuer.call(token, 'renounceLastAdmin')
  await until('its verdict changed', async () => (await found())?.verdict === 'PARTIALLY_CONTROLLED')
  const check = await get<{ complete: boolean; reading: { index_to_block: string | null } }>(`/v1/check/${token}`)
  expect(check.complete).toBe(true)
  expect(Number(check.reading.index_to_block)).toBeGreaterThan(0)
})
