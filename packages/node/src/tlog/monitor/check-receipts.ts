import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { hashBytes, tileWidth } from '../tiles.ts'
import { commitmentsIn } from './receipts.ts'
import type { Finding, KeptTiles, LogState } from './types.ts'

const filesMax = 10_000
const fileBytesMax = 4_194_304

export type ReceiptCheck = { receipts: LogState['receipts']; findings: Finding[] }
type Sought = { file: string; leafHash: string; savedAtMs: number }

/**
 * Looks for the leaf of every receipt in the folder among the verified leaves. While some leaves are not verified yet,
 * and shortly after a receipt was saved, an absent leaf says nothing.
 */
export async function checkReceipts(
  folder: string,
  log: { origin: string; audited: number; complete: boolean; kept: Pick<KeptTiles, 'readTile'> },
  graceMs: number,
  nowMs: number,
): Promise<ReceiptCheck> {
  const sought = await readReceipts(folder, log.origin)
  const open = new Set(sought.map(({ leafHash }) => leafHash))
  for (let tile = 0; tile * tileWidth < log.audited && open.size > 0; tile += 1) {
    const hashes = (await log.kept.readTile({ level: 0, tile })) ?? Buffer.alloc(0)
    for (let at = 0; at < hashes.length; at += hashBytes) open.delete(hashes.toString('hex', at, at + hashBytes))
  }
  const missing = log.complete
    ? sought.filter(({ leafHash, savedAtMs }) => open.has(leafHash) && nowMs - savedAtMs > graceMs)
    : []
  return {
    receipts: {
      checked: sought.length - sought.filter(({ leafHash }) => open.has(leafHash)).length,
      missing: missing.slice(0, 100).map(({ file, leafHash }) => ({ file, leaf_hash: leafHash })),
    },
    findings:
      missing.length === 0
        ? []
        : [
            {
              kind: 'missing_leaf',
              severity: 'alarm',
              detail: `${missing.length} receipts promise a leaf that the log does not have, such as ${missing[0]?.file}`,
            },
          ],
  }
}

async function readReceipts(folder: string, origin: string): Promise<Sought[]> {
  const names = (await readdir(folder)).sort().slice(0, filesMax)
  const sought: Sought[] = []
  for (const file of names) {
    const path = join(folder, file)
    const { size, mtimeMs } = await stat(path).catch(() => ({ size: Number.POSITIVE_INFINITY, mtimeMs: 0 }))
    if (size > fileBytesMax) continue
    const text = await readFile(path, 'utf8').catch(() => '')
    for (const { origin: named, leafHash } of commitmentsIn(text))
      if (named === origin) sought.push({ file, leafHash, savedAtMs: mtimeMs })
  }
  return sought
}
