import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import { createDemoSecurities } from '../packages/node/src/shops/matrix/demo/demo-securities.ts'
import { shortVolumeFile } from '../packages/node/src/shops/matrix/demo/write-files.ts'
import { useTill } from './harness/use-till.ts'

let folder: string
let env: NodeJS.ProcessEnv
const till = useTill({
  ownShops: ['account', 'sandbox', 'notifications', 'matrix', 'subscriptions', 'rewards'],
  env: { MATRIX: '{"demo":"small"}' },
})
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assay-ingest-'))
  env = {
    DATABASE_URL: till.db.databaseUrl,
    BASE_RPC_URLS: till.base.url,
    POLYGON_RPC_URLS: till.polygon.url,
    BASE_URL: till.node.url,
    USER: 'tester',
  }
}, 120_000)
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

async function assay(...args: string[]) {
  const terminal = createTestTerminal({ env })
  const code = await runCli(args, terminal)
  return { code, out: terminal.stdout(), err: terminal.stderr(), statuses: terminal.statuses }
}

async function save(name: string, bytes: Buffer): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, bytes)
  return path
}

test('files are ingested one by one with progress; a bad one is named with its reason and does not stop the others', async () => {
  const securities = createDemoSecurities(40)
  const packed = await save('CNMSshvol20240102.txt.gz', gzipSync(shortVolumeFile(securities, '2024-01-02').bytes))
  const { bytes } = shortVolumeFile(securities, '2024-01-03')
  const broken = await save('CNMSshvol20240103.txt', bytes.subarray(0, bytes.length - 20))
  const whole = await save('CNMSshvol20240104.txt', shortVolumeFile(securities, '2024-01-04').bytes)
  const { code, out, statuses } = await assay('ingest', packed, broken, whole)
  expect(out).toMatch(/stored +CNMSshvol20240102\.txt\.gz {2}finra-short-volume 2024-01-02, revision 1, 40 rows/)
  expect(out).toMatch(/refused +CNMSshvol20240103\.txt {2}\w+: /)
  expect(out).toMatch(/stored +CNMSshvol20240104\.txt/)
  expect(code).not.toBe(0)
  expect(statuses).toEqual(
    expect.arrayContaining(['1 of 3: CNMSshvol20240102.txt.gz', '3 of 3: CNMSshvol20240104.txt']),
  )
  const again = await assay('ingest', whole, '--json')
  expect(again.code).toBe(0)
  expect(JSON.parse(again.out)).toMatchObject({ data: [{ status: 'unchanged' }] })
})

test('what cannot be ingested is said before anything is done', async () => {
  expect((await assay('ingest')).err).toContain('nothing to ingest')
  expect((await assay('ingest', join(folder, 'not-there.txt'))).err).toContain('cannot read')
  expect((await assay('ingest', 'x', '--source', 'nope')).err).toContain('there is no source "nope"')
  const elsewhere = await assay('ingest', 'ftp://127.0.0.1/usa.txt')
  expect(elsewhere.out).toContain('host_not_allowed')
  expect(elsewhere.code).not.toBe(0)
})

test('the table of coverage has every source, and what to do is said where something is missing', async () => {
  const { out, code } = await assay('ingest', 'coverage')
  expect(code).toBe(0)
  expect(out).toMatch(/finra-short-volume +2024-01-02 +\d{4}-\d{2}-\d{2} +\d+ of 61/)
  const { data } = JSON.parse((await assay('ingest', 'coverage', '--json')).out) as { data: { source: string }[] }
  expect(data).toHaveLength(14)
  const licensed = createTestTerminal({
    env: {
      ...env,
      LICENCES: 'finra-short-volume | free | Jane Doe | 2026-01-01 | terms of 2022-12-20',
      MATRIX: '{"fetch":"all"}',
    },
  })
  expect(await runCli(['ingest', 'coverage', '--json'], licensed)).toBe(0)
  const rows = JSON.parse(licensed.stdout()) as { data: { source: string; fetched: boolean }[] }
  expect(rows.data.filter(({ fetched }) => !fetched).map(({ source }) => source)).toEqual([
    'ibkr-borrow',
    'prices',
    'vendor-fields',
  ])
})

test('a backfill that cannot begin says what is wrong', async () => {
  expect((await assay('ingest', 'backfill')).err).toContain('--from')
  expect((await assay('ingest', 'backfill', '--from', 'monday')).err).toContain('must be a date')
  expect((await assay('ingest', 'backfill', '--from', '2026-05-01', '--to', '2026-04-01')).err).toContain('is after')
  expect((await assay('ingest', 'backfill', '--from', '2026-05-01')).err).toContain('fetches no source by itself')
  const none = await assay('ingest', 'backfill', '--from', '2026-05-01', '--source', 'ibkr-borrow', '--json')
  expect([none.code, JSON.parse(none.out)]).toEqual([0, expect.objectContaining({ counts: {}, data: [] })])
  expect(none.err).toContain('keeps no past')
})

test('all sources are listed with address, licence and what their parser has seen', async () => {
  const { out, code } = await assay('ingest', '--list', '--json')
  expect(code).toBe(0)
  const { data } = JSON.parse(out) as { data: { id: string; url_pattern: string; parser_saw: string }[] }
  expect(data.map(({ id }) => id)).toEqual(
    expect.arrayContaining(['finra-short-volume', 'sec-fails', 'ibkr-borrow', 'nasdaq-halts', 'sec-13f']),
  )
  for (const source of data) expect([source.url_pattern, source.parser_saw]).not.toContain('')
})

test('one command shows a ranked, dated, sourced table with pictures', async () => {
  const { out, code } = await assay('matrix', 'squeeze', '--url', till.node.url, '-n', '5')
  expect(code).toBe(0)
  expect(out).toContain('SYNTHETIC demo data')
  expect(out).toMatch(/as of \d{4}-\d{2}-\d{2} · public since \d{4}/)
  expect(out).toMatch(/sources: .*finra-short-interest \(\d{4}/)
  expect(out).toMatch(/[▁▂▃▄▅▆▇█]{5,}/)
  expect(out).toMatch(/\n *1 +ZZ/)
  expect((await assay('matrix', '--url', till.node.url)).out).toContain('short-interest')
  expect((await assay('matrix', 'squeeze', '--history', '5', '--url', till.node.url)).err).toContain('--history needs')
})

test('a trader finds a name, reads why, sees its history, saves the screen, sets an alert and downloads past months', async () => {
  const node = ['--url', till.node.url]
  const signs = [...node, '--demo', '--json']
  const run = async (...args: string[]) => {
    const { code, out, err } = await assay(...args)
    expect([args.join(' '), code, err]).toEqual([args.join(' '), 0, expect.any(String)])
    return JSON.parse(out)
  }
  const found = await run(
    'matrix',
    'squeeze',
    ...node,
    '--json',
    '--sort=-score',
    '--filter',
    'borrow_fee>1',
    '-n',
    '3',
  )
  const { symbol } = found.data[0]
  const why = await run('matrix', 'squeeze', '--vip', '--symbol', symbol, ...signs)
  expect(Object.keys(why.data[0].factors)).toContain('short_interest_to_shares')
  const past = await run('matrix', 'squeeze', '--vip', '--symbol', symbol, '--history', '10', ...signs)
  expect(past.history.series.short_volume).toHaveLength(10)
  const then = await run('matrix', 'squeeze', '--as-of', past.history.series.short_volume[5].as_of, ...node, '--json')
  expect(then.available_at < found.available_at).toBe(true)
  const screen = await run('screen', 'save', 'mine', '--symbols', symbol, ...signs)
  const shown = await run('matrix', 'borrow', '--screen', screen.id, ...node, '--json')
  expect(shown.data.map((row: { symbol: string }) => row.symbol)).toEqual([symbol])
  const rule = `squeeze:${symbol}:score<=50`
  const alert = await run('alert', 'add', rule, '--webhook', 'https://hook.example.com/hook', ...signs)
  expect(alert.watch).toMatch(/^nwt_/)
  const manifest = async () => (await (await fetch(`${till.node.url}/matrix/ftd/bulk`)).json()) as { data: unknown[] }
  await expect.poll(async () => (await manifest()).data.length, { timeout: 90_000, interval: 500 }).toBeGreaterThan(1)
  const months = await run('matrix', 'ftd', '--bulk', folder, ...signs)
  expect(months.data.length).toBeGreaterThan(0)
  const [first] = months.data as { file: string; bytes: number; state: string }[]
  expect([first?.state, (await readFile(first?.file ?? '')).length]).toEqual(['saved', first?.bytes])
  const again = await run('matrix', 'ftd', '--bulk', folder, ...signs)
  // Months that became ready in between are saved now.
  const stateOf = new Map(again.data.map(({ file, state }: { file: string; state: string }) => [file, state]))
  for (const { file } of months.data) expect(stateOf.get(file)).toBe('held')
  const subscriptions = await run('subscription', 'list', '--url', till.node.url, '--demo', '--json')
  expect(subscriptions.data).toEqual([])
  const bought = await assay('subscribe', 'vip', ...signs, '--max-amount', '1000', '-y')
  const [, token = ''] = /"token":\s*"([^"]+)"/.exec(bought.out) ?? []
  const held = await run('matrix', 'squeeze', '--vip', '--symbol', symbol, ...node, '--json', '--token', token)
  expect([held.tier, held.data[0].symbol]).toEqual(['vip', symbol])
  expect((await assay('matrix', 'squeeze', '--vip', ...node, '--token', 'none')).err).toContain('asks for a payment')
}, 180_000)
