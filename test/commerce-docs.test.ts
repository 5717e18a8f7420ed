import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test, vi } from 'vitest'
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import { demoAccount } from '../packages/till/src/devnet/index.ts'
import { trialBalance } from '../packages/till/src/ledger/index.ts'
import { until } from './harness/until.ts'
import { useTill } from './harness/use-till.ts'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const [, walkThrough = ''] = readFileSync(join(root, 'docs/commerce.md'), 'utf8').split('\n## Walk-through\n')
const blocks = [...(walkThrough.split('\n## ')[0] ?? '').matchAll(/```sh\n([\s\S]*?)```/g)].map(([, code = '']) =>
  code.trim(),
)

const till = useTill({
  ownShops: ['account', 'sandbox', 'matrix', 'subscriptions', 'rewards'],
  env: { MATRIX: '{"demo":"small"}' },
})
beforeAll(async () => {
  // The feeds are made beside the start; a reader of the walk-through has read this far by then.
  const isMade = async () => expect((await fetch(`${till.node.url}/matrix/squeeze/delayed`)).status).toBe(200)
  await vi.waitFor(isMade, { timeout: 60_000, interval: 200 })
})

const words: Record<string, string> = {
  AFFILIATE: demoAccount('affiliate').address,
  REFERRER: demoAccount('creator').address,
  BUYER: demoAccount('buyer').address,
}
const wordsOf = (line: string) =>
  [...line.replace(/\$([A-Z]+)/g, (_all, name: string) => words[name] ?? '').matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, quoted, bare]) => quoted ?? bare ?? '',
  )

async function assay(line: string): Promise<string> {
  const terminal = createTestTerminal({
    env: {
      DATABASE_URL: till.db.databaseUrl,
      BASE_RPC_URLS: till.base.url ?? '',
      POLYGON_RPC_URLS: till.polygon.url ?? '',
    },
  })
  const args = wordsOf(line).slice(2)
  const buyerSide = ['subscribe', 'loyalty', 'redeem', 'affiliate'].includes(args[0] ?? '')
  const code = await runCli(buyerSide ? [...args, '--url', till.node.url] : args, terminal)
  expect(code, `${line}\n${terminal.stderr()}${terminal.stdout()}`).toBe(0)
  return terminal.stdout()
}

async function curl(line: string): Promise<void> {
  const [, , header = '', url = ''] = wordsOf(line)
  const [name = '', value = ''] = header.split(': ')
  const here = url.replace('http://127.0.0.1:4020', till.node.url)
  const answer = await fetch(here, { headers: { [name]: value } })
  expect(answer.status, line).toBe(200)
  expect(await answer.json(), line).toMatchObject({ feed: 'squeeze', tier: 'live', synthetic: true })
}

async function remember(line: string, output: string): Promise<void> {
  if (!line.includes('--json')) return
  const document = JSON.parse(output) as { answer?: unknown; token?: string; pass?: { token: string } }
  const body = (document.answer ?? document) as { token?: string; pass?: { token: string } }
  if (body.pass) words['PASS'] = body.pass.token
  else if (body.token) words['TOKEN'] = body.token
  if (words['PAYMENT'] === undefined) {
    const { rows } = await till.db.owner.query<{ id: string }>(`select id from payment order by claimed_at limit 1`)
    words['PAYMENT'] = rows[0]?.id ?? ''
  }
}

test('the walk-through of docs/commerce.md works as written, and the books balance after each step', async () => {
  for (const line of blocks.flatMap((block) => block.split('\n'))) {
    if (line.startsWith('curl ')) await curl(line)
    else await remember(line, await untilPaid(line))
    const { sumByUnit } = await trialBalance(till.db.owner)
    for (const [unit, sum] of Object.entries(sumByUnit)) expect(sum, `${unit} after ${line}`).toBe(0n)
  }
})

/** "A few seconds later": the first read of the affiliate waits for its payout. */
const untilPaid = (line: string): Promise<string> =>
  until(`the payout is shown: ${line}`, async () => {
    const output = await assay(line)
    return (!line.includes(' affiliate ') || /0x[0-9a-f]{64}/.test(output)) && (output || ' ')
  })
