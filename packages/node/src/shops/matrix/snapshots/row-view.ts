import type { Snapshot } from './snapshot.ts'

/** All rows of a snapshot as one tier shows them, a line each: a page of it is one piece of memory. */
export type RowView = { bytes: Buffer; starts: Uint32Array }

const liveViews = new WeakMap<Snapshot, RowView>()

/** Vip shows the rows as they stand in the snapshot; the shorter ones of the other tiers are cut out once. */
export function rowView(snapshot: Snapshot, vip: boolean): RowView {
  if (vip) return snapshot
  const known = liveViews.get(snapshot)
  if (known) return known
  const { bytes, starts, liveEnds } = snapshot
  const count = liveEnds.length
  const lineStarts = new Uint32Array(count + 1)
  for (let row = 0; row < count; row += 1)
    lineStarts[row + 1] = (lineStarts[row] as number) + (liveEnds[row] as number) - (starts[row] as number) + 2
  const cut = Buffer.allocUnsafe(lineStarts[count] as number)
  for (let row = 0; row < count; row += 1) {
    bytes.copy(cut, lineStarts[row], starts[row], liveEnds[row])
    cut.write('}\n', (lineStarts[row + 1] as number) - 2, 'latin1')
  }
  const view = { bytes: cut, starts: lineStarts }
  liveViews.set(snapshot, view)
  return view
}

const newline = 10

/**
 * `head`, the rows, `tail` in one buffer that is made once at its full size: a pull of everything holds its body a single
 * time. Rows that follow each other are copied in one go.
 */
export function assembleRows(
  view: RowView,
  rows: readonly number[],
  { head, tail, separator }: { head: string; tail: string; separator: number },
): Buffer {
  let size = 0
  for (const row of rows) size += (view.starts[row + 1] as number) - (view.starts[row] as number)
  const headBytes = Buffer.byteLength(head)
  // The last row brings no separator.
  const rowBytes = Math.max(0, size - 1)
  const body = Buffer.allocUnsafe(headBytes + rowBytes + Buffer.byteLength(tail))
  body.write(head, 0)
  let at = headBytes
  for (let i = 0; i < rows.length; ) {
    let next = i + 1
    while (next < rows.length && rows[next] === (rows[next - 1] as number) + 1) next += 1
    const [first, last] = [rows[i] as number, rows[next - 1] as number]
    const end = (view.starts[last + 1] as number) - (next === rows.length ? 1 : 0)
    view.bytes.copy(body, at, view.starts[first], end)
    if (separator !== newline)
      for (let row = first; row < last || (row === last && next < rows.length); row += 1)
        body[at + (view.starts[row + 1] as number) - (view.starts[first] as number) - 1] = separator
    at += end - (view.starts[first] as number)
    i = next
  }
  body.write(tail, at)
  return body
}
