// The thread in which market data files are read: a large one would hold up every caller for a tenth of a second.
import { parentPort } from 'node:worker_threads'
import { type DemoSize, type PlannedFile, planDemo } from '../demo/plan.ts'
import { type FileRead, type FileToRead, readMarketFile } from './read-file.ts'

export type ReaderQuestion = { id: number; nowMs: number } & (
  | { file: FileToRead }
  /** The n-th file of the demo as planned at `nowMs`. */
  | { demo: { size: DemoSize; index: number } }
)
export type ReaderAnswer = { id: number } & ({ read: FileRead; availableAtMs?: number } | { error: string })

let planned: { key: string; plan: readonly PlannedFile[] } | undefined

function demoFile(nowMs: number, size: DemoSize, index: number): FileToRead & { availableAtMs?: number } {
  const key = JSON.stringify([nowMs, size])
  if (planned?.key !== key) planned = { key, plan: planDemo(nowMs, size) }
  const file = planned.plan[index]
  if (!file) throw new Error(`the demo has no file ${index}`)
  return { ...file.make(), source: file.source }
}

function answer(question: ReaderQuestion): ReaderAnswer {
  const { id, nowMs } = question
  try {
    if ('file' in question) return { id, read: readMarketFile(question.file, nowMs) }
    const { availableAtMs, ...file } = demoFile(nowMs, question.demo.size, question.demo.index)
    return { id, read: readMarketFile(file, nowMs), ...(availableAtMs === undefined ? {} : { availableAtMs }) }
  } catch (error) {
    return { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

parentPort?.on('message', (question: ReaderQuestion) => {
  const given = answer(question)
  // Columns are handed over instead of copied.
  const rows = 'read' in given && given.read.status === 'read' ? given.read.parsed.rows : undefined
  const columns = rows ? [rows.days, ...Object.values(rows.numbers)] : []
  parentPort?.postMessage(given, [...new Set(columns.map((column) => column.buffer as ArrayBuffer))])
})
