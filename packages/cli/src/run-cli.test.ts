import { expect, test } from 'vitest'
import { exitCodeTexts } from './exit-codes.ts'
import { onlyClusters } from './intents/run-stream.ts'
import { normalBalance } from './operator/show-balances.ts'
import { runCli } from './run-cli.ts'
import { showProgress } from './show-progress.ts'
import { createTestTerminal } from './terminal.fixture.ts'
import { nodeLines } from './wallet/wallet-lines.ts'

async function run(...args: string[]) {
  const terminal = createTestTerminal()
  return { code: await runCli(args, terminal), out: terminal.stdout(), err: terminal.stderr() }
}

test('help names every command and every exit code', async () => {
  const { code, out } = await run('--help')
  expect(code).toBe(0)
  for (const command of ['up', 'buy', 'verify', 'doctor', 'keys', 'ledger', 'pause']) expect(out).toContain(command)
  for (const text of Object.values(exitCodeTexts)) expect(out).toContain(text)
})

test('every command explains itself and, but for up, speaks JSON', async () => {
  const commands = [
    'buy',
    'verify',
    'doctor',
    'keys list',
    'keys rotate',
    'keys revoke',
    'keys revoke-tokens',
    'pauses',
    'pause',
  ]
  commands.push('resume', ...['balances', 'trial', 'entries', 'verify', 'payments'].map((name) => `ledger ${name}`))
  for (const command of commands) {
    const { code, out } = await run(...command.split(' '), '--help')
    expect(code, command).toBe(0)
    expect(out, command).toContain('--json')
  }
})

test('wrong use ends with 2 and says how it is meant', async () => {
  for (const args of [
    ['nonsense'],
    ['buy'],
    ['buy', 'not a url', '--demo'],
    ['buy', 'https://shop.example/', '--nonsense'],
    ['buy', 'https://shop.example/'],
    ['buy', 'https://shop.example/', '--max-amount', '1,5'],
    ['buy', 'https://shop.example/', '--max-amount', '1'],
    ['buy', 'https://shop.example/', '--yes'],
    ['buy', 'https://shop.example/', '--max-amount', '1', '--key-env', 'NO_SUCH_KEY'],
    ['buy', 'https://shop.example/', '--max-amount', '1', '--key-file', '/no/such/file'],
    ['buy', 'https://shop.example/', '--max-amount', '1', '--network', 'moon', '--dry-run'],
    ['buy', 'https://shop.example/', '--demo', '--data', 'x', '--method', 'GET'],
    ['buy', 'https://shop.example/', '--demo', '--header', 'no colon'],
    ['buy', 'https://shop.example/', '--demo', '--header', 'PAYMENT-SIGNATURE: x'],
    ['resume', '/no/such/file'],
    ['resume', 'sales'],
    ['resume', 'toys'],
    ['royalty', 'info', 'ten'],
    ['verify', 'package.json'],
    ['verify', 'x', '--rpc', 'nowhere'],
    ['verify'],
    ['verify', '/no/such/file'],
    ['doctor', 'ftp://x'],
    ['pause', 'sales'],
    // Whether a node runs or not.
    ['ledger', 'trial', '--at', 'x'],
    ['ledger', 'payments', '--state', 'x'],
    ['payouts', 'list', '--limit', '0'],
    ['payouts', 'withdraw', '--to', 'x', '--all'],
    ['refund', 'pay_x', '--reason', ' '],
    ['disputes', 'decide', 'dis_x', '--reason', 'x'],
    ['review', 'decide', '1'],
    ['review', 'decide', '1', '--credit', '--revenue'],
    ['review', 'decide', 'x', '--credit'],
    ['source', 'disputes', 'decide', 'x', 'maybe', '--reason', 'x'],
    ['archive', '/tmp/x', '--days', '3'],
    ['books', 'export', '--format', 'x'],
    ['keys', 'rotate', '--overlap', 'x'],
    ['mesh', 'find', 'x', '--max-price', 'abc'],
    ['matrix', 'squeeze', '--limit', 'abc'],
  ]) {
    const { code, err } = await run(...args)
    expect(code, args.join(' ')).toBe(2)
    expect(err, args.join(' ')).toMatch(/error: .+/)
  }
})

test('a wrong key never shows in a message', async () => {
  const terminal = createTestTerminal({ env: { ASSAY_KEY: 'deadbeef-secret' } })
  expect(await runCli(['buy', 'https://shop.example/', '--max-amount', '1'], terminal)).toBe(2)
  expect(terminal.stderr()).toContain('32 bytes of hex')
  expect(terminal.stderr()).not.toContain('deadbeef')
})

test('demo wallets are lent by this machine only', async () => {
  const { code, err } = await run('buy', 'https://shop.example/x', '--demo')
  expect(code).toBe(3)
  expect(err).toContain('this machine only')
})

test('with --json an error is one JSON document, and people still read it beside', async () => {
  const { code, out, err } = await run('verify', '/no/such/file', '--json')
  expect(code).toBe(2)
  expect(JSON.parse(out)).toMatchObject({ error: { code: 'usage', exit_code: 2 } })
  expect(err).toContain('cannot read')
  const unknown = await run('verify', 'x', '--nonsense', '--json')
  expect(JSON.parse(unknown.out)).toMatchObject({ error: { message: expect.stringContaining('--nonsense') } })
})

test('configuration problems are all reported at once', async () => {
  const terminal = createTestTerminal({ env: { ASSAY_MODE: 'production' } })
  expect(await runCli(['ledger', 'trial', '--json'], terminal)).toBe(2)
  const { error } = JSON.parse(terminal.stdout())
  expect(error.code).toBe('configuration')
  expect(error.problems.length).toBeGreaterThan(5)
})

test('a data folder without a node says how to start one', async () => {
  const terminal = createTestTerminal({ env: { ASSAY_HOME: '/tmp/assay-there-is-nothing-here' } })
  expect(await runCli(['ledger', 'balances'], terminal)).toBe(1)
  expect(terminal.stderr()).toContain('assay up')
})

test('a command that is silent for a second shows what it does, and not while it asks', async () => {
  const terminal = createTestTerminal({ interactive: true, answer: true })
  let half = () => {}
  let stopped = false
  const every = (tick: () => void) => {
    half = tick
    return () => {
      stopped = true
    }
  }
  const pass = (halves: number) => {
    for (let n = 0; n < halves; n += 1) half()
  }
  const shown = showProgress(terminal, 'check 0x12', every)
  pass(2)
  shown.terminal.say('something')
  pass(2)
  shown.terminal.status('settling')
  pass(2)
  const asked = shown.terminal.confirm('Pay?')
  pass(2)
  await asked
  expect(terminal.statuses).toEqual(['working … 1 s', 'working … 2 s', 'settling', 'settling 3 s'])
  // What follows a stream shows that it connects, and nothing once it has.
  const following = showProgress(terminal, 'stream', every)
  expect(stopped).toBe(false)
  following.terminal.out('an event')
  expect(stopped).toBe(true)
  expect(showProgress(terminal, 'mcp', every).terminal).toBe(terminal)
})

test('what is owed and earned is shown on the credit side, as accountants do', () => {
  expect(normalBalance('liability', -25n)).toBe(25n)
  expect(normalBalance('income', -1n)).toBe(1n)
  expect(normalBalance('asset', 26n)).toBe(26n)
  expect(normalBalance('liability', 3n)).toBe(-3n)
})

test('the sample of the stream keeps the topics asked for', () => {
  const events = [{ data: { cluster: { id: '52' } } }, { data: { cluster: { id: '391' } } }, { data: { ends_at: 'x' } }]
  expect(onlyClusters(events, '391, 7')).toEqual([events[1], events[2]])
  expect(onlyClusters(events)).toEqual(events)
})

test('a wallet is described in dollars', () => {
  const network = 'eip155:8453'
  const credit = { credit: [{ network, credit_usd: '4.5', held_micro: '0', bonded_micro: '2500000' }] }
  const affiliate = { earned_micro: '1234567', payable_micro: '0' }
  expect(nodeLines({ credit, affiliate, loyalty: { problem: 'answered with 404' } })).toEqual([
    '  credit     base (eip155:8453)    4.5 USD, 2.50 USD bonded',
    '  affiliate  earned 1.23 USD, payable 0.00 USD',
    '  loyalty    answered with 404',
  ])
})
