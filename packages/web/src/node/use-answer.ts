import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { asProblem, type ProblemError } from './problem.ts'

export type Loading<T> =
  | { state: 'idle' }
  | { state: 'waiting' }
  | { state: 'done'; value: T }
  | { state: 'failed'; problem: ProblemError }

/** Runs when `key` changes; an answer that comes after a newer question is dropped. Null asks nothing. */
export function useAnswer<T>(
  key: string | null,
  question: (signal: AbortSignal) => Promise<T>,
): [Loading<T>, () => void] {
  const [loading, setLoading] = useState<Loading<T>>({ state: key === null ? 'idle' : 'waiting' })
  const [round, setRound] = useState(0)
  const latest = useRef(question)
  latest.current = question
  const shownKey = useRef<string | null>(null)
  // A new round asks again.
  useEffect(() => {
    if (key === null) {
      shownKey.current = null
      return setLoading({ state: 'idle' })
    }
    const controller = new AbortController()
    // Asked again, the answer of before stays until the new one is there; that of another question never does.
    const again = shownKey.current === key
    shownKey.current = key
    setLoading((before) => (before.state === 'done' && again ? before : { state: 'waiting' }))
    latest.current(controller.signal).then(
      (value) => controller.signal.aborted || setLoading({ state: 'done', value }),
      (error: unknown) => controller.signal.aborted || setLoading({ state: 'failed', problem: asProblem(error) }),
    )
    return () => controller.abort()
  }, [key, round])
  return [loading, useCallback(() => setRound((count) => count + 1), [])]
}
