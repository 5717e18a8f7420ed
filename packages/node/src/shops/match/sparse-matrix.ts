/** Rows of few entries: those of row `n` are between `starts[n]` and `starts[n + 1]`. */
export type SparseMatrix = { starts: Uint32Array; columns: Uint32Array; weights: Float32Array }

/** Times a dense matrix of `dims` columns. Pauses after every `rowsAtOnce` rows. */
export function* timesMatrix(
  { starts, columns, weights }: SparseMatrix,
  dense: Float32Array,
  dims: number,
  rowsAtOnce: number,
): Generator<undefined, Float32Array> {
  const result = new Float32Array((starts.length - 1) * dims)
  for (let row = 0; row + 1 < starts.length; row += 1) {
    const to = row * dims
    for (let at = starts[row] as number; at < (starts[row + 1] as number); at += 1)
      addScaled(result, to, dense, (columns[at] as number) * dims, weights[at] as number, dims)
    if (row % rowsAtOnce === rowsAtOnce - 1) yield
  }
  return result
}

/** The transposed matrix times a dense one. */
export function* timesTransposed(
  { starts, columns, weights }: SparseMatrix,
  dense: Float32Array,
  columnCount: number,
  dims: number,
  rowsAtOnce: number,
): Generator<undefined, Float32Array> {
  const result = new Float32Array(columnCount * dims)
  for (let row = 0; row + 1 < starts.length; row += 1) {
    const from = row * dims
    for (let at = starts[row] as number; at < (starts[row + 1] as number); at += 1)
      addScaled(result, (columns[at] as number) * dims, dense, from, weights[at] as number, dims)
    if (row % rowsAtOnce === rowsAtOnce - 1) yield
  }
  return result
}

function addScaled(to: Float32Array, at: number, from: Float32Array, start: number, scale: number, dims: number): void {
  for (let dim = 0; dim < dims; dim += 1)
    to[at + dim] = (to[at + dim] as number) + scale * (from[start + dim] as number)
}

/** Gram-Schmidt on the columns, each twice: once is not exact enough when columns are nearly alike. */
export function* orthonormalize(matrix: Float32Array, dims: number): Generator<undefined, void> {
  const rows = matrix.length / dims
  const columns = Array.from({ length: dims }, (_, dim) =>
    Float64Array.from({ length: rows }, (_, row) => matrix[row * dims + dim] as number),
  )
  for (const [dim, column] of columns.entries()) {
    for (let pass = 0; pass < 2; pass += 1)
      for (const other of columns.slice(0, dim)) subtract(column, other, dot(column, other))
    const length = Math.sqrt(dot(column, column)) || 1
    for (let row = 0; row < rows; row += 1) {
      column[row] = (column[row] as number) / length
      matrix[row * dims + dim] = column[row] as number
    }
    yield
  }
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0
  for (let row = 0; row < a.length; row += 1) sum += (a[row] as number) * (b[row] as number)
  return sum
}

function subtract(from: Float64Array, other: Float64Array, scale: number): void {
  for (let row = 0; row < from.length; row += 1) from[row] = (from[row] as number) - scale * (other[row] as number)
}
