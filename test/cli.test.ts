import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getAddress } from 'viem'
import { afterAll, expect, test, vi } from 'vitest'
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal, type TestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import { baseNetwork } from '../packages/sdk/src/index.ts'
import { demoAccount } from '../packages/till/src/devnet/index.ts'
import { type OnLoopback, onLoopback } from '../packages/till/src/kernel/on-loopback.fixture.ts'
import { useFolder } from '../packages/till/src/kernel/use-folder.fixture.ts'
import { freePort } from '../packages/till/src/store/embedded/free-port.ts'
import { openCuttingProxy } from './harness/cutting-proxy.ts'
import { expectSoundBooks, paymentRows } from './harness/invariants.ts'
import { echoPath, openTill } from './harness/till-fixture.ts'

const port = await freePort()
const proxy = await openCuttingProxy(port)
const till = await openTill({ env: { PORT: String(port), BASE_URL: proxy.url } })
const folder = useFolder('cli')
const operatorEnv = {
  DATABASE_URL: till.db.databaseUrl,
  BASE_RPC_URLS: till.base.url,
  POLYGON_RPC_URLS: till.polygon.url,
  BASE_URL: proxy.url,
  USER: 'tester',
}
afterAll(async () => {
  await expectSoundBooks(till)
  await till.close()
  await proxy.close()
})

type Ended = { code: number; out: string; err: string; terminal: TestTerminal }

async function assay(args: readonly string[], options: Parameters<typeof createTestTerminal>[0] = {}): Promise<Ended> {
  const terminal = createTestTerminal(options)
  const code = await runCli(args, terminal)
  return { code, out: terminal.stdout(), err: terminal.stderr(), terminal }
}

const operator = (...args: string[]) => assay(args, { env: operatorEnv })
const echo = (message: string) => `${proxy.url}${echoPath}?message=${message}`
const keyOf = (role: 'creator') => demoAccount(role).privateKey

test('the purchase a start prints works: the answer on standard output, the rest beside it', async () => {
  const { code, out, err } = await assay(['buy', echo('hello'), '--demo'])
  expect(err).toContain('0.001 USDC on base (eip155:8453)')
  expect(err).toMatch(/paid 0\.001 USDC .* payment pay_\w{26} · transaction 0x\w{64} · signature verified/)
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ echo: 'hello', paid_by: getAddress(demoAccount('buyer').address) })
})

test('a POST on Polygon, as one JSON document', async () => {
  const url = `${proxy.url}${echoPath}`
  const { code, out } = await assay(['buy', url, '-d', '{"message":"p"}', '--demo', '--network', 'polygon', '--json'])
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({
    status: 200,
    answer: { echo: 'p' },
    payment: { status: 'settled', network: 'eip155:137', amount_micro: '1000', price_usd: '0.001' },
    verified: { status: 'verified' },
    receipt: { status: 'verified' },
  })
})

test('--dry-run and a maximum below the price sign nothing', async () => {
  const before = (await paymentRows(till)).length
  const dry = await assay(['buy', echo('dry'), '--demo', '--dry-run', '--json'])
  expect(dry.code).toBe(0)
  expect(JSON.parse(dry.out)).toMatchObject({ quote: { price_usd: '0.001', bound: true } })
  const dear = await assay(['buy', echo('dear'), '--demo', '--max-amount', '0.0009'])
  expect(dear.code).toBe(3)
  expect(dear.err).toContain('Raise --max-amount')
  expect((await paymentRows(till)).length).toBe(before)
})

test('a real wallet on a demo node gets the hint to use --demo', async () => {
  const env = { ASSAY_KEY: keyOf('creator') }
  const { code, err } = await assay(['buy', echo('real'), '--max-amount', '1'], { env })
  expect(code).toBe(3)
  expect(err).toContain('add --demo')
})

test('what costs nothing is just fetched, and what is refused says why', async () => {
  const free = await assay(['buy', `${proxy.url}/livez`, '--demo'])
  expect(free).toMatchObject({ code: 0, out: '{"status":"ok"}\n' })
  expect((await assay(['buy', `${proxy.url}/livez`, '--demo', '--raw'])).out).toBe('{"status":"ok"}')
  expect(free.err).toContain('this cost nothing')
  const wrong = await assay(['buy', `${proxy.url}${echoPath}?nonsense=1`, '--demo'])
  expect(wrong.code).toBe(1)
  expect(wrong.err).toContain('nothing was charged')
  const nowhere = await assay(['buy', `${proxy.url}/nowhere`, '--demo', '--json'])
  expect(nowhere.code).toBe(1)
  expect(JSON.parse(nowhere.out)).toMatchObject({ error: { code: 'not_found' } })
})

test('a purchase whose end is unknown ends with 4 and is resumed without paying again', async () => {
  const cwd = vi.spyOn(process, 'cwd').mockReturnValue(folder)
  const before = (await paymentRows(till)).length
  proxy.cut(1, (request) => /^payment-signature:/im.test(request))
  const lost = await assay(['buy', echo('lost'), '--demo', '--wait', '0.1', '--json'])
  cwd.mockRestore()
  expect(lost.code).toBe(4)
  const { error } = JSON.parse(lost.out)
  expect(error).toMatchObject({ code: 'payment_outcome_unknown', hint: expect.stringContaining('assay resume') })
  const again = await assay(['resume', error.resume_file])
  expect(again.code).toBe(0)
  expect(JSON.parse(again.out)).toMatchObject({ echo: 'lost' })
  expect((await paymentRows(till)).length).toBe(before + 1)
  await expect(readFile(error.resume_file)).rejects.toThrow()
})

test('the settlement of a saved answer is looked up on its chain', async () => {
  const file = join(folder, 'settled.json')
  expect((await assay(['buy', echo('settled'), '--demo', '--save', file])).code).toBe(0)
  const found = await assay(['verify', file, '--rpc', String(till.base.url)])
  expect(found.code).toBe(0)
  expect(found.out).toMatch(/ok {2}settlement 0\.001 USD moved in 0x\w{64}/)
  const elsewhere = await assay(['verify', file, '--rpc', String(till.polygon.url)])
  expect(elsewhere.out).toContain('the payment is on eip155:8453')
  expect((await assay(['verify', file, '--url', proxy.url])).out).toMatch(/^ok {2}keys/m)
  expect((await assay(['verify', file, '--url', 'http://127.0.0.1:1'])).code).toBe(1)
  const evidence = JSON.parse(await readFile(file, 'utf8'))
  await writeFile(
    file,
    JSON.stringify({ ...evidence, payment: { ...evidence.payment, transaction: `0x${'1'.repeat(64)}` } }),
  )
  const missing = await assay(['verify', file, '--rpc', String(till.base.url)])
  expect(missing.code).toBe(5)
  expect(missing.out).toContain('has no transaction')
})

test('a command other than buy saves a purchase whose end is unknown, too', async () => {
  const cwd = vi.spyOn(process, 'cwd').mockReturnValue(folder)
  const before = (await paymentRows(till)).length
  proxy.cut(40, (request) => /^payment-signature:/im.test(request))
  const cutBefore = proxy.cutCount()
  const stop = new AbortController()
  const stopped = vi.waitFor(() => expect(proxy.cutCount()).toBeGreaterThan(cutBefore), 30_000).then(() => stop.abort())
  const interrupted = stop.signal
  const lost = await assay(['credit', 'topup', '2', '--demo', '--url', proxy.url, '--json'], { interrupted })
  await stopped
  proxy.cut(0)
  const { error } = JSON.parse(lost.out)
  expect(error).toMatchObject({ code: 'payment_outcome_unknown', resume_file: expect.stringContaining(folder) })
  expect(lost.code).toBe(4)
  const again = await assay(['resume', '--json'])
  cwd.mockRestore()
  expect(again.code).toBe(0)
  expect(JSON.parse(again.out)).toMatchObject({ payment: { status: 'settled', amount_micro: '2000000' } })
  expect((await paymentRows(till)).length).toBe(before + 1)
})

test('a draw of credit whose end is unknown is asked for again under its name and drawn once', async () => {
  const call = [
    'credit',
    'call',
    '/v1/sandbox/echo?message=drawn',
    '--max-amount',
    '0.01',
    '--demo',
    '--url',
    proxy.url,
  ]
  expect((await assay(['credit', 'topup', '1', '--demo', '--url', proxy.url])).code).toBe(0)
  proxy.cut(40, (request) => /^payment-signature:/im.test(request))
  const stop = new AbortController()
  const cutBefore = proxy.cutCount()
  const stopped = vi.waitFor(() => expect(proxy.cutCount()).toBeGreaterThan(cutBefore), 30_000).then(() => stop.abort())
  const lost = await assay([...call, '--json'], { interrupted: stop.signal })
  await stopped
  proxy.cut(0)
  expect(lost.code).toBe(4)
  const { error } = JSON.parse(lost.out)
  expect(error).toMatchObject({ code: 'payment_outcome_unknown', hint: expect.stringContaining(error.idempotency_key) })
  expect(error.hint).not.toMatch(/nothing was signed|details\./i)
  const again = () => assay([...call, '--idempotency-key', error.idempotency_key, '--json'])
  const [first, second] = [JSON.parse((await again()).out), JSON.parse((await again()).out)]
  expect(first).toMatchObject({ payment: { status: 'drawn' }, answer: { echo: 'drawn' } })
  expect(second.answer).toEqual(first.answer)
})

test('an amount below the minimum is refused with the minimum, before anything is signed', async () => {
  const before = (await paymentRows(till)).length
  const { code, out, err } = await assay(['credit', 'topup', '0.5', '--demo', '--url', proxy.url, '--json'])
  expect(code).toBe(1)
  expect(JSON.parse(out).error).toMatchObject({ code: 'input_invalid', status: 402, retryable: false })
  expect(err).toContain('minimum 1 USD')
  expect((await paymentRows(till)).length).toBe(before)
})

test('a demand for a witness was ignored for a file that is not an attestation', async () => {
  const file = join(folder, 'unlogged.json')
  expect((await assay(['buy', echo('unlogged'), '--demo', '--save', file])).code).toBe(0)
  expect((await assay(['verify', file])).code).toBe(0)
  for (const demand of [
    ['--policy', 'logged'],
    ['--witness', 'w+00000000+BA=='],
    ['--anchor', `1:0x${'00'.repeat(32)}`],
  ]) {
    const demanding = await assay(['verify', file, ...demand])
    expect(demanding.code).toBe(5)
    expect(demanding.err).toContain('is not an attestation')
  }
  expect((await assay(['verify', file, '--policy', 'witnesses=2'])).code).toBe(2)
})

test('a saved answer verifies offline, against published keys, and not when it was changed', async () => {
  const file = join(folder, 'answer.json')
  expect((await assay(['buy', echo('kept'), '--demo', '--save', file, '--out', join(folder, 'body')])).code).toBe(0)
  expect(JSON.parse(await readFile(join(folder, 'body'), 'utf8'))).toMatchObject({ echo: 'kept' })
  const offline = await assay(['verify', file])
  expect(offline.code).toBe(0)
  expect(offline.out).toContain('not checked: settlement, time, keys')
  const online = await assay(['verify', '-', '--online', '--json'], { input: await readFile(file, 'utf8') })
  expect(online.code).toBe(0)
  expect(JSON.parse(online.out).checks.find((check: { name: string }) => check.name === 'keys').status).toBe('passed')
  const evidence = JSON.parse(await readFile(file, 'utf8'))
  evidence.response.body_base64 = Buffer.from('{"echo":"forged"}').toString('base64')
  await writeFile(file, JSON.stringify(evidence))
  const forged = await assay(['verify', file])
  expect(forged.code).toBe(5)
  expect(forged.out).toContain('does not verify')
  await writeFile(file, '{"format":"something else"}')
  expect((await assay(['verify', file])).code).toBe(2)
})

/** A seller of somebody else's: unsigned, and dearer each time it is asked. */
async function openDearSeller(asset: string = till.base.usdc): Promise<OnLoopback & { payments: number }> {
  const seller = { payments: 0, url: '' }
  let amount = 1000
  const server = createServer((request, response) => {
    if (request.url === '/') {
      const { address, privateKey } = demoAccount('buyer')
      const chains = [{ network: 'eip155:8453', usdc: till.base.usdc }]
      const accounts = [{ role: 'buyer', address, private_key: privateKey }]
      return void response.end(JSON.stringify({ demo: { chains, accounts } }))
    }
    if (request.headers['payment-signature']) seller.payments += 1
    const offer = {
      scheme: 'exact',
      network: 'eip155:8453',
      amount: String(amount++),
      asset,
      payTo: demoAccount('affiliate').address,
      maxTimeoutSeconds: 60,
      extra: { name: 'USD Coin', version: '2' },
    }
    const required = { x402Version: 2, resource: { url: `${seller.url}/thing` }, accepts: [offer] }
    const header = Buffer.from(JSON.stringify(required)).toString('base64')
    response.writeHead(402, { 'payment-required': header }).end('{}')
  })
  return Object.assign(seller, await onLoopback(server))
}

test('a price that moved after the quote is refused, and unsigned sellers only with consent', async () => {
  const seller = await openDearSeller()
  try {
    const unsigned = await assay(['buy', `${seller.url}/thing`, '--demo'])
    expect(unsigned.code).toBe(5)
    const moved = await assay(['buy', `${seller.url}/thing`, '--demo', '--allow-unsigned'])
    expect(moved.code).toBe(3)
    expect(moved.err).toContain('The terms changed after the quote')
    expect(seller.payments).toBe(0)
    const examined = await assay(['doctor', `${seller.url}/thing`, '--json'])
    const { checks } = JSON.parse(examined.out) as { checks: { name: string; status: string }[] }
    const warned = checks.filter((check) => check.status !== 'ok').map((check) => check.name)
    expect(warned).toEqual(expect.arrayContaining(['signature', 'cache', 'browsers', 'discovery', 'lost answers']))
  } finally {
    await seller.close()
  }
})

test('somebody who sits there is asked and may say no; a demo wallet needs no asking', async () => {
  const demo = await assay(['buy', echo('asked'), '--demo'], { interactive: true, answer: false })
  expect(demo).toMatchObject({ code: 0, terminal: { questions: [] } })
  const seller = await openDearSeller(baseNetwork.usdc)
  try {
    const args = ['buy', `${seller.url}/thing`, '--allow-unsigned']
    const no = await assay(args, { interactive: true, answer: false, env: { ASSAY_KEY: keyOf('creator') } })
    expect(no).toMatchObject({ code: 3, terminal: { questions: ['Pay 0.001 USDC?'] } })
    expect(seller.payments).toBe(0)
  } finally {
    await seller.close()
  }
})

test('the doctor finds nothing wrong with a route of ours, and says so of one that is none', async () => {
  const ours = await assay(['doctor', `${proxy.url}${echoPath}`, '--json'])
  const { checks } = JSON.parse(ours.out) as { checks: { name: string; status: string; detail: string }[] }
  expect(checks.filter((check) => check.status !== 'ok')).toEqual([])
  expect(ours.code).toBe(0)
  const free = await assay(['doctor', `${proxy.url}/livez`])
  expect(free.code).toBe(1)
  expect(free.out).toContain('answer 402 to a bare request')
  const nobody = await assay(['doctor', `http://127.0.0.1:${await freePort()}/`])
  expect(nobody.code).toBe(1)
  expect(nobody.out).toContain('ECONNREFUSED')
})

test('the doctor looks at the installation', async () => {
  const env = { ...operatorEnv, PORT: '0', ASSAY_HOME: folder }
  const { code, out } = await assay(['doctor', '--json'], { env })
  const { checks } = JSON.parse(out) as { checks: { name: string; status: string }[] }
  expect(checks.filter((check) => check.status === 'fail')).toEqual([])
  expect(code).toBe(0)
  expect(checks.map((check) => check.name)).toEqual(
    expect.arrayContaining(['node', 'configuration', 'disk', 'database']),
  )
  const broken = await assay(['doctor'], { env: { PORT: 'x', LOG_LEVEL: 'loud' } })
  expect(broken.code).toBe(1)
  expect(broken.out).toContain('PORT: must be a port number')
  expect(broken.out).toContain('LOG_LEVEL')
})

test('the books can be read and verified while the node runs', async () => {
  await assay(['buy', echo('books'), '--demo'])
  const trial = JSON.parse((await operator('ledger', 'trial', '--json')).out)
  expect(trial.balanced).toBe(true)
  const account = 'revenue:sandbox.echo.get@eip155:8453'
  const balances = JSON.parse((await operator('ledger', 'balances', 'revenue:', '--json')).out)
  expect(balances.data.map((row: { account: string }) => row.account)).toContain(account)
  const first = JSON.parse((await operator('ledger', 'entries', account, '--limit', '1', '--json')).out)
  expect(first.data).toHaveLength(1)
  const rest = await operator('ledger', 'entries', account, '--limit', '1', '--before', first.next_cursor, '--json')
  expect(JSON.parse(rest.out).data[0].reference).not.toBe(first.data[0].reference)
  // Nothing is old enough to leave.
  const archived = await operator('archive', join(tmpdir(), 'assay-no-archive'), '--json')
  expect(JSON.parse(archived.out).partitions).toEqual([])
  const erased = await operator('erase', `0x${'1'.repeat(40)}`, '--dry-run', '--json')
  expect(JSON.parse(erased.out)).toMatchObject({ dry_run: true, kept: expect.any(Array) })
  expect((await operator('erase', 'nobody')).code).toBe(2)
  const verified = await operator('ledger', 'verify', '--archive', join(tmpdir(), 'assay-no-archive'))
  expect(verified.code).toBe(0)
  expect(verified.out).toContain('every unit sums to zero')
  const payments = await operator('ledger', 'payments', '--state', 'served', '--limit', '1')
  expect(payments.out).toMatch(/pay_\w{26}\s+served/)
  expect((await operator('ledger', 'payments', '--state', 'lost')).code).toBe(2)
  expect((await operator('review', 'list')).out).toContain('nothing waits')
  expect((await operator('ledger', 'entries', 'no-such-account')).code).toBe(1)
})

test('a pause stops selling, keeps the reason, and is ended', async () => {
  const on = await operator('pause', 'sales', '--reason', 'moving servers', '--json')
  expect(JSON.parse(on.out).data.find((row: { name: string }) => row.name === 'sales')).toMatchObject({
    paused: true,
    reason: 'moving servers',
    changed_by: 'cli tester',
  })
  const closed = await assay(['buy', echo('closed'), '--demo', '--wait', '0.1'])
  expect(closed.code).toBe(1)
  expect(closed.err).toMatch(/Not for sale now|paused|not take the payment/)
  expect((await operator('resume', 'sales', '--reason', 'done')).code).toBe(0)
  expect((await operator('resume', 'nothing', '--reason', 'done')).code).toBe(2)
  const { rows } = await till.db.owner.query(
    `select action from audit_log where action in ('pause', 'resume') order by id`,
  )
  expect(rows).toEqual([{ action: 'pause' }, { action: 'resume' }])
})

test('beside an embedded database the note in the data folder is enough; without a server it says so', async () => {
  const note = join(folder, 'database.json')
  await writeFile(note, JSON.stringify({ port: 1, database_url: till.db.databaseUrl }))
  expect((await assay(['ledger', 'trial'], { env: { ASSAY_HOME: folder } })).code).toBe(0)
  const port = await freePort()
  await writeFile(note, JSON.stringify({ port, database_url: `postgresql://assay:x@127.0.0.1:${port}/assay` }))
  const down = await assay(['ledger', 'trial'], { env: { ASSAY_HOME: folder } })
  expect(down.code).toBe(1)
  expect(down.err).toContain('is not running')
  expect(down.err).toContain('assay up')
})

test('keys are rotated and revoked on the running node, vouched for by the operator', async () => {
  const before = JSON.parse((await operator('keys', 'list', '--json')).out)
  const rotated = JSON.parse((await operator('keys', 'rotate', '--overlap', '0', '--yes', '--json')).out)
  await vi.waitFor(async () => {
    const index = (await (await fetch(proxy.url)).json()) as { keys: { key_id: string } }
    expect(index.keys.key_id).toBe(rotated.key_id)
  }, 30_000)
  const file = join(folder, 'rotated.json')
  // Documents are shared for some seconds; with an overlap of minutes nobody would notice.
  const buyRotated = () => assay(['buy', echo('rotated'), '--demo', '--save', file])
  await vi.waitFor(async () => expect(await buyRotated()).toMatchObject({ code: 0 }), {
    timeout: 30_000,
    interval: 500,
  })
  const other = await assay(['keys', 'rotate', '--yes'], { env: { ...operatorEnv, OPERATOR_KEY: keyOf('creator') } })
  expect(other.code).toBe(3)
  expect(other.err).toContain('--allow-new-wallet')

  const at = new Date(Date.now() - 60_000).toISOString()
  const revocation = await operator('keys', 'revoke', rotated.key_id, '--at', at, '--yes', '--json')
  expect(revocation, revocation.err).toMatchObject({ code: 0 })
  expect(JSON.parse(revocation.out).active_key_id).not.toBe(rotated.key_id)
  const listed = await operator('keys', 'list')
  expect(listed.out).toMatch(new RegExp(`${rotated.key_id}\\s+revoked`))
  expect(listed.out).toContain(before.active_key_id)
  // Offline nothing is known of it; with the keys of today the stolen key's answer no longer counts.
  expect((await assay(['verify', file])).code).toBe(0)
  const today = join(folder, 'keys.json')
  await writeFile(today, (await operator('keys', 'list', '--json')).out)
  expect((await assay(['verify', file, '--keys', today])).code).toBe(5)
  expect((await operator('keys', 'revoke', 'no-such-key', '--yes')).code).toBe(1)
})
