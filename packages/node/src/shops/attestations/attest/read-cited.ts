import { type PageProblem, readPage } from '../../sources/page/index.ts'

/** What a citation needs of a page. */
export type CitedPage = {
  title: string
  text: string
  contentSha256: Uint8Array
  textSha256: Uint8Array
  licence: string | null
  canonical: string | null
  /** Without its scripts it has no text. */
  needsScript: boolean
}

export type PageTask =
  | { kind: 'read'; bytes: Uint8Array; url: string; headers: ReadonlyMap<string, string> }
  | { kind: 'find'; text: string; quote: string }

export function readCited(
  bytes: Uint8Array,
  url: string,
  headers: ReadonlyMap<string, string>,
): CitedPage | PageProblem {
  const read = readPage(bytes, url, headers)
  if ('problem' in read) return read
  return {
    title: read.facts.title,
    text: read.text,
    contentSha256: read.contentSha256,
    textSha256: read.textSha256,
    licence: read.facts.licences[0]?.url ?? null,
    canonical: read.facts.canonical ?? null,
    needsScript: read.facts.needsScript,
  }
}
