import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { OpenShop } from '../packages/node/src/http/index.ts'
import { shopNames } from '../packages/node/src/node.ts'
import { defineProblems, problemRow } from '../packages/till/src/kernel/problem.ts'
import { buy, echoPath } from './harness/till-fixture.ts'
import { useTill } from './harness/use-till.ts'

const till = useTill({ ownShops: 'till' })

const folder = fileURLToPath(new URL('../packages/node/src/shops', import.meta.url))

test('every folder of a shop has its one line in node.ts', () => {
  const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  expect(folders.map(({ name }) => name).filter((name) => !shopNames.includes(name))).toEqual([])
})

test.each(shopNames.filter((name) => name !== 'sandbox'))(
  'a node without %s starts, is ready and sells',
  async (name) => {
    const node = await till.startAnother({ ownShops: shopNames.filter((other) => other !== name), jobs: false })
    try {
      expect((await fetch(`${node.address}/readyz`)).status).toBe(200)
      expect((await fetch(`${node.address}/openapi.json`)).status).toBe(200)
      const response = await buy(await till.newBuyer(), `${node.address}${echoPath}?message=${name}`)
      expect(response.status, await response.text()).toBe(200)
    } finally {
      await node.stop()
    }
  },
)

const problems = defineProblems({
  toy_missing: problemRow(404, false, 'No such toy', 'GET /toys lists them.'),
})

const toyShop: OpenShop = ({ base }) => ({
  routes: [
    {
      id: 'toys.price',
      area: 'core',
      method: 'GET',
      path: '/toys/:name',
      summary: 'A toy, for a price',
      params: z.strictObject({ name: z.string().max(20) }),
      output: z.strictObject({ toy: z.string() }),
      example: { params: { name: 'ball' }, output: { toy: 'ball' } },
      next: '/',
      access: {
        kind: 'paid',
        price: { kind: 'fixed', micro: 1_000n },
        networks: [base.caip2],
        payee: 'pay_to',
        revocable: false,
        prepare: async ({ params }) => ({
          answer: { status: 200, contentType: 'application/json', body: JSON.stringify({ toy: params.name }) },
        }),
      },
    },
  ],
})

test('a new shop of one folder and one line is sold, described and charged for', async () => {
  const node = await till.startAnother({ shops: [toyShop], ownShops: 'till', jobs: false })
  try {
    const response = await buy(await till.newBuyer(), `${node.address}/toys/ball`)
    expect([response.status, await response.json()]).toEqual([200, { toy: 'ball' }])
    const openapi = (await (await fetch(`${node.address}/openapi.json`)).json()) as { paths: Record<string, unknown> }
    expect(Object.keys(openapi.paths)).toContain('/toys/{name}')
    const page = await fetch(`${node.address}/errors/${problems.toy_missing.code}`)
    expect(((await page.json()) as { title: string }).title).toBe('No such toy')
  } finally {
    await node.stop()
  }
})
