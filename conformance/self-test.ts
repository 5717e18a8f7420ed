import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import {
  casesTouched,
  checkCorrect,
  checkMistake,
  type MistakeResult,
  matrixText,
  mistakes,
  openSetup,
  rowText,
  type SelfTestSetup,
  type Touched,
  unmatched,
} from '../packages/conformance/src/faulty-seller/index.ts'
import { openTestDatabase } from '../packages/till/src/store/testing.ts'

/** The server of its database ends with this process, however that ends. */
async function openSafeSetup(): Promise<SelfTestSetup> {
  const { databaseUrl, close } = await openTestDatabase({ poolSize: 1 })
  const setup = await openSetup({ databaseUrl })
  return { ...setup, stop: () => setup.stop().finally(close) }
}

export type SelfTestOptions = {
  parallel: number
  only?: readonly string[] | undefined
  /** A file with a line of JSON for each row that was checked: those without a problem are not checked again. */
  resume?: string | undefined
  /** At most so many rows in this run. */
  rows?: number | undefined
}

type Row = MistakeResult & { touched?: Touched }

const none = 'none'
const nameOf = (mistake: string | undefined) => mistake ?? none

/** Rows without a problem of earlier runs, by name. */
function readRecord(file: string | undefined): Map<string, Row> {
  if (file === undefined || !existsSync(file)) return new Map()
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  const rows = lines.map((line) => JSON.parse(line) as Row)
  return new Map(rows.filter(({ problems }) => problems.length === 0).map((one) => [nameOf(one.mistake), one]))
}

/**
 * Checks the faulty seller without a mistake by every case, then with each mistake by the cases that it can change, and
 * prints which cases failed.
 */
export async function runSelfTest(options: SelfTestOptions): Promise<0 | 1> {
  const names = [undefined, ...Object.keys(mistakes)].filter(
    (mistake) => options.only?.includes(nameOf(mistake)) ?? true,
  )
  const rows = readRecord(options.resume)
  const waiting = names.filter((mistake) => !rows.has(nameOf(mistake))).slice(0, options.rows)
  const checkRow = async (setup: SelfTestSetup, mistake: string | undefined) => {
    const startedMs = performance.now()
    // It starts without what it knows of its facilitator.
    await setup.seller.restart()
    const touched = rows.get(none)?.touched
    const row: Row =
      mistake === undefined
        ? await checkCorrect(setup)
        : await checkMistake(setup, mistake, touched && casesTouched(touched, mistake))
    rows.set(nameOf(mistake), row)
    if (options.resume) appendFileSync(options.resume, `${JSON.stringify(row)}\n`)
    const seconds = Math.round((performance.now() - startedMs) / 1000)
    const done = names.filter((one) => rows.has(nameOf(one))).length
    process.stderr.write(`${done}/${names.length} ${seconds} s ${row.checked} cases ${rowText(row)}\n`)
  }
  const work = async (count: number) => {
    if (waiting.length === 0) return
    const setup = await openSafeSetup()
    try {
      for (; count > 0 && waiting.length > 0; count -= 1) await checkRow(setup, waiting.shift())
    } finally {
      await setup.stop()
    }
  }
  // The first row says which cases the others need.
  if (waiting[0] === undefined) await work(1)
  await Promise.all(Array.from({ length: options.parallel }, () => work(waiting.length)))
  const missing = unmatched()
  const checked = names.flatMap((mistake) => rows.get(nameOf(mistake)) ?? [])
  const left = names.length - checked.length
  process.stdout.write(
    `${[matrixText(checked), ...missing, ...(left ? [`${left} rows not checked yet`] : [])].join('\n')}\n`,
  )
  return left === 0 && missing.length === 0 && checked.every(({ problems }) => problems.length === 0) ? 0 : 1
}
