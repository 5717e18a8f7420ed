import {
  type HoleVerdict,
  holes,
  judgeHole,
  matrixText,
  openLane,
  unmatched,
} from '../packages/conformance/src/careless/index.ts'

/** Judges the careless seller with each mistake in turn by every case, and prints which cases failed. */
export async function runSelfTest(options: { lanes: number; only?: readonly string[] | undefined }): Promise<0 | 1> {
  const rows = [undefined, ...Object.keys(holes)].filter((hole) => options.only?.includes(hole ?? 'none') ?? true)
  const verdicts = new Map<string | undefined, HoleVerdict>()
  const waiting = [...rows]
  const work = async () => {
    const lane = await openLane()
    try {
      while (waiting.length > 0) {
        const hole = waiting.shift()
        const verdict = await judgeHole(lane, hole)
        verdicts.set(hole, verdict)
        process.stderr.write(
          `${verdicts.size}/${rows.length} ${matrixText([verdict]).split('\n').slice(0, -1).join('\n')}\n`,
        )
      }
    } finally {
      await lane.stop()
    }
  }
  await Promise.all(Array.from({ length: Math.min(options.lanes, rows.length) }, work))
  const missing = unmatched()
  const ordered = rows.flatMap((hole) => verdicts.get(hole) ?? [])
  process.stdout.write(`${[matrixText(ordered), ...missing].join('\n')}\n`)
  return missing.length === 0 && ordered.every(({ problems }) => problems.length === 0) ? 0 : 1
}
