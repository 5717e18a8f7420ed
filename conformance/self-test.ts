import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import {
  type HoleVerdict,
  holes,
  judgeHole,
  matrixText,
  openLane,
  unmatched,
} from '../packages/conformance/src/careless/index.ts'
import { startTestServer } from '../packages/till/src/store/testing.ts'

/** Its database ends with this process, however that ends. */
async function openSafeLane() {
  const database = await startTestServer()
  const lane = await openLane({ databaseUrl: database.url })
  return { ...lane, stop: () => lane.stop().finally(database.stop) }
}

export type SelfTestOptions = {
  lanes: number
  only?: readonly string[] | undefined
  /** A file with a line of JSON for each row that was judged: those without a problem are not judged again. */
  resume?: string | undefined
  /** At most so many rows in this run. */
  rows?: number | undefined
}

const nameOf = (hole: string | undefined) => hole ?? 'none'

/** Rows without a problem of earlier runs, by name. */
function readRecord(file: string | undefined): Map<string, HoleVerdict> {
  if (file === undefined || !existsSync(file)) return new Map()
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  const verdicts = lines.map((line) => JSON.parse(line) as HoleVerdict)
  return new Map(verdicts.filter(({ problems }) => problems.length === 0).map((one) => [nameOf(one.hole), one]))
}

/** Judges the careless seller with each mistake in turn by every case, and prints which cases failed. */
export async function runSelfTest(options: SelfTestOptions): Promise<0 | 1> {
  const rows = [undefined, ...Object.keys(holes)].filter((hole) => options.only?.includes(nameOf(hole)) ?? true)
  const verdicts = readRecord(options.resume)
  const waiting = rows.filter((hole) => !verdicts.has(nameOf(hole))).slice(0, options.rows)
  const work = async () => {
    const lane = await openSafeLane()
    try {
      while (waiting.length > 0) {
        const hole = waiting.shift()
        const verdict = await judgeHole(lane, hole)
        verdicts.set(nameOf(hole), verdict)
        if (options.resume) appendFileSync(options.resume, `${JSON.stringify(verdict)}\n`)
        process.stderr.write(
          `${verdicts.size}/${rows.length} ${matrixText([verdict]).split('\n').slice(0, -1).join('\n')}\n`,
        )
      }
    } finally {
      await lane.stop()
    }
  }
  await Promise.all(Array.from({ length: Math.min(options.lanes, waiting.length) }, work))
  const missing = unmatched()
  const judged = rows.flatMap((hole) => verdicts.get(nameOf(hole)) ?? [])
  const left = rows.length - judged.length
  process.stdout.write(
    `${[matrixText(judged), ...missing, ...(left ? [`${left} rows not judged yet`] : [])].join('\n')}\n`,
  )
  return left === 0 && missing.length === 0 && judged.every(({ problems }) => problems.length === 0) ? 0 : 1
}
