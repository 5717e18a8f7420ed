import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { canonicalJson, type Json } from '@assay/protocol/canonical-json'
import { isRecord, parseJson } from '@assay/protocol/json-object'
import { leafHash } from '../tree-hash.ts'
import type { Leaf } from './log-copy.ts'

/** What a buyer's file holds of the log: one leaf, its place, and the head that proves it. */
export type EvidenceLeaf = Leaf & { index: number; checkpoint: string }

/** From a file, or from every .json file of a folder. Files that are something else are passed over. */
export async function readEvidence(place: string): Promise<EvidenceLeaf[]> {
  const files = (await stat(place)).isDirectory()
    ? (await readdir(place)).filter((name) => name.endsWith('.json')).map((name) => join(place, name))
    : [place]
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')))
  return texts.flatMap((text) => leafIn(parseJson(text)) ?? [])
}

/** A record with its place in the log, or a saved answer whose body is one. */
export function leafIn(file: unknown): EvidenceLeaf | undefined {
  if (!isRecord(file)) return undefined
  const { record, log, response } = file
  if (isRecord(response) && typeof response['body_base64'] === 'string')
    return leafIn(parseJson(Buffer.from(response['body_base64'], 'base64').toString('utf8')))
  if (!isRecord(record) || !isRecord(log) || typeof log['checkpoint'] !== 'string') return undefined
  const index = Number(log['leaf_index'])
  if (!Number.isSafeInteger(index) || index < 0) return undefined
  const entry = Buffer.from(canonicalJson(record as Json))
  return { entry, hash: leafHash(entry), index, checkpoint: log['checkpoint'] }
}
