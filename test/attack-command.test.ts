import { expect, test } from 'vitest'
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import type { Case } from '../packages/conformance/src/case.ts'
import { catalogue } from '../packages/conformance/src/catalogue.ts'
import type { Report } from '../packages/conformance/src/run.ts'
import { expectSoundBooks } from './harness/invariants.ts'
import { echoPath } from './harness/till-fixture.ts'
import { useTill } from './harness/use-till.ts'

const till = useTill({ ownShops: 'till' })

async function attack(...args: string[]): Promise<{ code: number; report: Report; err: string }> {
  const terminal = createTestTerminal({ env: {} })
  const code = await runCli(['attack', ...args, '--json'], terminal)
  const out = terminal.stdout()
  return { code, report: code === 2 ? ({} as Report) : (JSON.parse(out) as Report), err: terminal.stderr() }
}

/** Those that wait for a minute to pass are run by `npm run conformance`. */
const waiting = ({ id, needs }: Case) => id === 'retention' || (needs.includes('mpp') && needs.includes('payment'))

test('the suite against a node of ours: nothing served, charged or leaked', async () => {
  const only = catalogue.filter((one) => !waiting(one)).map(({ id }) => id)
  const url = (path: string) => `${till.node.url}${path}`
  const { code, report } = await attack(
    ...[
      url(`${echoPath}?message=hi`),
      '--demo',
      '--only',
      only.join(),
      '--other-route',
      url('/v1/sandbox/meter?text=hi'),
    ],
  )
  const unwell = report.cases.filter(({ verdict }) => verdict === 'failed' || verdict === 'unclear')
  expect(unwell.map(({ id, seen }) => `${id}: ${seen}`)).toEqual([])
  expect(report.counts.passed).toBeGreaterThan(40)
  // Every signature of the wallet is in the report, and none is worth anything for long.
  const now = Date.now() / 1000
  expect(report.signatures.length).toBeGreaterThan(20)
  for (const { validBefore } of report.signatures) expect(Number(validBefore)).toBeLessThan(now + 61)
  expect(code).toBe(0)
  await expectSoundBooks(till)
}, 180_000)

test('a seller elsewhere is only read from, and what is not a seller is reported', async () => {
  expect((await attack(`${till.node.url}/livez`)).code).toBe(2)
  expect((await attack(`${till.node.url}${echoPath}`, '--only', 'nothing')).code).toBe(2)
  const real = await attack(`${till.node.url}${echoPath}?message=hi`, '--demo', '--rpc', 'https://rpc.invalid')
  expect(real.err).toContain('--real-money')
  expect(real.code).toBe(2)
})
