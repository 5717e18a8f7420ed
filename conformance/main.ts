// npm run conformance: starts every subject, judges it, and prints the table of docs/conformance.md.
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { getAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { levels } from '../packages/conformance/src/case.ts'
import { startTestFacilitator } from '../packages/conformance/src/facilitator/index.ts'
import { judgeCommand, type Report } from '../packages/conformance/src/index.ts'
import { startTestServer } from '../packages/till/src/store/testing.ts'
import { freePort } from './free-port.ts'
import { replaceTable } from './replace-table.ts'

type Subject = { file: string; title: string; package: string; ours: boolean }

const subjects: readonly Subject[] = [
  { file: 'x402-hono', title: '@x402/hono', package: '@x402/hono', ours: false },
  { file: 'x402-express', title: '@x402/express', package: '@x402/express', ours: false },
  { file: 'till-hono', title: '@assay/till on Hono', package: '@assay/till', ours: true },
  { file: 'till-express', title: '@assay/till on Express', package: '@assay/till', ours: true },
]

const { values } = parseArgs({
  options: {
    ...{ only: { type: 'string' }, write: { type: 'boolean' } },
    ...{ 'self-test': { type: 'boolean' }, lanes: { type: 'string' } },
  },
})
const only = values.only?.split(',')
if (values['self-test']) {
  const { runSelfTest } = await import('./self-test.ts')
  process.exit(await runSelfTest({ lanes: Number(values.lanes ?? 3), only }))
}
const root = join(import.meta.dirname, '..')
const require = createRequire(import.meta.url)

const versionOf = ({ package: name, ours }: Subject): string => {
  const file = ours ? join(root, 'package.json') : join(root, 'node_modules', name, 'package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}

async function judgeSubject({ file, title, ours }: Subject): Promise<Report> {
  const facilitator = await startTestFacilitator({ hangMs: 40_000, slowMs: 3_000 })
  const database = ours ? await startTestServer({ durable: true }) : undefined
  const port = await freePort()
  const env: Record<string, string> = {
    ...{ PORT: String(port), FACILITATOR_URL: facilitator.url, RPC_URL: facilitator.rpc, ASSET: facilitator.asset },
    ...{ NETWORK: facilitator.network, DATABASE_URL: database?.url ?? '' },
    PAY_TO: getAddress(privateKeyToAccount(generatePrivateKey()).address),
  }
  Object.assign(process.env, env)
  const start = `exec ${process.execPath} --import ${require.resolve('tsx')} ${join(import.meta.dirname, 'subjects', `${file}.ts`)}`
  try {
    const { report } = await judgeCommand({
      ...{ url: `http://127.0.0.1:${port}/weather`, facilitator: facilitator.url, start },
      onStatus: (line) => process.stderr.isTTY && process.stderr.write(`\r\u001b[2K${title}: ${line}`),
    })
    return report
  } finally {
    await facilitator.stop()
    await database?.stop()
  }
}

const rows: string[] = []
let code = 0
for (const subject of subjects.filter(({ file }) => only?.includes(file) ?? true)) {
  const report = await judgeSubject(subject)
  const { counts, reached, at } = report
  process.stderr.write(`\n${subject.title}: reached ${reached ?? 'no level'}, ${JSON.stringify(counts)}\n`)
  // Of software of others the level alone is reported.
  const details = subject.ours
    ? `${counts.passed} passed, ${counts.failed} failed, ${counts.not_judged} not judged`
    : ''
  rows.push(`| ${subject.title} | ${versionOf(subject)} | ${at.slice(0, 10)} | ${reached ?? 'none'} | ${details} |`)
  if (!subject.ours) continue
  for (const one of report.cases.filter(({ verdict }) => verdict === 'failed' || verdict === 'unclear'))
    process.stderr.write(`  ${one.id} ${one.verdict}: ${one.seen}\n`)
  if (counts.failed > 0 || reached !== levels.at(-1)) code = 1
}
const table = ['| seller | version | date | level reached | cases |', '|---|---|---|---|---|', ...rows].join('\n')
process.stdout.write(`${table}\n`)
if (values.write) {
  const file = join(root, 'docs', 'conformance.md')
  writeFileSync(file, replaceTable(readFileSync(file, 'utf8'), table))
}
process.exitCode = code
