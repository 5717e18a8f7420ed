import { useEffect, useRef } from 'preact/hooks'

/** Does something again and again while somebody looks. */
export function useEvery(ms: number, work: () => void): void {
  const latest = useRef(work)
  latest.current = work
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && latest.current(), ms)
    return () => clearInterval(timer)
  }, [ms])
}
