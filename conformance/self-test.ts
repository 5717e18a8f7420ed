import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import {
  casesTouched,
  type HoleVerdict,
  holes,
  judgeCorrect,
  judgeHole,
  matrixText,
  openLane,
  rowText,
  type SelfTestLane,
  type Touched,
  unmatched,
} from '../packages/conformance/src/careless/index.ts'
import { openTestDatabase } from '../packages/till/src/store/testing.ts'

/** The server of its database ends with this process, however that ends. */
async function openSafeLane(): Promise<SelfTestLane> {
  const { databaseUrl, close } = await openTestDatabase({ poolSize: 1 })
  const lane = await openLane({ databaseUrl })
  return { ...lane, stop: () => lane.stop().finally(close) }
}

export type SelfTestOptions = {
  lanes: number
  only?: readonly string[] | undefined
  /** A file with a line of JSON for each row that was judged: those without a problem are not judged again. */
  resume?: string | undefined
  /** At most so many rows in this run. */
  rows?: number | undefined
}

type Row = HoleVerdict & { touched?: Touched }

const none = 'none'
const nameOf = (hole: string | undefined) => hole ?? none

/** Rows without a problem of earlier runs, by name. */
function readRecord(file: string | undefined): Map<string, Row> {
  if (file === undefined || !existsSync(file)) return new Map()
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  const rows = lines.map((line) => JSON.parse(line) as Row)
  return new Map(rows.filter(({ problems }) => problems.length === 0).map((one) => [nameOf(one.hole), one]))
}

/**
 * Judges the careless seller without a mistake by every case, then with each mistake by the cases that it can change, and
 * prints which cases failed.
 */
export async function runSelfTest(options: SelfTestOptions): Promise<0 | 1> {
  const names = [undefined, ...Object.keys(holes)].filter((hole) => options.only?.includes(nameOf(hole)) ?? true)
  const rows = readRecord(options.resume)
  const waiting = names.filter((hole) => !rows.has(nameOf(hole))).slice(0, options.rows)
  const judgeRow = async (lane: SelfTestLane, hole: string | undefined) => {
    const startedMs = performance.now()
    // What the seller knows of its facilitator is forgotten.
    await lane.seller.restart()
    const touched = rows.get(none)?.touched
    const row: Row =
      hole === undefined
        ? await judgeCorrect(lane)
        : await judgeHole(lane, hole, touched && casesTouched(touched, hole))
    rows.set(nameOf(hole), row)
    if (options.resume) appendFileSync(options.resume, `${JSON.stringify(row)}\n`)
    const seconds = Math.round((performance.now() - startedMs) / 1000)
    const done = names.filter((one) => rows.has(nameOf(one))).length
    process.stderr.write(`${done}/${names.length} ${seconds} s ${row.judged} cases ${rowText(row)}\n`)
  }
  const work = async (count: number) => {
    if (waiting.length === 0) return
    const lane = await openSafeLane()
    try {
      for (; count > 0 && waiting.length > 0; count -= 1) await judgeRow(lane, waiting.shift())
    } finally {
      await lane.stop()
    }
  }
  // The first row says which cases the others need.
  if (waiting[0] === undefined) await work(1)
  await Promise.all(Array.from({ length: options.lanes }, () => work(waiting.length)))
  const missing = unmatched()
  const judged = names.flatMap((hole) => rows.get(nameOf(hole)) ?? [])
  const left = names.length - judged.length
  process.stdout.write(
    `${[matrixText(judged), ...missing, ...(left ? [`${left} rows not judged yet`] : [])].join('\n')}\n`,
  )
  return left === 0 && missing.length === 0 && judged.every(({ problems }) => problems.length === 0) ? 0 : 1
}
