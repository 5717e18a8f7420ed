import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Clock } from '@assay/till/kernel/clock'
import type { PlainDocument } from './read-page.ts'

/** Text and metadata of a PDF, or why there is none, in words. */
export type ReadPdf = (bytes: Uint8Array) => Promise<PlainDocument | { problem: string }>

export type PdfLimits = { ms: number; memoryMb: number; answerBytesMax: number }

const defaultLimits: PdfLimits = { ms: 15_000, memoryMb: 256, answerBytesMax: 2 * 1024 * 1024 }

const program = fileURLToPath(new URL('./read-pdf-process.mjs', import.meta.url))

/** Each document is read by its own process, one at a time, which is killed when it takes too long or answers too much. */
export function createPdfReader(clock: Clock, limits: Partial<PdfLimits> = {}): ReadPdf {
  const within = { ...defaultLimits, ...limits }
  let turn: Promise<unknown> = Promise.resolve()
  return (bytes) => {
    const result = turn.then(() => readInProcess(clock, within, bytes))
    turn = result.catch(() => {})
    return result
  }
}

function readInProcess(
  clock: Clock,
  limits: PdfLimits,
  bytes: Uint8Array,
): Promise<PlainDocument | { problem: string }> {
  return new Promise((resolve) => {
    // Nothing of the environment goes along: the document may be hostile.
    const child = spawn(process.execPath, [`--max-old-space-size=${limits.memoryMb}`, program], {
      env: {},
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    const over = new AbortController()
    const pieces: Buffer[] = []
    let size = 0
    let reason = 'the PDF cannot be read'
    const kill = (why: string) => {
      reason = why
      child.kill('SIGKILL')
    }
    clock.sleep(limits.ms, over.signal).then(
      () => kill(`the PDF took longer than ${limits.ms / 1_000} s to read`),
      () => {},
    )
    child.stdout.on('data', (piece: Buffer) => {
      size += piece.length
      if (size > limits.answerBytesMax) kill('the PDF has too much text')
      else pieces.push(piece)
    })
    child.on('error', () => kill('no process could be started to read the PDF'))
    child.on('close', (code) => {
      over.abort(new Error('the process ended'))
      resolve(code === 0 ? documentOf(Buffer.concat(pieces).toString('utf8')) : { problem: reason })
    })
    // A process that is gone does not take its input.
    child.stdin.on('error', () => {})
    child.stdin.end(bytes)
  })
}

function documentOf(answer: string): PlainDocument | { problem: string } {
  let found: Record<'text' | 'title' | 'author' | 'created' | 'modified', string>
  try {
    found = JSON.parse(answer)
  } catch {
    return { problem: 'the PDF cannot be read' }
  }
  if (found.text.trim() === '') return { problem: 'the PDF has no text: its pages are pictures' }
  return {
    type: 'pdf',
    text: found.text,
    title: found.title,
    authors: found.author.split(/\s*[;]\s*|\s+and\s+/),
    publishedAt: pdfDate(found.created),
    modifiedAt: pdfDate(found.modified),
  }
}

/** `D:20260131120000+01'00'`, of which only the year is sure to be there. */
function pdfDate(text: string): string | undefined {
  const [, year, month = '01', day = '01'] = /^(?:D:)?(\d{4})(\d{2})?(\d{2})?/.exec(text) ?? []
  const ms = year === undefined ? Number.NaN : Date.parse(`${year}-${month}-${day}T00:00:00Z`)
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString()
}
