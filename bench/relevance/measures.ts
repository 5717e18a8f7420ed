/** Discounted gain of a ranking beside that of the best one there could be, over the first `k`. */
export function ndcgAt(k: number, ranking: readonly string[], grades: ReadonlyMap<string, number>): number {
  const gain = (grade: number, place: number) => (2 ** grade - 1) / Math.log2(place + 2)
  const got = ranking.slice(0, k).reduce((sum, id, place) => sum + gain(grades.get(id) ?? 0, place), 0)
  const ideal = [...grades.values()]
    .sort((a, b) => b - a)
    .slice(0, k)
    .reduce((sum, grade, place) => sum + gain(grade, place), 0)
  return ideal === 0 ? 0 : got / ideal
}

export function averagePrecision(ranking: readonly string[], grades: ReadonlyMap<string, number>): number {
  const relevant = [...grades.values()].filter((grade) => grade > 0).length
  let found = 0
  let sum = 0
  ranking.forEach((id, place) => {
    if ((grades.get(id) ?? 0) <= 0) return
    found += 1
    sum += found / (place + 1)
  })
  return relevant === 0 ? 0 : sum / relevant
}

export function recallAt(k: number, ranking: readonly string[], grades: ReadonlyMap<string, number>): number {
  const relevant = [...grades.values()].filter((grade) => grade > 0).length
  const found = ranking.slice(0, k).filter((id) => (grades.get(id) ?? 0) > 0).length
  return relevant === 0 ? 0 : found / relevant
}

export const mean = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
