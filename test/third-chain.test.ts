import { expect, test } from 'vitest'
import { buy, decodeHeader, echoPath, quote } from './harness/till-fixture.ts'
import { useTill } from './harness/use-till.ts'

const till = useTill({ ownShops: 'till', chains: { arbitrum: 42_161 } })

const third = 'eip155:42161'

test('a chain that only the configuration names is quoted, paid on and posted', async () => {
  const url = `${till.node.url}${echoPath}?message=third`
  const quoted = await quote(url)
  expect(quoted.accepts.map(({ network }) => network)).toContain(third)
  const response = await buy(await till.newBuyer(), url, { network: third })
  expect(response.status).toBe(200)
  expect(decodeHeader<{ network: string }>(response.headers.get('payment-response')).network).toBe(third)
  const { rows } = await till.db.database.query<{ network: string }>(
    `select distinct network from transfer where network = $1`,
    [third],
  )
  expect(rows).toHaveLength(1)
})

test('the index and the configuration name it by its own word', async () => {
  const index = (await (await fetch(till.node.url)).json()) as { demo: { chains: { network: string }[] } }
  expect(index.demo.chains.map(({ network }) => network)).toEqual(['eip155:8453', 'eip155:137', third])
  expect(till.node.config.networks.map(({ name }) => name)).toEqual(['base', 'polygon', 'arbitrum'])
})
