/**
 * Names that look like a variable of the node which is not set: a letter too many, too few or wrong. Others are somebody
 * else's, and names without an underscore are too common to check.
 */
export function unknownVariables(given: Readonly<Record<string, unknown>>, known: ReadonlySet<string>): string[] {
  return Object.keys(given).flatMap((name) => {
    if (known.has(name) || !name.includes('_')) return []
    const near = [...known].find((other) => !(other in given) && distance(name, other) <= (other.length < 8 ? 1 : 2))
    return near === undefined ? [] : [`${name}: is not a variable of this node; did you mean ${near}?`]
  })
}

/** Letters to add, take away or change (Levenshtein), at most 3. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return 3
  // In place: a large environment has thousands of pairs, and every start compares them.
  const row = Array.from({ length: b.length + 1 }, (_, place) => place)
  for (let i = 0; i < a.length; i += 1) {
    let diagonal = i
    row[0] = i + 1
    for (let place = 1; place <= b.length; place += 1) {
      const above = row[place] as number
      const changed = diagonal + (a[i] === b[place - 1] ? 0 : 1)
      row[place] = Math.min(above + 1, (row[place - 1] as number) + 1, changed)
      diagonal = above
    }
  }
  return row.at(-1) as number
}
