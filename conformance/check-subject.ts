import { startTestFacilitator } from '../packages/conformance/src/facilitator/index.ts'
import { type CheckInput, catalogue, checkCommand, type Report } from '../packages/conformance/src/index.ts'
import { countVerdicts, reachedLevel } from '../packages/conformance/src/run.ts'
import { startDevnet } from '../packages/till/src/devnet/index.ts'
import { systemClock } from '../packages/till/src/kernel/clock.ts'
import { silentLog } from '../packages/till/src/kernel/log.ts'
import { freePort } from '../packages/till/src/store/embedded/free-port.ts'
import { startTestServer } from '../packages/till/src/store/testing.ts'
import { type Subject, startCommand } from './subjects.ts'

/** What is checked again where the seller settles with its own wallet. */
const walletCases = catalogue.filter(
  ({ needs }) => (needs.includes('permit2') || needs.includes('channels')) && !needs.includes('facilitator'),
)

/** Checks a seller, and again with its other settings what could not be checked with the first ones. */
export async function checkSubject(subject: Subject): Promise<Report> {
  const first = await checkOnce(subject, { otherRoute: subject.otherPath })
  const only = walletCases.map(({ id }) => id).join()
  const cases = [...first.cases]
  const signatures = [...first.signatures]
  for (const setting of subject.also ?? []) {
    const again = await checkOnce({ ...subject, ...setting }, { only })
    signatures.push(...again.signatures)
    for (const one of again.cases.filter(({ verdict }) => verdict !== 'skipped')) {
      const place = cases.findIndex(({ id }) => id === one.id)
      const known = cases[place]
      // What failed once has failed.
      if (known && (known.verdict === 'skipped' || one.verdict === 'failed')) cases[place] = one
    }
  }
  return { ...first, cases, signatures, counts: countVerdicts(cases), reached: reachedLevel(cases) }
}

/** Starts a seller with a facilitator, a chain and a database, checks it, and stops everything. */
async function checkOnce(subject: Subject, asked: Pick<CheckInput, 'otherRoute' | 'only'>): Promise<Report> {
  const facilitator = await startTestFacilitator({ hangMs: 40_000, slowMs: 3_000 })
  const database = subject.ours ? await startTestServer({ durable: true }) : undefined
  const polygon = await startDevnet({ chainId: 137, port: 0, clock: systemClock, log: silentLog })
  const port = await freePort()
  const place = { port, facilitator, databaseUrl: database?.url ?? '', polygonRpc: polygon.url ?? '' }
  try {
    const { report } = await checkCommand({
      ...{ url: `http://127.0.0.1:${port}${subject.path}`, facilitator: facilitator.url, cap: subject.cap },
      ...asked,
      start: startCommand(subject, place),
    })
    return report
  } finally {
    await facilitator.stop()
    await polygon.stop()
    await database?.stop()
  }
}
