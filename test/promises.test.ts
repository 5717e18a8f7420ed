import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { encodePayload, quote, send, signPayment } from './harness/till-fixture.ts'
import { canary, openProofNode, proofPath } from './promises/proof-node.ts'
import { tryPairs } from './promises/quoted.ts'
import { rows } from './promises/rows.ts'
import { proveSplits } from './promises/splits.ts'
import { fuzzNode } from './promises/unpaid.ts'
import { decideRounds, type Round } from './promises/unpaid-cost.ts'

/** The proofs of docs/promises.md at a size for every day; `npm run promises` has them as large as asked. */
const proofNode = await openProofNode({ ownShops: 'till' })
afterAll(() => proofNode?.till.close())

const options = (count: number) => ({ count, say: () => {} })

test('unpaid requests of any shape get nothing that is paid for', async () => {
  expect((await fuzzNode(proofNode, options(400))).faults).toEqual([])
})

test('a payment buys nothing but what it was made for, and buys that afterwards', async () => {
  expect((await tryPairs(proofNode, options(80))).faults).toEqual([])
})

test('a proof can fail: what is served unpaid is found', async () => {
  let ran = 0
  const leaking = {
    settled: 0,
    // As a handler that runs without a payment would leave it.
    get prepared() {
      ran += 1
      return ran
    },
  }
  const found = fuzzNode({ ...proofNode, callCounts: leaking }, options(100))
  expect((await found).faults.join()).toContain('paid handlers were run')
})

test('two hundred copies of one payment at once: one answer, one settlement, one run of the handler', async () => {
  const before = { ...proofNode.callCounts }
  const url = `${proofNode.till.node.url}${proofPath}?of=copies`
  const payload = encodePayload(await signPayment(await proofNode.till.newBuyer(), await quote(url)))
  const answers = await Promise.all(Array.from({ length: 200 }, () => send(url, payload)))
  const bodies = await Promise.all(answers.map((answer) => answer.text()))
  expect(bodies.filter((body) => body.includes(canary))).toHaveLength(1)
  expect(proofNode.callCounts).toEqual({ prepared: before.prepared + 1, settled: before.settled + 1 })
})

test('amounts are split without making or losing money', async () => {
  expect((await proveSplits(options(5_000))).faults).toEqual([])
})

describe('whether unpaid work is cheap', () => {
  const usual: Round = { p99: 6, bareP99: 4, cpu: 220, bareCpu: 120 }
  const five = (changes: Partial<Round>) => Array.from({ length: 5 }, () => ({ ...usual, ...changes }))

  test('is not decided by a stall of the machine', () => {
    expect(decideRounds([...five({}).slice(1), { ...usual, p99: 900, cpu: 2_000 }])).toEqual([])
    expect(decideRounds([usual, ...five({ p99: 900, cpu: 2_000 }).slice(1)])).toEqual([])
  })

  test('is not decided by how fast the machine is', () => {
    expect(decideRounds(five({ p99: 60, bareP99: 40, cpu: 2_200, bareCpu: 1_200 }))).toEqual([])
  })

  test('is decided by a node that is slow in every round', () => {
    expect(decideRounds(five({ p99: 40 })).join()).toContain('p99 is 40 ms')
    expect(decideRounds(five({ p99: 130, bareP99: 40 })).join()).toContain('p99 is 130 ms')
    expect(decideRounds(five({ cpu: 600 })).join()).toContain('600 µs of CPU')
  })
})

test('the README names every promise, and no other', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const table = readme.slice(readme.indexOf('\n|---|---|\n| One payment'), readme.indexOf('How fast it is'))
  const named = [...table.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name)
  expect(named.sort()).toEqual(rows.map(({ name }) => name).sort())
})

test('every file that the command of a promise names is there', () => {
  const named = rows.flatMap(({ commands }) => commands.flatMap((command) => command.args('test')))
  const paths = named.filter((arg) => /^(?:test|packages|bench|scripts)\//.test(arg))
  expect(paths.length).toBeGreaterThan(20)
  const root = new URL('../', import.meta.url)
  const isThere = (path: string) =>
    readdirSync(new URL(`${dirname(path)}/`, root)).some((name) => name.startsWith(basename(path)))
  expect(paths.filter((path) => !isThere(path))).toEqual([])
})
