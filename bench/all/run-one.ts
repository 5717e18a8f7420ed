import { spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { registryEnv } from '../process/registry-env.ts'
import { type FigureRow, figuresVariable } from '../report-figures.ts'
import type { Bench } from './benches.ts'

const root = join(import.meta.dirname, '..', '..')
/** What each bench said is kept here until its next run; no part of the repository. */
export const resultsFolder = join(root, 'bench', '.results')

export type Ran = { rows: FigureRow[]; exitCode: number | null; seconds: number; late: boolean; log: string }

const graceMs = 60_000

/** One bench in its own process group: whatever it started ends with it. */
export async function runOne(bench: Bench, quick: boolean): Promise<Ran> {
  await mkdir(resultsFolder, { recursive: true })
  const base = join(resultsFolder, bench.name.replaceAll(' ', '-'))
  const [figures, log] = [`${base}.jsonl`, `${base}.log`]
  await rm(figures, { force: true })
  const startedMs = performance.now()
  const child = spawn(process.execPath, [...bench.args, ...(quick ? (bench.quick ?? []) : [])], {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    // A clean environment: settings of the party that runs this are no part of a bench.
    env: {
      ...registryEnv(),
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      CHROMIUM: process.env['CHROMIUM'],
      [figuresVariable]: figures,
    },
  })
  const out = createWriteStream(log)
  child.stdout.pipe(out, { end: false })
  child.stderr.pipe(out, { end: false })
  let late = false
  const limit = setTimeout(() => {
    late = true
    // Its children notice that it has gone and stop their databases in order; what is left after that is not asked.
    child.kill('SIGTERM')
    setTimeout(() => end(child.pid), graceMs).unref()
  }, bench.minutesMax * 60_000)
  const exitCode = await new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
  clearTimeout(limit)
  end(child.pid)
  out.end()
  const text = await readFile(figures, 'utf8').catch(() => '')
  const rows = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as FigureRow)
  return { rows, exitCode, seconds: Math.round((performance.now() - startedMs) / 1000), late, log }
}

function end(group: number | undefined): void {
  if (group === undefined) return
  try {
    process.kill(-group, 'SIGKILL')
  } catch {
    // All of them have ended.
  }
}
