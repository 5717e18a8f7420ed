import type { ReadPdf } from './pdf-process-adapter.ts'
import { type PageProblem, type ReadPage, readPage, readPlain } from './read-page.ts'

const isPdf = (bytes: Uint8Array, contentType: string) =>
  /^\s*application\/pdf\b/i.test(contentType) || Buffer.from(bytes.subarray(0, 5)).toString('latin1') === '%PDF-'

/** Whatever an address serves: HTML, text or PDF. */
export async function readDocument(
  readPdf: ReadPdf | undefined,
  answer: { bytes: Uint8Array; headers: ReadonlyMap<string, string> },
  url: string,
  alias?: string,
): Promise<ReadPage | PageProblem> {
  const { bytes, headers } = answer
  if (!isPdf(bytes, headers.get('content-type') ?? '')) return readPage(bytes, url, headers, alias)
  const found = readPdf ? await readPdf(bytes) : { problem: 'PDF is not read here' }
  return 'problem' in found ? { problem: 'not_text', detail: found.problem } : readPlain(found, bytes, url, headers)
}
