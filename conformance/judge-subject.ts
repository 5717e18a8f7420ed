import { startTestFacilitator } from '../packages/conformance/src/facilitator/index.ts'
import { judgeCommand, type Report } from '../packages/conformance/src/index.ts'
import { startDevnet } from '../packages/till/src/devnet/index.ts'
import { systemClock } from '../packages/till/src/kernel/clock.ts'
import { silentLog } from '../packages/till/src/kernel/log.ts'
import { startTestServer } from '../packages/till/src/store/testing.ts'
import { freePort } from './free-port.ts'
import { type Subject, startCommand } from './subjects.ts'

/** Starts a seller with a facilitator, a chain and a database of its own, judges it, and stops everything. */
export async function judgeSubject(subject: Subject): Promise<Report> {
  const facilitator = await startTestFacilitator({ hangMs: 40_000, slowMs: 3_000 })
  const database = subject.ours ? await startTestServer({ durable: true }) : undefined
  const polygon = await startDevnet({ chainId: 137, port: 0, clock: systemClock, log: silentLog })
  const port = await freePort()
  const place = { port, facilitator, databaseUrl: database?.url ?? '', polygonRpc: polygon.url ?? '' }
  try {
    const { report } = await judgeCommand({
      ...{ url: `http://127.0.0.1:${port}${subject.path}`, facilitator: facilitator.url },
      start: startCommand(subject, place),
    })
    return report
  } finally {
    await facilitator.stop()
    await polygon.stop()
    await database?.stop()
  }
}
