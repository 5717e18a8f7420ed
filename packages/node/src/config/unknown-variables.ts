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
  let row = Array.from({ length: b.length + 1 }, (_, place) => place)
  for (const [i, letter] of [...a].entries())
    row = row.reduce<number[]>((next, above, place) => {
      if (place === 0) return [i + 1]
      const left = next[place - 1] ?? 0
      const diagonal = row[place - 1] ?? 0
      next.push(Math.min(above + 1, left + 1, diagonal + (b[place - 1] === letter ? 0 : 1)))
      return next
    }, [])
  return row.at(-1) ?? 3
}
