import type { Manifest, Snapshot } from './snapshot.ts'

/** Where the rows of a snapshot are, as bytes: with it and the text a snapshot is whole again without being made. */
export function packLayout({ starts, liveEnds, values }: Snapshot): Buffer {
  const view = (array: Uint32Array | Float64Array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength)
  const count = Buffer.alloc(8)
  count.writeUInt32LE(values.length)
  return Buffer.concat([count, view(values), view(starts), view(liveEnds)])
}

/** Undefined when the layout does not fit the text: it is then made again. */
export function unpackSnapshot(sha256: string, bytes: Buffer, layout: Buffer): Snapshot | undefined {
  const count = layout.length < 8 ? -1 : layout.readUInt32LE(0)
  if (layout.length !== 8 + count * 8 + (count + 1) * 4 + count * 4) return undefined
  // Copied, because a view on numbers must begin at a multiple of their size.
  const all = new Uint8Array(layout).buffer
  const values = new Float64Array(all, 8, count)
  const starts = new Uint32Array(all, 8 + count * 8, count + 1)
  const liveEnds = new Uint32Array(all, 8 + count * 8 + (count + 1) * 4, count)
  if ((starts[count] as number) > bytes.length) return undefined
  const manifest = JSON.parse(bytes.toString('utf8', 0, bytes.indexOf(10))) as Manifest
  return withLookups({ manifest, sha256, bytes, starts, liveEnds, values })
}

type Bare = Omit<Snapshot, 'rowsOf' | 'excludedReason'>

/** Who asks for a symbol needs to know where it is; most pulls do not, so that is found out when first asked. */
function withLookups(bare: Bare): Snapshot {
  let rows: Map<string, number[]> | undefined
  let reasons: Map<string, string> | undefined
  return {
    ...bare,
    get rowsOf() {
      rows ??= findRows(bare)
      return rows
    },
    get excludedReason() {
      reasons ??= findExcluded(bare)
      return reasons
    },
  }
}

const symbolIn = /^\{"rank":\d+,"symbol":"([^"]+)"/
/** Longer than any rank and symbol. */
const prefixBytes = 80

function findRows({ bytes, starts, values }: Bare): Map<string, number[]> {
  const rowsOf = new Map<string, number[]>()
  for (let row = 0; row < values.length; row += 1) {
    const start = starts[row] as number
    const symbol = symbolIn.exec(bytes.toString('latin1', start, start + prefixBytes))?.[1]
    if (symbol === undefined) continue
    const known = rowsOf.get(symbol)
    if (known) known.push(row)
    else rowsOf.set(symbol, [row])
  }
  return rowsOf
}

function findExcluded({ bytes, starts, values }: Bare): Map<string, string> {
  const text = bytes.toString('utf8', starts[values.length])
  const reasons = new Map<string, string>()
  for (const [, symbol = '', reason = ''] of text.matchAll(/^\{"symbol":"([^"]+)","excluded":"([^"]+)"\}$/gm))
    reasons.set(symbol, reason)
  return reasons
}
