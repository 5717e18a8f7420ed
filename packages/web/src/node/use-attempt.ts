import { useState } from 'preact/hooks'
import { asProblem, type ProblemError } from './problem.ts'

/** Something that a button starts: whether it still runs, and why it failed. */
export function useAttempt() {
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<ProblemError>()
  const attempt = async (work: () => Promise<unknown>) => {
    setBusy(true)
    setProblem(undefined)
    await work().catch((error: unknown) => setProblem(asProblem(error)))
    setBusy(false)
  }
  return { busy, problem, attempt }
}
